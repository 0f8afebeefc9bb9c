#include "sidecar/refill/policy.h"

#include <algorithm>
#include <cmath>

namespace next_id {

namespace {

constexpr std::chrono::milliseconds sample_min{50};  // shorter stretches tell nothing about demand
constexpr double rise_seconds = 1.0;                 // demand that grows is believed within a second
constexpr double fall_reserves = 2.0;                // demand that falls is forgotten over two reserves
constexpr double demand_least = 1e-6;                // IDs a second; less is none: it would last longer than is told
constexpr double jitter_share = 0.1;
constexpr std::uint64_t filled_share = 10;  // a window that lacks less than a tenth of its target is full

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

// The share of the way to a new value that a mean of that time constant goes in `elapsed`.
double approach(double elapsed_s, double constant_s) {
    return 1 - std::exp(-elapsed_s / constant_s);
}

}  // namespace

RefillPolicy::RefillPolicy(const PolicySettings& settings)
    : settings_{settings}, target_{static_cast<double>(settings.window_min)} {}

void RefillPolicy::observe(Instant now, std::uint64_t taken) {
    if (!observed_) {
        observed_ = true;
        observed_at_ = now;
        taken_ = taken;
        return;
    }
    const Duration elapsed = now - observed_at_;
    if (elapsed < sample_min) return;
    const double elapsed_s = seconds(elapsed);
    const double reserve_s = seconds(settings_.reserve);
    const double fall_s = std::max(fall_reserves * reserve_s, rise_seconds);

    const double sample = taken > taken_ ? static_cast<double>(taken - taken_) / elapsed_s : 0;
    demand_ += (sample - demand_) * approach(elapsed_s, sample > demand_ ? rise_seconds : fall_s);
    if (demand_ < demand_least) demand_ = 0;
    const double ideal = std::max(2 * reserve_s * demand_, static_cast<double>(settings_.window_min));
    target_ = ideal > target_ ? ideal : target_ + (ideal - target_) * approach(elapsed_s, fall_s);

    observed_at_ = now;
    taken_ = taken;
}

void RefillPolicy::found_dry() {
    target_ = std::min(2 * target_, static_cast<double>(settings_.window_max));
}

std::uint64_t RefillPolicy::target() const {
    const double bounded =
        std::clamp(target_, static_cast<double>(settings_.window_min), static_cast<double>(settings_.window_max));
    return static_cast<std::uint64_t>(bounded);
}

std::uint64_t RefillPolicy::refill_level() const {
    return static_cast<std::uint64_t>(static_cast<double>(target()) / 2 * (1 - jitter_share * jitter_));
}

std::uint64_t RefillPolicy::wanted(std::uint64_t left, std::uint64_t parked, double dice) {
    // What is parked is as good as gone, so that a request larger than the window is answered after one more refill.
    const bool short_of_parked = left < parked;
    const std::uint64_t level = short_of_parked ? 0 : left - parked;
    if (!filling_ && (short_of_parked || level <= refill_level())) {
        filling_ = true;
        jitter_ = dice;
    }
    // Several statements in a row may be needed. What is taken while they run is no reason for more of them.
    const std::uint64_t goal = target() + std::min(parked, ~target());
    if (left >= goal - target() / filled_share) filling_ = false;
    return filling_ ? goal - left : 0;
}

}  // namespace next_id
