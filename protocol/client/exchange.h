// One request and its answer at a time over a connection that is kept, without waiting: begin() sends it as far as the
// kernel takes it, advance() goes on, wait() lets poll() say when. No signal is raised, and none disturbs it. Owned by
// a Session; one thread at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include "protocol/client/address.h"
#include "protocol/client/answer.h"

namespace next_id::client {

using Instant = std::chrono::steady_clock::time_point;

class Exchange {
 public:
    enum class State {
        idle,        // nothing asked
        connecting,  // the request is sent behind it
        sending,
        receiving,
        answered,
        failed,  // see error() and problem(); the connection is closed
    };

    // `address` must outlive it.
    explicit Exchange(const Address& address) : address_{address} {}
    ~Exchange() { disconnect(); }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    // Over the connection that is there, if it is idle and still good; else over a new one.
    void begin(std::string request, std::size_t body_bytes_max);
    State advance();
    // Advances until it is answered or has failed, or the deadline has passed.
    State wait(Instant deadline);

    State state() const { return state_; }
    // Of `answered`, until the next begin().
    const Answer& answer() const { return answer_; }
    // Of `failed`: an errno value, 0 for what came being no answer, as problem() says.
    int error() const { return error_; }
    const char* problem() const { return problem_; }
    // The connection had served before, and nothing came back this time: it may just have been closed.
    bool may_have_been_stale() const { return kept_ && received_.empty(); }

    // Whatever is under way is forgotten.
    void disconnect();
    // In a child of the process that it belongs to: see PerProcess.
    void abandon();

 private:
    bool is_still_good() const;
    void connect();
    void send();
    void receive();
    void fail(int error, const char* problem = "");

    const Address& address_;
    // -1: none. Never the number of a descriptor that is closed, even for a child that is made in between.
    std::atomic<int> socket_ = -1;
    std::pair<dev_t, ino_t> identity_{};  // of the socket; its number alone may come to mean something else
    State state_ = State::idle;
    bool kept_ = false;
    std::string request_;
    std::size_t sent_ = 0;
    std::string received_;
    std::size_t body_bytes_max_ = 0;
    Answer answer_;
    int error_ = 0;
    const char* problem_ = "";
};

}  // namespace next_id::client
