#include "sidecar/refill/pg_lookup.h"

#include <netdb.h>

#include <algorithm>
#include <memory>

namespace next_id {
namespace {

constexpr std::size_t addresses_max = 16;  // of one name

std::vector<std::string> numeric(const addrinfo* found) {
    std::vector<std::string> addresses;
    for (; found != nullptr && addresses.size() < addresses_max; found = found->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        if (std::find(addresses.begin(), addresses.end(), text) == addresses.end()) addresses.emplace_back(text);
    }
    return addresses;
}

}  // namespace

struct PgLookup::Request {
    uv_getaddrinfo_t uv{};
    PgLookup* owner = nullptr;  // null once cancelled
    Done done;
};

int PgLookup::start(const std::string& name, Done done) {
    require(request_ == nullptr);
    auto request = std::make_unique<Request>();
    request->uv.data = request.get();
    request->owner = this;
    request->done = std::move(done);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    const int error = uv_getaddrinfo(loop_, &request->uv, &finish, name.c_str(), nullptr, &hints);
    if (error == 0) request_ = request.release();
    return error;
}

void PgLookup::cancel() {
    if (request_ == nullptr) return;
    request_->owner = nullptr;
    uv_cancel(reinterpret_cast<uv_req_t*>(&request_->uv));  // in vain when a thread of the pool has begun
    request_ = nullptr;
}

void PgLookup::finish(uv_getaddrinfo_t* raw, int status, addrinfo* found) noexcept {
    const std::unique_ptr<addrinfo, decltype(&uv_freeaddrinfo)> owned{found, &uv_freeaddrinfo};
    const std::unique_ptr<Request> request{static_cast<Request*>(raw->data)};
    if (request->owner == nullptr) return;
    request->owner->request_ = nullptr;

    if (status != 0) return request->done(Unexpected{std::string{uv_strerror(status)}});
    std::vector<std::string> addresses = numeric(found);
    if (addresses.empty()) return request->done(Unexpected{std::string{"the name has no address"}});
    request->done(std::move(addresses));
}

}  // namespace next_id
