// How long to wait before the next try: exponential, with full jitter. Pure; `dice` is a random number in [0, 1).
#pragma once

#include <algorithm>
#include <chrono>

#include "sidecar/base/clock.h"

namespace next_id {

class Backoff {
 public:
    static constexpr std::chrono::milliseconds first{200};
    static constexpr std::chrono::milliseconds longest{5'000};
    static constexpr int reserve_share = 12;

    // An outage shorter than the reserve must not outlast it for the wait that follows: no wait is longer than a
    // twelfth of it.
    explicit Backoff(std::chrono::milliseconds reserve)
        : longest_{std::clamp(reserve / reserve_share, 2 * first, longest)} {}

    // The wait after one more failure.
    Duration next(double dice) {
        const auto bound = std::chrono::duration_cast<Duration>(bound_);
        bound_ = std::min(2 * bound_, longest_);
        return Duration{static_cast<Duration::rep>(static_cast<double>(bound.count()) * dice)};
    }

    void reset() { bound_ = first; }
    bool untried() const { return bound_ == first; }  // true iff nothing failed since the last reset

 private:
    std::chrono::milliseconds longest_;
    std::chrono::milliseconds bound_ = first;
};

}  // namespace next_id
