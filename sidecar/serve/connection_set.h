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

    void adopt(int descriptor);

    // No connection stays open longer than what it has in flight. `drained` is called when the last is gone; at once, if there is none.
    void drain(std::function<void()> drained);

    std::size_t size() const { return connections_.size(); }

   private:
    void on_finished(HttpConnection& connection);
    void bury();
    void sweep();

    uv_loop_t* const loop_;
    HttpHandler& handler_;
    std::function<void()> drained_;
    std::unordered_map<HttpConnection*, std::unique_ptr<HttpConnection>> connections_;
    std::vector<std::unique_ptr<HttpConnection>> finished_;  // destroyed once a turn: their own calls may be under way until then
    Handle<uv_check_t> turn_;
    Handle<uv_timer_t> sweep_;
};

}  // namespace next_id
