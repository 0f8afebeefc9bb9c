// Waits for libpq's socket. The socket belongs to libpq, which closes and reopens it at will, mostly under the same
// number; so the watch is paused before every libpq call that may do so, and resumed with the socket that PQsocket()
// names afterwards.
#pragma once

#include <functional>

#include "sidecar/base/uv_handle.h"

namespace next_id {

class PgWatch {
 public:
    // `ready` is called on the loop's thread. An error of the socket is no news of its own: libpq finds and names it.
    PgWatch(uv_loop_t* loop, std::function<void()> ready) : loop_{loop}, ready_{std::move(ready)} {}

    void pause();
    // `events`: UV_READABLE, UV_WRITABLE or both. False when libuv refuses the socket.
    bool resume(int socket, int events);
    // REQUIRED before PQfinish(): libuv must not keep the number of a closed socket.
    void close() { handle_.reset(); }

 private:
    static void on_poll(uv_poll_t* handle, int status, int events) noexcept;

    uv_loop_t* loop_;
    std::function<void()> ready_;
    Handle<uv_poll_t> handle_;
    int socket_ = -1;
};

}  // namespace next_id
