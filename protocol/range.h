// IDs that lie one step apart: the form in which they are reserved, kept in the window, taken and answered.
#pragma once

#include <cstdint>

namespace next_id {

// first, first + step, ...: `count` IDs, all of them in int64. The step is never 0, and negative in a descending
// sequence.
struct Range {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::uint64_t count = 0;

    bool operator==(const Range&) const = default;
};

// True iff all of its IDs lie in int64.
inline bool well_formed(const Range& range) {
    if (range.step == 0 || range.count == 0) return false;
    const bool ascending = range.step > 0;
    const auto first = static_cast<std::uint64_t>(range.first), step = static_cast<std::uint64_t>(range.step);
    const std::uint64_t room = ascending ? INT64_MAX - first : first - static_cast<std::uint64_t>(INT64_MIN);
    return range.count - 1 <= room / (ascending ? step : 0 - step);
}

// The last ID of a well-formed range.
inline std::int64_t last_of(const Range& range) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(range.first) +
                                     (range.count - 1) * static_cast<std::uint64_t>(range.step));
}

// True iff `next` begins where `run` ends, in the same steps. (The last test keeps 2^63-1 and -2^63 apart.)
inline bool continues(const Range& run, const Range& next) {
    return run.count != 0 && run.step == next.step &&
           std::uint64_t(run.first) + run.count * std::uint64_t(run.step) == std::uint64_t(next.first) &&
           (run.step > 0) == (next.first > run.first);
}

}  // namespace next_id
