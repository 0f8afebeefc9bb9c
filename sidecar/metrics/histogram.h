// How long things took: counts by duration, on one scale from 10 microseconds to 10 seconds for all that is timed here.
// Observed by one thread, read by any.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "sidecar/metrics/counter.h"

namespace next_id {

class Histogram {
 public:
    using Duration = std::chrono::nanoseconds;

    // The upper ends of the buckets, each of which includes its own; beyond the last there is one more.
    static constexpr auto bounds = [] {
        using std::chrono::microseconds;
        return std::array<Duration, 13>{microseconds{10},        microseconds{30},        microseconds{100},
                                        microseconds{300},       microseconds{1'000},     microseconds{3'000},
                                        microseconds{10'000},    microseconds{30'000},    microseconds{100'000},
                                        microseconds{300'000},   microseconds{1'000'000}, microseconds{3'000'000},
                                        microseconds{10'000'000}};
    }();

    struct Reading {
        std::array<std::uint64_t, bounds.size() + 1> counts{};  // of each bucket by itself
        std::uint64_t nanoseconds = 0;                          // all of them together

        std::uint64_t count() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }
    };

    // So many took that long, each.
    void observe(Duration each, std::uint64_t how_many = 1) {
        const auto bucket = static_cast<std::size_t>(std::ranges::lower_bound(bounds, each) - bounds.begin());
        counts_[bucket].add(how_many);
        nanoseconds_.add(static_cast<std::uint64_t>(std::max(each, Duration::zero()).count()) * how_many);
    }

    void add_to(Reading& sum) const {
        for (std::size_t i = 0; i < counts_.size(); ++i) sum.counts[i] += counts_[i].value();
        sum.nanoseconds += nanoseconds_.value();
    }
    Reading read() const {
        Reading reading;
        add_to(reading);
        return reading;
    }

 private:
    std::array<Counter, bounds.size() + 1> counts_;
    Counter nanoseconds_;
};

}  // namespace next_id
