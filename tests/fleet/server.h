// One PostgreSQL as far as its capacity goes, on simulated time: a postmaster that accepts one connection after the
// other, processes that share the cores, slots for connections, a disk that a commit waits for. Counts in bins of a
// tenth of a second.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "sidecar/refill/pg_answer.h"
#include "tests/simulation/clockwork.h"

namespace next_id::fleet {

using simulation::Clockwork;

// CPU milliseconds, measured: see sql/capacity.md.
struct Capacity {
    int cores = 4;
    int connections_max = 100;  // max_connections, less what is kept for superusers and others
    double fork_ms = 0.8;       // the postmaster's, for each connection
    double connect_ms = 5.5;    // the backend's, with SCRAM and its end, without TLS
    double refuse_ms = 2.7;     // the backend's, when no slot is free
    double inspect_ms = 2;      // the first statement of a backend
    double first_ms = 2.8;      // the first reservation of a backend, and
    double reserve_ms = 1.1;    // those after it, without
    double value_ms = 0.00075;  // each of its values
    double network_ms = 0.25;   // one way: a wait, not work
    double commit_ms = 2;       // for the disk
    std::size_t backlog() const { return 2 * std::size_t(connections_max); }  // connections that wait to be accepted
};

struct Bin {
    std::uint32_t attempts = 0, refused = 0, connected = 0, statements = 0, values_k = 0,
                  open = 0;  // open: the most at a time
    double busy_ms = 0;
};

class Server {
 public:
    static constexpr std::chrono::milliseconds bin_length{100};

    // A connection, as both ends know it. The server gives its slot up when the client has left and nothing runs.
    struct Session {
        bool left = false, running = false, counted = false, warm = false;
        std::uint64_t incarnation = 0;
    };
    using SessionPtr = std::shared_ptr<Session>;
    using Outcome = std::function<void(bool connected)>;

    Server(Clockwork& clockwork, const Capacity& capacity, std::int64_t increment)
        : clockwork_{clockwork}, capacity_{capacity}, increment_{increment}, free_at_(std::size_t(capacity.cores)) {}

    SessionPtr connect(Outcome outcome);
    void inspect(const SessionPtr& session, std::function<void(const PgAnswer&)> answer);
    void reserve(const SessionPtr& session, std::uint64_t values, std::function<void(const PgAnswer&)> answer);
    void leave(const SessionPtr& session);

    void stop();  // every connection ends, every connect is refused
    void start();

    const Capacity& capacity() const { return capacity_; }
    const std::vector<Bin>& bins() const { return bins_; }
    std::size_t bin_now() const { return bin_of(clockwork_.now()); }
    std::size_t bin_of(Instant when) const { return std::size_t((when - start_) / bin_length); }
    int open() const { return open_; }

 private:
    struct Arrival {
        SessionPtr session;
        Outcome outcome;
    };

    void arrive(const Arrival& arrival, int tries);
    void accept();
    void admit(const Arrival& arrival);
    void answer(const Arrival& arrival, bool connected);
    void work(double cpu_ms, double wait_ms, std::function<void()> then);
    void run(const SessionPtr& session, double cpu_ms, double wait_ms, std::function<void()> then);
    void release(const SessionPtr& session);
    Bin& bin();

    Clockwork& clockwork_;
    const Capacity capacity_;
    const std::int64_t increment_;
    const Instant start_ = clockwork_.now();
    std::vector<Instant> free_at_;  // of each core
    std::deque<Arrival> arrivals_;
    bool accepting_ = false;
    std::vector<Bin> bins_;
    int open_ = 0;
    bool up_ = true;
    std::uint64_t incarnation_ = 1;
    std::int64_t last_value_ = 0;
};

inline Duration of_ms(double ms) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(ms));
}

}  // namespace next_id::fleet
