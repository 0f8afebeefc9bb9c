// When to refill the window, and by how much: pure arithmetic on what is told to it. It measures demand and keeps the
// window between the reserve (so many seconds of demand) and twice that, within the configured bounds. One for each
// sequence, on the refill thread.
#pragma once

#include <cstdint>

#include "sidecar/base/clock.h"

namespace next_id {

struct PolicySettings {
    std::chrono::milliseconds reserve{60'000};  // demand that the window outlasts without PostgreSQL
    std::uint64_t window_min = 1'000;           // IDs
    std::uint64_t window_max = 10'000'000;      // IDs
};

class RefillPolicy {
 public:
    explicit RefillPolicy(const PolicySettings& settings);

    // `taken`: IDs taken since the process began; only its growth matters. Call it at least about once a second.
    void observe(Instant now, std::uint64_t taken);

    // A request found the window dry: it was too small, whatever the measured demand says.
    void found_dry();

    // How many IDs to reserve now, 0 for none, when `left` are in the window and `parked` are waited for. `dice` in [0,
    // 1) moves the threshold by up to a tenth, so that a fleet started together does not refill together.
    std::uint64_t wanted(std::uint64_t left, std::uint64_t parked, double dice);

    // The level at or below which wanted() begins to ask.
    std::uint64_t refill_level() const;

    double demand_per_second() const { return demand_; }
    std::uint64_t target() const;  // the level that a refill fills up to

 private:
    PolicySettings settings_;
    Instant observed_at_{};
    bool observed_ = false;
    std::uint64_t taken_ = 0;
    double demand_ = 0;  // IDs per second
    double target_;      // IDs; grows at once, shrinks slowly
    double jitter_ = 0;  // of the threshold, drawn anew for each refill
    bool filling_ = false;
};

}  // namespace next_id
