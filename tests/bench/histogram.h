// Counts values (latencies in nanoseconds) in buckets that are exact when small and 0.8 % wide when large, so that any
// percentile of millions of samples costs 60 kB and no sorting. Log-linear: each octave is cut into 128 equal buckets.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace next_id::bench {

class Histogram {
 public:
    void record(std::uint64_t value) {
        ++counts_[bucket_of(value)];
        ++total_;
    }

    // The greatest value that the bucket of the sample at `fraction` (0 to 1) can hold; 0 when nothing was recorded.
    std::uint64_t percentile(double fraction) const {
        const double rank = fraction * static_cast<double>(total_);
        std::uint64_t seen = 0;
        for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
            seen += counts_[bucket];
            if (seen > 0 && static_cast<double>(seen) >= rank) return greatest_in(bucket);
        }
        return 0;
    }

 private:
    static constexpr int bucket_bits = 7;
    static constexpr std::size_t buckets_per_octave = std::size_t{1} << bucket_bits;
    static constexpr std::size_t octaves = 64 - bucket_bits;  // above the first, whose buckets hold one value each

    static std::size_t bucket_of(std::uint64_t value) {
        if (value < buckets_per_octave) return value;
        const int shift = static_cast<int>(std::bit_width(value)) - bucket_bits - 1;
        return static_cast<std::size_t>(shift) * buckets_per_octave + (value >> shift);
    }

    static std::uint64_t greatest_in(std::size_t bucket) {
        if (bucket < 2 * buckets_per_octave) return bucket;
        const std::size_t shift = bucket / buckets_per_octave - 1;
        const std::uint64_t first_of_next = bucket - shift * buckets_per_octave + 1;
        return (first_of_next << shift) - 1;  // wraps to the greatest integer in the last bucket
    }

    std::array<std::uint64_t, (octaves + 1) * buckets_per_octave> counts_{};
    std::uint64_t total_ = 0;
};

}  // namespace next_id::bench
