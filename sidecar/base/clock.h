// Time as the parts of the sidecar see it: monotonic, handed in as an argument. Only the loops read the clock.
#pragma once

#include <chrono>

namespace next_id {

using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;
using Duration = Clock::duration;

inline constexpr Instant never = Instant::max();

}  // namespace next_id
