// The steps of TLS handshakes, taken by a thread of their own, one at a time. A step takes as long as a hundred
// requests: whoever is connected already does not wait for it, and where both threads want the CPU, the one of the loop
// gets most of it. Handshakes that have begun go on before others begin: were more begun than can be ended in time,
// none would end. One queue a loop, on whose thread all but the steps happens.
#pragma once

#include <uv.h>

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "sidecar/base/doorbell.h"
#include "sidecar/base/repeated_failure.h"
#include "sidecar/serve/tls_session.h"

namespace next_id {

class HandshakeQueue {
    struct Entry;

 public:
    struct Step {
        std::unique_ptr<TlsSession> session;
        std::string bytes;                 // that came from the network
        std::string plain = {}, out = {};  // when it is done: as TlsSession::receive() has left them
    };

    // Of a waiter's step in the queue.
    class Place {
        friend HandshakeQueue;
        std::list<Entry>* list = nullptr;  // null: it has none
        std::list<Entry>::iterator entry;
    };

    class Waiter {
     public:
        virtual void on_step(Step done) = 0;  // may destroy the waiter
        Place place;

     protected:
        ~Waiter() = default;
    };

    explicit HandshakeQueue(uv_loop_t* loop);
    ~HandshakeQueue();  // waits for the step that is being taken
    HandshakeQueue(const HandshakeQueue&) = delete;
    HandshakeQueue& operator=(const HandshakeQueue&) = delete;

    // A waiter has one step in the queue at most. It is told at once only if the system gives no thread.
    void add(Waiter& waiter, Step step);
    // The waiter is not told, and its session is destroyed.
    void remove(Waiter& waiter);

 private:
    struct Entry {
        Waiter* waiter;  // null: it was removed while its step was being taken
        Step step;
    };

    bool start();
    void take_steps();
    static void move_first(std::list<Entry>& from, std::list<Entry>& to);
    void on_done();

    const Doorbell bell_;
    RepeatedFailure no_thread_;
    std::thread thread_;  // from the first step on

    std::mutex mutex_;  // guards all of what follows
    std::condition_variable added_;
    std::list<Entry> new_, begun_, current_, done_;  // current_: the one whose step is being taken
    bool stopping_ = false;
};

}  // namespace next_id
