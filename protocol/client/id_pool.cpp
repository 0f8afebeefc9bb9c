#include <next_id/id_pool.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "protocol/client/process.h"
#include "protocol/client/source.h"
#include "protocol/client/uncancelled.h"

namespace next_id {
inline namespace v1 {
namespace {

// What a thread holds of a pool. The first that a thread takes is one ID, then twice as many each time: so a thread
// that ends leaves no more behind than it took.
struct Hand {
    std::uint64_t pool = 0, process = 0;
    std::uint64_t left = 0, next = 0, step = 0;  // unsigned: one step beyond the last may not be an int64
    std::uint64_t size = 0;
};
constexpr std::uint64_t hand_size_max = 256;

// Each thread holds IDs of so many pools; two that share a place take turns in it, and what is left of one is lost.
constexpr std::size_t hands_of_a_thread = 4;

// Read without a call even in a shared library, where the loader allows it. (musl's does not for libraries that are
// loaded later.)
#ifdef __GLIBC__
[[gnu::tls_model("initial-exec")]]
#endif
thread_local Hand hands[hands_of_a_thread];

std::atomic<std::uint64_t> pools_made = 0;

}  // namespace

struct IdPool::Impl {
    // What all threads of a process share.
    struct Stock {
        explicit Stock(const client::Settings& settings) : source{settings} {}
        void abandon() { source.abandon(); }

        std::mutex mutex;
        std::condition_variable refilled;
        std::deque<IdRange> ranges;
        std::uint64_t ids = 0;
        bool refilling = false;  // by a thread that waits for the answer, without the mutex: the session is its
        client::Source source;
    };

    Impl(const Options& options, const PoolOptions& pool) : settings{options}, batch{pool.batch} {
        if (batch == 0 || batch > Client::count_max)
            throw Error{ErrorCode::invalid_argument, "the pool's batch is " + std::to_string(batch) + "; give 1 to " +
                                                         std::to_string(Client::count_max)};
    }

    // At least one ID into the hand, or an Error.
    [[gnu::noinline]] void fill(Hand& hand, std::uint64_t serial) {
        const client::Uncancelled meanwhile;
        const std::uint64_t process = client::process_number();
        if (hand.pool != serial || hand.process != process) hand = {serial, process};
        if (hand.left > 0) return;  // only process_word() did not say so
        Stock& here = stock.get(settings);
        const client::Instant deadline = std::chrono::steady_clock::now() + settings.timeout;
        std::unique_lock lock{here.mutex};
        hand.size = std::clamp<std::uint64_t>(2 * hand.size, 1, std::min<std::uint64_t>(hand_size_max, batch));
        while (here.ids == 0) {
            if (IdRange range; here.source.take_mapped(hand.size, range))
                add(here, range);
            else if (!here.refilling)
                refill(here, lock, deadline);
            else if (here.refilled.wait_until(lock, deadline) == std::cv_status::timeout && here.ids == 0)
                throw Error{ErrorCode::timed_out, "no ID came within " + std::to_string(settings.timeout.count()) +
                                                      " ms, while another thread waits for them too"};
        }
        give(here, hand);
        client::Session& session = here.source.session;
        const bool is_low = here.ids < (batch + 1) / 2 && !here.source.is_mapped();
        if (is_low && !here.refilling && !session.asked_ahead()) session.ask_ahead(batch);
    }

    void refill(Stock& here, std::unique_lock<std::mutex>& lock, client::Instant deadline) {
        struct Refilling {
            Refilling(Stock& stock, std::unique_lock<std::mutex>& locked) : here{stock}, lock{locked} {
                here.refilling = true;
                lock.unlock();
            }
            ~Refilling() {  // whatever came of it: another may try
                lock.lock();
                here.refilling = false;
                here.refilled.notify_all();
            }
            Stock& here;
            std::unique_lock<std::mutex>& lock;
        };
        std::vector<IdRange> ranges;
        {
            const Refilling refilling{here, lock};
            ranges = here.source.session.take(batch, deadline);
        }
        for (const IdRange& range : ranges) add(here, range);
    }

    static void add(Stock& here, const IdRange& range) {
        here.ranges.push_back(range);
        here.ids += range.count;
    }

    static void give(Stock& here, Hand& hand) {
        IdRange& front = here.ranges.front();
        hand.left = std::min(hand.size, front.count);
        hand.next = std::uint64_t(front.first);
        hand.step = std::uint64_t(front.step);
        front.first = std::int64_t(hand.next + hand.left * hand.step);
        front.count -= hand.left;
        if (front.count == 0) here.ranges.pop_front();
        here.ids -= hand.left;
    }

    const client::Settings settings;
    const std::size_t batch;
    client::PerProcess<Stock> stock;
};

IdPool::IdPool(Options options, PoolOptions pool)
    : impl_{std::make_unique<Impl>(options, pool)},
      serial_{pools_made.fetch_add(1, std::memory_order_relaxed) + 1},
      process_{&client::process_word()} {}

IdPool::~IdPool() = default;

std::int64_t IdPool::next() {
    Hand& hand = hands[serial_ % hands_of_a_thread];
    // In a child that is new the word is 0, which is no process's number; where nobody empties it, always.
    if (hand.left == 0 || hand.pool != serial_ || hand.process != process_->load(std::memory_order_relaxed))
        [[unlikely]]
        impl_->fill(hand, serial_);
    --hand.left;
    const std::uint64_t id = hand.next;
    hand.next += hand.step;
    return std::int64_t(id);
}

}  // namespace v1
}  // namespace next_id
