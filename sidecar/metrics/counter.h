// Numbers that the threads raise as they work, and the operator's page reads: a read may be a little late, and is never
// torn.
#pragma once

#include <atomic>
#include <cstdint>

namespace next_id {

// Raised by one thread, read by any. No instruction of it locks the cache line: what costs is only that another core
// has just read it.
class Counter {
 public:
    void add(std::uint64_t n = 1) {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
    std::atomic<std::uint64_t> value_ = 0;
};

// Raised and read by any thread: for what is rare, and costs much more than this.
class SharedCounter {
 public:
    void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
    std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace next_id
