// The connections of one loop, from the accepted descriptor to their deferred end. On the loop's thread.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sidecar/base/uv_handle.h"
#include "sidecar/serve/http_connection.h"

namespace next_id {

class ConnectionSet {
 public:
    // `handler` must outlive the set.
    ConnectionSet(uv_loop_t* loop, HttpHandler& handler);

    void adopt(Accepted accepted);

    // No connection stays open longer than what it has in flight. `drained` is called once, when the last is gone; at
    // once, if there is none. What is adopted later is closed.
    void drain(std::function<void()> drained);

    std::size_t size() const { return connections_.size(); }

 private:
    void on_finished(HttpConnection& connection);
    void tell_if_drained();
    void bury();
    void sweep();

    uv_loop_t* const loop_;
    HttpHandler& handler_;
    HandshakeQueue handshakes_;
    bool draining_ = false;
    std::function<void()> drained_;  // until it has been called
    std::unordered_map<HttpConnection*, std::unique_ptr<HttpConnection>> connections_;
    // Destroyed once a turn: their own calls may be under way until then. Before the loop waits, so that no client
    // waits for its end.
    std::vector<std::unique_ptr<HttpConnection>> finished_;
    Handle<uv_prepare_t> turn_;
    Handle<uv_timer_t> sweep_;
};

}  // namespace next_id
