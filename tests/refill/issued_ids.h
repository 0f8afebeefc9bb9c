// All IDs that were given out in a test, so that it notices the first that comes twice.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <string>

#include "protocol/range.h"

namespace next_id::test {

class IssuedIds {
 public:
    // False when one of them was given out before.
    bool add(const Range& range) {
        if (range.step == 1) return add(range.first, last_of(range), range.count);
        for (std::uint64_t i = 0; i < range.count; ++i) {
            const std::int64_t id = last_of({range.first, range.step, i + 1});
            if (!add(id, id, 1)) return false;
        }
        return true;
    }
    bool add(std::span<const Range> ranges) {
        return std::ranges::all_of(ranges, [this](const Range& range) { return add(range); });
    }

    std::uint64_t count() const { return count_; }
    std::int64_t lowest() const { return spans_.begin()->first; }
    std::int64_t highest() const { return std::prev(spans_.end())->second; }

 private:
    bool add(std::int64_t first, std::int64_t last, std::uint64_t count) {
        auto after = spans_.upper_bound(first);
        if (after != spans_.end() && after->first <= last) return false;
        count_ += count;
        if (after != spans_.begin()) {
            const auto before = std::prev(after);
            if (before->second >= first) return false;
            if (before->second == first - 1) return before->second = last, true;
        }
        spans_.emplace_hint(after, first, last);
        return true;
    }

    std::map<std::int64_t, std::int64_t> spans_;  // first to last, apart from one another
    std::uint64_t count_ = 0;
};

// A seed for a random test, told with it: NEXT_ID_SEED=n repeats a run.
inline std::uint64_t random_seed() {
    const char* const chosen = std::getenv("NEXT_ID_SEED");
    const std::uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device{}();
    BOOST_TEST_MESSAGE("seed: NEXT_ID_SEED=" + std::to_string(seed));
    return seed;
}

}  // namespace next_id::test
