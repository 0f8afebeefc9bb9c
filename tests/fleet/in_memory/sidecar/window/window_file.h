// Stands in for the window file where ten thousand windows must fit into one process: only how many IDs are left, and
// what the header remembers. Found before the real one in the order of include directories; what the refill calls, and
// no more.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "protocol/range.h"
#include "protocol/window_layout.h"
#include "sidecar/base/expected.h"
#include "sidecar/window/window_source.h"

namespace next_id {

class WindowFile {
 public:
    std::uint64_t slot_count() const { return 1; }

    Taken take(std::uint64_t n, std::span<Range> out, bool some_will_do = false) {
        if (left_ == 0) return {TakeResult::dry};
        if (left_ < n && !some_will_do) return {TakeResult::too_few};
        const std::uint64_t count = n < left_ ? n : left_;
        left_ -= count;
        out[0] = {0, 1, count};
        return {TakeResult::taken, 1, count, 0, false};
    }
    Taken take_consecutive(std::uint64_t n, std::uint64_t, Range& out) { return take(n, {&out, 1}); }

    std::uint64_t left() const { return left_; }
    bool full() const { return false; }
    bool closed() const { return false; }
    std::uint64_t publish(const Range& range) {
        left_ += range.count;
        return range.count;
    }
    bool wake_when_left(std::uint64_t ids) const { return left_ <= ids; }

    Mark mark() const { return mark_; }
    void set_mark(const Mark& mark) { mark_ = mark; }
    void forget_mark() { mark_ = {}; }
    bool source_changed() const { return false; }
    SourceIdentity identity() const { return identity_; }
    void set_identity(const SourceIdentity& identity) { identity_ = identity; }
    Expected<std::uint64_t> discard() { return std::exchange(left_, 0); }

 private:
    std::uint64_t left_ = 0;
    Mark mark_;
    SourceIdentity identity_;
};

}  // namespace next_id
