#include "sidecar/refill/pg_watch.h"

namespace next_id {

void PgWatch::pause() {
    if (handle_ != nullptr) uv_poll_stop(handle_.get());
}

bool PgWatch::resume(int socket, int events) {
    if (handle_ == nullptr || socket != socket_) {
        handle_.reset();
        if (socket < 0) return false;
        handle_ = make_handle<uv_poll_t>(this, [&](uv_poll_t* raw) { return uv_poll_init(loop_, raw, socket); });
        if (handle_ == nullptr) return false;
        socket_ = socket;
    }
    return uv_poll_start(handle_.get(), events, &on_poll) == 0;
}

void PgWatch::on_poll(uv_poll_t* handle, int, int) noexcept {
    // After "connection refused" the status is UV_EBADF and libuv has stopped: libpq must be asked all the same.
    const auto* watch = static_cast<PgWatch*>(handle->data);
    if (watch == nullptr) return;
    const auto ready = watch->ready_;  // a copy: the call may destroy the watch
    ready();
}

}  // namespace next_id
