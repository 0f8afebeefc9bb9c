// Accepts connections from a listening socket on a loop, and hands each on: also to a loop of another
// thread. On its loop's thread.
#pragma once

#include <uv.h>

#include <functional>

#include "sidecar/base/repeated_failure.h"
#include "sidecar/base/uv_handle.h"
#include "sidecar/serve/accepted.h"

namespace next_id {

class Listener {
 public:
    using OnAccepted = std::function<void(Accepted)>;

    // `socket` listens and does not block.
    Listener(uv_loop_t* loop, FileDescriptor socket, Entrance entrance, OnAccepted on_accepted);

 private:
    void accept_all();
    void hand_on(Accepted accepted);
    void pause();
    void resume();

    const FileDescriptor socket_;
    const Entrance entrance_;
    const OnAccepted on_accepted_;
    RepeatedFailure failures_;
    Handle<uv_poll_t> watch_;
    Handle<uv_timer_t> pause_;
};

}  // namespace next_id
