// IDs for a process that takes many: fetched in batches, and ahead of need. Any thread may take from it, in a few
// nanoseconds.
//
//     next_id::IdPool pool;
//     std::int64_t id = pool.next();
#pragma once

#include <next_id/client.h>

#include <atomic>

namespace next_id {
inline namespace v1 {

struct PoolOptions {
    std::size_t batch = 1000;  // IDs to a request, 1 to Client::count_max
};

// How it refills: there is no thread of its own. The taker that finds half a batch left sends the next request and goes
// on; its answer is read by the taker that finds none left. Only when that has not come yet does anyone wait, and then
// for at most the timeout.
//
// What is fetched ahead of need is no longer in real time's order (--order strict): there a Client is the way. And each
// thread that takes holds some IDs of its own, so IDs of different threads are in no order. A thread that ends
// leaves a gap of at most as many IDs as it has taken, and of 256 at most.
//
// After fork() the child starts with an empty pool and makes a connection of its own, whatever the threads of its
// parent were doing in that moment. Not for signal handlers. The pool must outlive the calls.
class NEXT_ID_API IdPool {
 public:
    // Does not connect yet. Throws an Error (invalid_argument) for options that cannot work.
    explicit IdPool(Options options = {}, PoolOptions pool = {});
    ~IdPool();
    IdPool(const IdPool&) = delete;
    IdPool& operator=(const IdPool&) = delete;

    // Throws an Error when there is no ID until the deadline, or std::bad_alloc.
    std::int64_t next();

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    const std::uint64_t serial_;                       // of this pool among all that this process has made
    const std::atomic<std::uint64_t>* const process_;  // the number of this process; 0 if it is to be asked for
};

}  // namespace v1
}  // namespace next_id
