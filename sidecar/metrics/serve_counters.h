// What one serve thread counts: it alone raises, whoever reads sums up over the threads. No two threads' counters share
// a cache line.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sidecar/metrics/counter.h"
#include "sidecar/metrics/histogram.h"

namespace next_id {

// By which door something came in, named as its setting is; those that give out IDs first.
enum class ListenerName : std::uint8_t { http, resp, socket, admin };
inline constexpr std::array listener_names{"http", "resp", "socket", "admin"};
inline constexpr std::array serving{ListenerName::http, ListenerName::resp, ListenerName::socket};

inline constexpr std::size_t cache_lines_bytes = 128;  // two: they are fetched in pairs

// The statuses of all answers; of RESP, which has none, those that HTTP would give.
inline constexpr std::array answer_codes{200, 400, 401, 403, 404, 405, 413, 414, 429, 431, 500, 503};

// A counter that shares its cache lines with no other thread's.
struct alignas(cache_lines_bytes) LoneCounter : Counter {};

// The requests that came in by one listener, what they got, and how long they took.
class alignas(cache_lines_bytes) RequestCounters {
 public:
    using Instant = std::chrono::steady_clock::time_point;

    explicit RequestCounters(std::size_t sequences) : ids_(sequences) {}

    void answered(int code);
    // Answered with IDs: what nearly all requests come to.
    void gave(std::size_t sequence, std::uint64_t ids) {
        static_assert(answer_codes[0] == 200);
        answered_[0].add();
        ++untimed_;
        ids_[sequence].add(ids);
    }

    // Two looks at the clock would cost a request as much as the rest of counting it. So those that are answered at
    // once are timed when this says so, which is once for each value of the loop's time (a millisecond), and each
    // measurement stands for all that were answered since the one before. `now`: the loop's time.
    bool is_due(Instant now) { return now != std::exchange(timed_at_, now); }
    // What was measured so. Nothing is to be counted when no request was answered in that time.
    void took(Histogram::Duration duration) {
        if (untimed_ != 0) durations_.observe(duration, std::exchange(untimed_, 0));
    }
    // What waited is timed by itself. REQUIRES: its answer has just been counted.
    void waited(Histogram::Duration duration) {
        durations_.observe(duration);
        --untimed_;
    }

    std::uint64_t answers(std::size_t place) const { return answered_[place].value(); }  // of answer_codes[place]
    std::uint64_t ids(std::size_t sequence) const { return ids_[sequence].value(); }
    const Histogram& durations() const { return durations_; }

 private:
    std::array<Counter, answer_codes.size()> answered_;
    std::vector<LoneCounter> ids_;  // by sequence
    Histogram durations_;
    Instant timed_at_{};
    std::uint64_t untimed_ = 0;  // answers that no measurement stands for yet
};

// What became of the requests for one sequence that the window could not answer at once.
struct alignas(cache_lines_bytes) WaitCounters {
    Counter waited;  // for a refill
    Counter dry;     // got no ID, since none came in time
};

class ServeCounters {
 public:
    explicit ServeCounters(std::size_t sequences)
        : requests_{RequestCounters{sequences}, RequestCounters{sequences}, RequestCounters{sequences}},
          waits_(sequences) {}

    // REQUIRES: one of the serving listeners.
    RequestCounters& requests(ListenerName listener) { return requests_[static_cast<std::size_t>(listener)]; }
    const RequestCounters& requests(ListenerName listener) const {
        return requests_[static_cast<std::size_t>(listener)];
    }
    WaitCounters& waits(std::size_t sequence) { return waits_[sequence]; }
    const WaitCounters& waits(std::size_t sequence) const { return waits_[sequence]; }

 private:
    std::array<RequestCounters, serving.size()> requests_;
    std::vector<WaitCounters> waits_;
};

}  // namespace next_id
