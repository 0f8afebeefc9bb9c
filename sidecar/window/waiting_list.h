// The requests that found the window of one sequence dry, in order of arrival. Serve threads park, the refill thread
// serves from the front, in order, so that a large request is not starved by small ones. Any thread may call anything;
// answers are delivered by the thread that calls serve(), expire() or fail_all(), with no lock held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "protocol/range.h"
#include "sidecar/base/clock.h"
#include "sidecar/window/window_file.h"

namespace next_id {

struct Waiter {
    std::uint64_t ids = 1;
    bool consecutive =
        false;  // one run, and then at most `skip_max` IDs passed over for it; else any ranges, all or none
    std::uint64_t skip_max = 0;
    Instant deadline = never;
    unsigned thread = 0;        // whose request it is, and
    std::uint64_t request = 0;  // what that thread calls it
};

enum class WaitResult {
    served,   // with ranges
    expired,  // its deadline passed
    refused,  // the window cannot hold what it asks for: too many IDs, or in too many ranges
    failed,   // the sidecar stops before there were any
};

class WaitingList {
 public:
    using Id = std::uint64_t;  // in order of arrival, never used twice
    using Deliver = std::function<void(const Waiter&, WaitResult, std::span<const Range>)>;

    static constexpr std::size_t waiting_max_default = 16384;

    explicit WaitingList(std::size_t waiting_max = waiting_max_default) : waiting_max_{waiting_max} {}

    // Nothing when the list is full. Whoever parks wakes the refill thread afterwards, which calls serve(): IDs may
    // have been published between the take that found none and this.
    std::optional<Id> park(const Waiter&);

    // The hot path asks before each take, and parks behind those who wait. One load; a stale answer costs order, no
    // more.
    bool empty() const { return waiting_.load(std::memory_order_relaxed) == 0; }
    std::size_t size() const { return waiting_.load(std::memory_order_relaxed); }

    std::uint64_t demand() const;   // IDs that are waited for; at most 2^64-1
    Instant next_deadline() const;  // never, when nobody waits

    struct Served {
        std::size_t waiters = 0;  // answered, also by a refusal
        bool wake = false;        // one of the takes said so: see Taken
    };

    // Publisher only. Serves from the front until the first that the window cannot satisfy yet. What it never can
    // satisfy, however much is published, is refused, so that it does not block those behind it. `scratch` bounds the
    // ranges of one. None that came after `newest` is served.
    Served serve(WindowFile&, std::span<Range> scratch, const Deliver&, Id newest = ~Id{0});

    Id newest() const;  // of all that were ever parked; 0: none was

    std::size_t expire(Instant now, const Deliver&);  // those whose deadline is at or before `now`
    std::size_t fail_all(const Deliver&);

    // True iff it will get no answer. False when it has been answered, or is being: its IDs, if any, are lost (a gap).
    bool cancel(Id);

 private:
    using Waiters = std::map<Id, Waiter>;

    Waiter remove(Waiters::iterator);

    const std::size_t waiting_max_;
    mutable std::mutex mutex_;
    Waiters waiters_;
    std::set<std::pair<Instant, Id>> deadlines_;
    unsigned __int128 demand_ = 0;  // the sum of their IDs, which 64 bits may not hold
    Id next_id_ = 1;
    std::atomic<std::size_t> waiting_ = 0;  // waiters_.size()
};

}  // namespace next_id
