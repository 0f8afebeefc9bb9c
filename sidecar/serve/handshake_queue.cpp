#include "sidecar/serve/handshake_queue.h"

#include "sidecar/base/require.h"

namespace next_id {

HandshakeQueue::HandshakeQueue(uv_loop_t* loop) {
    turn_ = make_handle<uv_idle_t>(this, [loop](uv_idle_t* handle) { return uv_idle_init(loop, handle); });
    require(turn_ != nullptr);
}

void HandshakeQueue::add(Waiter& waiter) {
    waiting_.push_back(&waiter);
    uv_idle_start(turn_.get(), [](uv_idle_t* handle) {
        if (auto* const self = static_cast<HandshakeQueue*>(handle->data)) self->on_turn();
    });
}

void HandshakeQueue::remove(Waiter& waiter) {
    std::erase(waiting_, &waiter);
}

void HandshakeQueue::on_turn() {
    if (waiting_.empty()) {
        uv_idle_stop(turn_.get());
        return;
    }
    Waiter& next = *waiting_.front();
    waiting_.pop_front();
    next.on_turn();
}

}  // namespace next_id
