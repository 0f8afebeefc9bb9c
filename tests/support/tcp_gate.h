// A gate between a client and a server of PostgreSQL's protocol, on 127.0.0.1: it lets their bytes pass, holds them
// back without a word as a network does that drops packets, delays them, or closes in the middle of an answer. A thread
// of its own; any thread may call anything.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace next_id::test {

class TcpGate {
 public:
    // To this port of 127.0.0.1. Open.
    explicit TcpGate(const std::string& server_port);
    ~TcpGate();
    TcpGate(const TcpGate&) = delete;
    TcpGate& operator=(const TcpGate&) = delete;

    std::string port() const { return port_; }

    // Bytes pass, also those that were held back.
    void open();
    // Nothing passes and nothing is refused; connections stay, and new ones seem to be made.
    void cut();
    // Bytes that arrive from now on pass so much later, each way.
    void slow(std::chrono::milliseconds delay);
    // Of the answer to a statement so many bytes pass, then both sides are closed. So it goes with every answer that is
    // longer, until another call.
    void close_within_answers(std::size_t after_bytes);
    // The same, but all of an answer passes except its last message, ReadyForQuery.
    void close_before_ready();
    // Closes every connection now.
    void close_all();

    std::size_t connections() const { return connections_; }            // that the client has not closed
    std::size_t connections_most() const { return connections_most_; }  // at once, since reset()
    std::size_t connections_made() const { return connections_made_; }  // since reset()
    std::size_t answers_broken() const { return answers_broken_; }
    std::size_t answer_bytes() const { return answer_bytes_; }  // of the last answer to a statement that passed
    void reset() { connections_most_ = connections_made_ = 0; }

 private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    struct Chunk {
        Clock::time_point due;
        std::string bytes;
    };
    struct Way {
        int from = -1, to = -1;
        std::deque<Chunk> held;
        bool ended = false;  // nothing more comes
    };
    struct Connection {
        Way up, down;              // to the server, to the client
        bool in_answer = false;    // what comes down answers a statement
        std::size_t answered = 0;  // bytes of that answer
        bool left = false;         // by the client
        bool broken = false;
    };

    void run();
    void accept_one();
    void read(Connection&, Way&);
    void note_bytes(Connection&, Way&, std::string& bytes);
    void write_due(Connection&, Way&);
    void note_connections();
    int timeout_ms() const;
    void ring() const;

    int listener_ = -1, bell_ = -1;
    std::string port_, server_port_;
    mutable std::mutex mutex_;  // of what follows
    bool cut_ = false, stop_ = false, close_all_ = false;
    std::chrono::milliseconds delay_{0};
    std::size_t answer_bytes_most_ = never;
    bool before_ready_ = false;
    std::list<Connection> open_;
    std::atomic<std::size_t> connections_ = 0, connections_most_ = 0, connections_made_ = 0, answers_broken_ = 0,
                             answer_bytes_ = 0;
    std::thread thread_;
};

}  // namespace next_id::test
