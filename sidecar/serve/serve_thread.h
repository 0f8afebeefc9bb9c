// A thread with a loop of its own that serves connections. Others hand it accepted connections, the ends of waits, and
// the word to drain; it shares nothing else with them.
#pragma once

#include <uv.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sidecar/base/doorbell.h"
#include "sidecar/base/uv_handle.h"
#include "sidecar/serve/connection_set.h"
#include "sidecar/serve/id_handler.h"
#include "sidecar/serve/listener.h"

namespace next_id {

class ServeThread {
 public:
    explicit ServeThread(IdHandler handler);
    ~ServeThread();
    ServeThread(const ServeThread&) = delete;
    ServeThread& operator=(const ServeThread&) = delete;

    // Before start(): this thread accepts from the socket, and hands on what it accepts, on this thread.
    void listen(FileDescriptor socket, Entrance entrance, Listener::OnAccepted on_accepted);
    void start();

    // Any thread from here on.
    void adopt(Accepted accepted);
    void deliver(std::uint64_t request, WaitResult result, std::span<const Range> ranges);
    // The tokens that are valid from now on.
    void set_tokens(std::shared_ptr<const Tokens> tokens);
    // Accepts no more, finishes what is in flight, then calls `drained` (on this thread).
    void drain(std::function<void()> drained);
    // Ends the loop, whatever is open, and joins the thread.
    void stop();
    // What this thread has counted.
    const ServeCounters& counters() const { return handler_.counters(); }
    // When the loop last turned.
    Instant turned_at() const { return Instant{Duration{turned_at_.load(std::memory_order_relaxed)}}; }

 private:
    struct Delivery {
        std::uint64_t request;
        WaitResult result;
        std::vector<Range> ranges;
    };
    struct Inbox {
        std::vector<Accepted> accepted;
        std::vector<Delivery> deliveries;
        std::shared_ptr<const Tokens> tokens;
        std::function<void()> drained;
        bool stop = false;
    };

    template <class Change>
    void post(Change change);
    void on_inbox();

    uv_loop_t loop_;
    IdHandler handler_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    std::unique_ptr<ConnectionSet> connections_;
    std::unique_ptr<Doorbell> bell_;
    Handle<uv_timer_t> heartbeat_;
    std::atomic<Duration::rep> turned_at_;

    std::mutex mutex_;
    Inbox inbox_;
    std::thread thread_;
};

}  // namespace next_id
