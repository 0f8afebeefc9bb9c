// The connections of one loop, from the accepted descriptor to their deferred end. On the loop's thread.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sidecar/base/uv_handle.h"
#include "sidecar/serve/connection.h"

namespace next_id {

class ConnectionSet {
 public:
    // The handlers must outlive the set. Without one of RESP all entrances speak HTTP.
    explicit ConnectionSet(uv_loop_t* loop, HttpHandler& http, RespHandler* resp = nullptr);

    void adopt(Accepted accepted);

    // No connection stays open longer than what it has in flight. `drained` is called once, when the last is gone; at
    // once, if there is none. What is adopted later is closed.
    void drain(std::function<void()> drained);

    std::size_t size() const { return connections_.size(); }

 private:
    void on_finished(Connection& connection);
    void tell_if_drained();
    void bury();
    void sweep();

    uv_loop_t* const loop_;
    HttpHandler& http_;
    RespHandler* const resp_;
    HandshakeQueue handshakes_;
    Outbox outbox_;
    bool draining_ = false;
    std::function<void()> drained_;  // until it has been called
    std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
    // Destroyed once a turn: their own calls may be under way until then. Before the loop waits, so that no client
    // waits for its end.
    std::vector<std::unique_ptr<Connection>> finished_;
    Handle<uv_prepare_t> turn_;
    Handle<uv_timer_t> sweep_;
};

}  // namespace next_id
