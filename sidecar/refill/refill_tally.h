// What became of the reservations of one sequence, and of its IDs that were thrown away. On the refill thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "sidecar/metrics/histogram.h"

namespace next_id {

struct RefillTally {
    enum class Result : std::uint8_t {
        ok,
        failed,   // PostgreSQL answered with an error
        refused,  // it answered with values, which the sidecar may not or cannot use
        lost,     // the connection went before the answer came
    };
    static constexpr std::array result_names{"ok", "failed", "refused", "lost"};

    enum class Discarded : std::uint8_t {
        went_back,     // the sequence did, or is another one now, and may give the same IDs to others
        strict_order,  // reserved before the request that could have got them
    };
    static constexpr std::array reason_names{"went_back", "strict_order"};

    void ended(Result result) { ++results[static_cast<std::size_t>(result)]; }
    void discard(Discarded reason, std::uint64_t ids) { discarded[static_cast<std::size_t>(reason)] += ids; }
    std::uint64_t discarded_in_all() const {
        return std::accumulate(discarded.begin(), discarded.end(), std::uint64_t{0});
    }

    std::array<std::uint64_t, result_names.size()> results{};
    Histogram durations;                                         // from the statement to its answer
    std::uint64_t reserved_ids = 0;                              // that the sidecar may give out
    std::uint64_t latched = 0;                                   // how often the sequence was seen to have gone back
    std::array<std::uint64_t, reason_names.size()> discarded{};  // IDs
};

}  // namespace next_id
