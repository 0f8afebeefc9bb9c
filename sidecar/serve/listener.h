// Accepts connections from a listening socket on a loop, and hands each descriptor on: also to a loop of another
// thread. On its loop's thread.
#pragma once

#include <uv.h>

#include <functional>

#include "sidecar/base/file_descriptor.h"
#include "sidecar/base/repeated_failure.h"
#include "sidecar/base/uv_handle.h"

namespace next_id {

class Listener {
 public:
    // Owns the descriptor that it is given.
    using Accepted = std::function<void(int descriptor)>;

    // `socket` listens and does not block.
    Listener(uv_loop_t* loop, FileDescriptor socket, Accepted accepted);

 private:
    void accept_all();
    void pause();
    void resume();

    const FileDescriptor socket_;
    const Accepted accepted_;
    RepeatedFailure failures_;
    Handle<uv_poll_t> watch_;
    Handle<uv_timer_t> pause_;
};

}  // namespace next_id
