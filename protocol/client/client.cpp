#include <next_id/client.h>

#include <utility>

#include "protocol/client/process.h"
#include "protocol/client/source.h"

namespace next_id {
inline namespace v1 {

Error::~Error() = default;

struct Client::Impl {
    explicit Impl(const Options& options) : settings{options} {}

    client::Source& here() { return source.get(settings); }
    client::Instant deadline() const { return std::chrono::steady_clock::now() + settings.timeout; }

    const client::Settings settings;
    client::PerProcess<client::Source> source;
};

Client::Client(Options options) : impl_{std::make_unique<Impl>(options)} {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

std::int64_t Client::next() {
    client::Source& here = impl_->here();
    if (IdRange id; here.take_mapped(1, id)) return id.first;
    return here.session.take(1, impl_->deadline()).front().first;
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
    if (n == 0 || n > count_max)
        throw Error{ErrorCode::invalid_argument,
                    "asked for " + std::to_string(n) + " IDs at once; ask for 1 to " + std::to_string(count_max)};
    return impl_->here().take(n, impl_->deadline());
}

}  // namespace v1
}  // namespace next_id
