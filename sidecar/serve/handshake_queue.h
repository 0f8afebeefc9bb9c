// Whose turn it is to go on with a TLS handshake. A step of one takes as long as a hundred requests, so a turn of the
// loop has one step, first come, first served: whoever is connected already is answered between any two. One a loop, on
// its thread.
#pragma once

#include <uv.h>

#include <deque>

#include "sidecar/base/uv_handle.h"

namespace next_id {

class HandshakeQueue {
 public:
    class Waiter {
     public:
        virtual void on_turn() = 0;  // may destroy the waiter

     protected:
        ~Waiter() = default;
    };

    explicit HandshakeQueue(uv_loop_t* loop);

    // Once in the queue at most; out of it when its turn comes.
    void add(Waiter& waiter);
    void remove(Waiter& waiter);

 private:
    void on_turn();

    std::deque<Waiter*> waiting_;
    Handle<uv_idle_t> turn_;  // runs while anybody waits
};

}  // namespace next_id
