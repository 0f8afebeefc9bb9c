// The book of all IDs that were given out in a test, and of who gave them: no ID may stand in it twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/load.h"

namespace next_id::test {

// More rounds, more sessions.
inline bool long_form() {
    return std::getenv("NEXT_ID_LONG") != nullptr;
}

class Ledger {
 public:
    // In block mode a value v of the sequence owns the IDs v - block + 1 to v. The sequence begins with `block`.
    explicit Ledger(std::int64_t block = 1) : block_{block} {}

    // What one sidecar gave out; each sidecar has a number, from 0.
    void add_sidecar(int number, const std::vector<std::int64_t>& ids) {
        ids_.insert(ids_.end(), ids.begin(), ids.end());
        for (const std::int64_t id : ids) owners_.emplace((id + block_ - 1) / block_, number);
    }
    // What callers of nextval() got: each call owns its value's block alone.
    void add_values(const std::vector<std::int64_t>& values) {
        for (const std::int64_t value : values) owners_.emplace(value / block_, --calls_);
        values_ += values.size();
    }

    // The furthest value of the sequence that belongs to somebody.
    std::int64_t highest_value() const { return owners_.empty() ? 0 : owners_.rbegin()->first * block_; }
    std::size_t ids() const { return ids_.size(); }
    std::size_t values() const { return values_; }

    // 0 iff no ID came twice, and no block was reserved by two.
    std::size_t repeated() const {
        std::size_t shared = 0;
        for (auto at = owners_.begin(); at != owners_.end(); ++at)
            shared += at != owners_.begin() && std::prev(at)->first == at->first;
        return std::max(shared, count_repeated(ids_));
    }

 private:
    std::int64_t block_;
    int calls_ = 0;  // counts down: negative numbers, no sidecar's
    std::size_t values_ = 0;
    std::vector<std::int64_t> ids_;
    std::set<std::pair<std::int64_t, int>> owners_;  // block, and who gave out of it
};

}  // namespace next_id::test
