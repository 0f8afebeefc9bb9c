#include "sidecar/serve/connection_set.h"

#include <utility>

#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr std::uint64_t sweep_interval_ms = 1000;

}  // namespace

ConnectionSet::ConnectionSet(uv_loop_t* loop, HttpHandler& http, RespHandler* resp)
    : loop_{loop}, http_{http}, resp_{resp}, handshakes_{loop}, outbox_{loop} {
    turn_ = make_handle<uv_prepare_t>(this, [loop](uv_prepare_t* handle) { return uv_prepare_init(loop, handle); });
    sweep_ = make_handle<uv_timer_t>(this, [loop](uv_timer_t* handle) { return uv_timer_init(loop, handle); });
    require(turn_ && sweep_);
    uv_prepare_start(turn_.get(), [](uv_prepare_t* handle) {
        if (auto* const self = static_cast<ConnectionSet*>(handle->data)) self->bury();
    });
    const auto on_sweep = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<ConnectionSet*>(handle->data)) self->sweep();
    };
    uv_timer_start(sweep_.get(), on_sweep, sweep_interval_ms, sweep_interval_ms);
}

void ConnectionSet::adopt(Accepted accepted) {
    auto connection =
        std::make_unique<Connection>(http_, resp_, [this](Connection& finished) { on_finished(finished); });
    if (!connection->start(loop_, outbox_, handshakes_, std::move(accepted))) return;
    Connection* const key = connection.get();
    connections_.emplace(key, std::move(connection));
    if (draining_) key->drain();
}

void ConnectionSet::drain(std::function<void()> drained) {
    draining_ = true;
    drained_ = std::move(drained);
    std::vector<Connection*> open;
    for (const auto& [key, connection] : connections_) open.push_back(key);
    for (Connection* connection : open) connection->drain();
    tell_if_drained();
}

void ConnectionSet::tell_if_drained() {
    if (drained_ && connections_.empty()) std::exchange(drained_, nullptr)();
}

void ConnectionSet::on_finished(Connection& connection) {
    const auto found = connections_.find(&connection);
    require(found != connections_.end());
    finished_.push_back(std::move(found->second));
    connections_.erase(found);
    tell_if_drained();
}

void ConnectionSet::bury() {
    finished_.clear();
}

void ConnectionSet::sweep() {
    std::vector<Connection*> open;
    for (const auto& [key, connection] : connections_) open.push_back(key);
    for (Connection* connection : open) connection->sweep();
}

}  // namespace next_id
