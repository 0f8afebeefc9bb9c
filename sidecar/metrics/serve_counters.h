// What one serve thread counts: it alone raises, whoever reads sums up over the threads. No two threads' counters share
// a cache line.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "sidecar/metrics/counter.h"
#include "sidecar/metrics/histogram.h"

namespace next_id {

// By which door something came in, named as its setting is.
enum class ListenerName : std::uint8_t { http, socket, admin };
inline constexpr std::array listener_names{"http", "socket", "admin"};

inline constexpr std::size_t cache_lines_bytes = 128;  // two: they are fetched in pairs

// The statuses of all answers.
inline constexpr std::array answer_codes{200, 400, 401, 403, 404, 405, 413, 414, 429, 431, 500, 503};

// The requests that came in by one listener, and how long they took.
class alignas(cache_lines_bytes) RequestCounters {
 public:
    using Instant = std::chrono::steady_clock::time_point;

    void answered(int code) { answered_[place_of(code)].add(); }

    // Two looks at the clock would cost a request as much as the rest of counting it. So those that are answered at
    // once are timed when this says so, which is once for each value of the loop's time (a millisecond), and each
    // measurement stands for all that were answered since the one before. `now`: the loop's time.
    bool is_due(Instant now) { return now != std::exchange(timed_at_, now); }
    // What was measured so. Nothing is to be counted when no request was answered in that time.
    void took(Histogram::Duration duration) {
        const std::uint64_t since = answers() - durations_.read().count();
        if (since != 0) durations_.observe(duration, since);
    }
    // What waited is timed by itself. REQUIRES: its answer has just been counted.
    void waited(Histogram::Duration duration) { durations_.observe(duration); }

    std::uint64_t answers(std::size_t place) const { return answered_[place].value(); }  // of answer_codes[place]
    const Histogram& durations() const { return durations_; }

 private:
    static constexpr std::size_t place_of(int code) {
        for (std::size_t place = 0; place < answer_codes.size(); ++place)
            if (answer_codes[place] == code) return place;
        std::abort();  // a status that the contract does not know is a fault in the program
    }
    std::uint64_t answers() const {
        std::uint64_t sum = 0;
        for (const Counter& counter : answered_) sum += counter.value();
        return sum;
    }

    std::array<Counter, answer_codes.size()> answered_;
    Histogram durations_;
    Instant timed_at_{};
};

// What became of the requests for one sequence.
struct alignas(cache_lines_bytes) SequenceCounters {
    std::array<Counter, listener_names.size()> ids;  // that were given out
    Counter waited;                                  // requests that found the window dry, and so waited for a refill
    Counter dry;                                     // requests that got no ID, since none came in time
};

class ServeCounters {
 public:
    explicit ServeCounters(std::size_t sequences) : sequences_(sequences) {}

    void gave(ListenerName listener, std::size_t sequence, std::uint64_t ids) {
        requests(listener).answered(200);
        sequences_[sequence].ids[static_cast<std::size_t>(listener)].add(ids);
    }

    RequestCounters& requests(ListenerName listener) { return requests_[static_cast<std::size_t>(listener)]; }
    const RequestCounters& requests(ListenerName listener) const {
        return requests_[static_cast<std::size_t>(listener)];
    }
    SequenceCounters& sequence(std::size_t sequence) { return sequences_[sequence]; }
    const SequenceCounters& sequence(std::size_t sequence) const { return sequences_[sequence]; }

 private:
    std::array<RequestCounters, listener_names.size()> requests_;
    std::vector<SequenceCounters> sequences_;
};

}  // namespace next_id
