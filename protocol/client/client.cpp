#include <next_id/client.h>

#include <utility>

#include "protocol/client/process.h"
#include "protocol/client/session.h"

namespace next_id {
inline namespace v1 {

Error::~Error() = default;

struct Client::Impl {
    explicit Impl(const Options& options) : settings{options} {}

    std::vector<IdRange> take(std::size_t n) {
        if (n == 0 || n > count_max)
            throw Error{ErrorCode::invalid_argument,
                        "asked for " + std::to_string(n) + " IDs at once; ask for 1 to " + std::to_string(count_max)};
        return session.get(settings).take(n, std::chrono::steady_clock::now() + settings.timeout);
    }

    const client::Settings settings;
    client::PerProcess<client::Session> session;
};

Client::Client(Options options) : impl_{std::make_unique<Impl>(options)} {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

std::int64_t Client::next() {
    return impl_->take(1).front().first;
}

std::vector<std::int64_t> Client::next(std::size_t n) {
    std::vector<std::int64_t> ids;
    const std::vector<IdRange> ranges = next_ranges(n);
    ids.reserve(n);
    for (const IdRange& range : ranges) {
        auto id = std::uint64_t(range.first);  // unsigned: one step beyond the last may not be an int64
        for (std::uint64_t i = 0; i < range.count; ++i, id += std::uint64_t(range.step))
            ids.push_back(std::int64_t(id));
    }
    return ids;
}

std::vector<IdRange> Client::next_ranges(std::size_t n) {
    return impl_->take(n);
}

}  // namespace v1
}  // namespace next_id
