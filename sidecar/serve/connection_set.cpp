#include "sidecar/serve/connection_set.h"

#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr std::uint64_t sweep_interval_ms = 1000;

}  // namespace

ConnectionSet::ConnectionSet(uv_loop_t* loop, HttpHandler& handler) : loop_{loop}, handler_{handler} {
    turn_ = make_handle<uv_check_t>(this, [loop](uv_check_t* handle) { return uv_check_init(loop, handle); });
    sweep_ = make_handle<uv_timer_t>(this, [loop](uv_timer_t* handle) { return uv_timer_init(loop, handle); });
    require(turn_ && sweep_);
    uv_check_start(turn_.get(), [](uv_check_t* handle) {
        if (auto* const self = static_cast<ConnectionSet*>(handle->data)) self->bury();
    });
    const auto on_sweep = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<ConnectionSet*>(handle->data)) self->sweep();
    };
    uv_timer_start(sweep_.get(), on_sweep, sweep_interval_ms, sweep_interval_ms);
}

void ConnectionSet::adopt(int descriptor) {
    auto connection = std::make_unique<HttpConnection>(handler_, [this](HttpConnection& finished) { on_finished(finished); });
    if (!connection->start(loop_, descriptor)) return;
    HttpConnection* const key = connection.get();
    connections_.emplace(key, std::move(connection));
    if (drained_) key->drain();
}

void ConnectionSet::drain(std::function<void()> drained) {
    drained_ = std::move(drained);
    std::vector<HttpConnection*> open;
    for (const auto& [key, connection] : connections_) open.push_back(key);
    for (HttpConnection* connection : open) connection->drain();
    if (connections_.empty()) drained_();
}

void ConnectionSet::on_finished(HttpConnection& connection) {
    const auto found = connections_.find(&connection);
    require(found != connections_.end());
    finished_.push_back(std::move(found->second));
    connections_.erase(found);
    if (drained_ && connections_.empty()) drained_();
}

void ConnectionSet::bury() { finished_.clear(); }

void ConnectionSet::sweep() {
    std::vector<HttpConnection*> open;
    for (const auto& [key, connection] : connections_) open.push_back(key);
    for (HttpConnection* connection : open) connection->sweep();
}

}  // namespace next_id
