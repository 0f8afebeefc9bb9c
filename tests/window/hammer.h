// Hammers a chain of windows: takers (threads in processes) take random amounts, one publisher publishes fragmented
// ranges through a small ring, closes windows and moves on to the next. Every access to shared words may falter: yield,
// sleep, or kill the own process. At the end every ID that any taker logged is held against the publisher's journal:
// none twice, none unpublished, in ticket order for each taker, and no more lost than the deaths explain.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "protocol/window_layout.h"

namespace next_id::hammer {

struct Random {  // splitmix64
    std::uint64_t state;
    std::uint64_t operator()() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t n) { return (*this)() % n; }
};

inline thread_local Random dice{1};
inline thread_local bool nervous = false;
inline bool deaths_allowed = false;  // only ever set in a child

inline void falter() {
    if (!nervous) return;
    const std::uint64_t x = dice();
    if (x % 32 == 0) sched_yield();
    if (x % 4096 == 7) ::usleep(unsigned(x >> 32) % 200);
    if (deaths_allowed && x % 100'000 == 11) ::kill(::getpid(), SIGKILL);
}

template <class T>
struct NervousAtomic {
    std::atomic<T> value;
    T load(std::memory_order order) const { return falter(), value.load(order); }
    void store(T next, std::memory_order order) { falter(), value.store(next, order); }
    T exchange(T next, std::memory_order order) { return falter(), value.exchange(next, order); }
    bool compare_exchange_weak(T& expected, T next, std::memory_order success, std::memory_order failure) {
        return falter(), value.compare_exchange_weak(expected, next, success, failure);
    }
};

inline constexpr std::uint64_t journal_max = 6'000'000, log_max = 3'000'000, windows_max = 2'000, logs_max = 16;
inline constexpr std::uint64_t take_max = 100, skip_max = 16, slot_count = 4;

// The IDs of range r lie in a zone of their own, counted from one of four anchors: 0, both ends of int64, and -1.
inline constexpr std::int64_t zone = 64;

inline std::int64_t zone_begin(std::uint64_t r) {
    const auto q = std::int64_t(r / 1024 * 256 + r % 256);
    switch (r / 256 % 4) {
        case 0:
            return q * zone;
        case 1:
            return INT64_MIN + q * zone;
        case 2:
            return -(q + 1) * zone;
        default:
            return INT64_MAX - (q + 1) * zone + 1;
    }
}

inline std::uint64_t range_of(std::int64_t id) {
    const std::int64_t quarter = std::int64_t{1} << 62;
    const std::uint64_t anchor = id >= quarter ? 3 : id >= 0 ? 0 : id >= -quarter ? 2 : 1;
    const std::int64_t distance = anchor == 3   ? INT64_MAX - id
                                  : anchor == 0 ? id
                                  : anchor == 2 ? -1 - id
                                                : id - INT64_MIN;
    const auto q = std::uint64_t(distance / zone);
    return q / 256 * 1024 + anchor * 256 + q % 256;
}

inline Range random_range(std::uint64_t r) {
    const std::int64_t begin = zone_begin(r);
    const bool descending = dice.below(2) != 0;
    std::int64_t step = 1, count = zone;
    if (dice.below(2) == 0) {
        step = 1 + std::int64_t(dice.below(4));
        count = 1 + std::int64_t(dice.below(dice.below(2) ? 3 : std::uint64_t(zone / step)));
    }
    return {descending ? begin + (zone - 1) : begin, descending ? -step : step, std::uint64_t(count)};
}

inline std::int64_t id_at(const Range& range, std::uint64_t k) {
    return std::int64_t(std::uint64_t(range.first) + k * std::uint64_t(range.step));
}

struct Log {
    std::atomic<std::uint64_t> entries, skipped;
    Range taken[log_max];
};

// Lies in memory that all processes share.
struct Shared {
    std::atomic<std::uint64_t> generation, ranges, abandoned, faults, closes, stop, publisher_done;
    Range journal[journal_max];  // plain memory: ThreadSanitizer sees whether take() orders it
    Log logs[logs_max];

    void fault(const char* what, std::int64_t id) {
        if (faults.fetch_add(1) == 0) std::fprintf(stderr, "FAULT: %s: %lld\n", what, static_cast<long long>(id));
        stop = 1;
    }
    bool is_published(std::int64_t id) const {
        const std::uint64_t r = range_of(id);
        if (r >= journal_max || journal[r].count == 0) return false;
        const Range& range = journal[r];
        const std::int64_t distance = id - range.first;
        return distance % range.step == 0 && distance / range.step >= 0 &&
               std::uint64_t(distance / range.step) < range.count;
    }
};

struct Outcome {
    std::uint64_t ranges = 0, taken = 0, skipped = 0, left = 0, closes = 0, taker_deaths = 0, publisher_deaths = 0;
    std::int64_t lost = 0;
    std::uint64_t excused = 0;  // what the deaths may have lost, or logged in part
    std::uint64_t faults = 0;
};

template <unsigned offset_bits>
class Hammer {
 public:
    using TestWindow = Window<NervousAtomic, offset_bits>;

    Hammer() {
        shared_ = static_cast<Shared*>(
            ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        file_ = int(::memfd_create("window-hammer", MFD_CLOEXEC));
        if (shared_ == MAP_FAILED || file_ < 0 || ::ftruncate(file_, window_bytes * windows_max) != 0) std::abort();
    }
    ~Hammer() {
        ::munmap(shared_, sizeof(Shared));
        ::close(file_);
    }
    Hammer(const Hammer&) = delete;

    Shared& shared() { return *shared_; }

    // All windows, mapped by the caller's process itself: at another address in each.
    class Mapping {
     public:
        explicit Mapping(const Hammer& hammer)
            : bytes_{static_cast<std::byte*>(
                  ::mmap(nullptr, window_bytes * windows_max, PROT_READ | PROT_WRITE, MAP_SHARED, hammer.file_, 0))} {}
        ~Mapping() { ::munmap(bytes_, window_bytes * windows_max); }
        Mapping(const Mapping&) = delete;
        auto& header(std::uint64_t generation) const {
            return *reinterpret_cast<typename TestWindow::Header*>(bytes_ + window_bytes * generation);
        }
        TestWindow window(std::uint64_t generation) const {
            auto& head = header(generation);
            return {head, {reinterpret_cast<typename TestWindow::Slot*>(&head + 1), slot_count}};
        }

     private:
        std::byte* bytes_;
    };

    void take_until_stopped(const Mapping& map, Log& log, std::uint64_t seed) {
        dice.state = seed;
        nervous = true;
        std::uint64_t generation = shared_->generation;
        TestWindow window = map.window(generation);
        Range out[8];
        while (shared_->faults == 0 && log.entries + 8 < log_max) {
            const bool draining = shared_->publisher_done != 0;
            const std::uint64_t n = draining ? 1 : 1 + dice.below(dice.below(8) == 0 ? take_max : 8);
            const std::uint64_t kind = draining ? 0 : dice.below(4);
            const Taken taken = kind == 0   ? window.take(n, {out, 1 + dice.below(8)}, true)
                                : kind == 1 ? window.take_consecutive(n, skip_max, out[0])
                                            : window.take(n, {out, 1 + dice.below(8)});
            if (taken.result == TakeResult::closed) {
                window = map.window(generation = shared_->generation);
                if (draining && shared_->stop) break;
            }
            if (taken.result == TakeResult::dry && draining) break;
            if (taken.result == TakeResult::taken)
                write_log(log, taken, out, n, kind == 0);
            else
                sched_yield();
        }
        shared_->stop = 1;
    }

    void publish_until_stopped(const Mapping& map, std::uint64_t seed) {
        dice.state = seed;
        nervous = true;
        std::uint64_t generation = shared_->generation;
        if (map.window(generation).closed()) generation = rotate(map, generation);  // died before it announced the next
        TestWindow window = map.window(generation);
        if (!window.sound()) shared_->fault("unsound window on adoption", std::int64_t(generation));
        while (!shared_->stop && shared_->ranges + 1 < journal_max) {
            const std::uint64_t r = shared_->ranges++;  // a range that was begun is never begun again
            Range range = shared_->journal[r] = random_range(r);
            while (range.count != 0 && !shared_->stop) {
                const std::uint64_t published = window.publish(range);
                range = {id_at(range, published), range.step, range.count - published};
                if (window.out_of_tickets() || dice.below(10'000) == 0)
                    window = map.window(generation = rotate(map, generation));
                if (dice.below(20'000) == 0) window.drain([&](const Range& rest) { shared_->abandoned += rest.count; });
                if (dice.below(16) == 0) window.wake_when_left(dice.below(200));
                if (published == 0) sched_yield();
                if (dice.below(500) == 0) ::usleep(200);
            }
            shared_->abandoned += range.count;
        }
        shared_->stop = 1;
        shared_->publisher_done = 1;
    }

    // Holds the logs against the journal.
    Outcome check(std::uint64_t taker_deaths, std::uint64_t publisher_deaths) {
        Outcome all;
        all.taker_deaths = taker_deaths, all.publisher_deaths = publisher_deaths;
        all.ranges = shared_->ranges, all.closes = shared_->closes;
        all.left = Mapping{*this}.window(shared_->generation).left();
        std::vector<std::uint64_t> base(all.ranges + 1);
        for (std::uint64_t r = 0; r < all.ranges; ++r) base[r + 1] = base[r] + shared_->journal[r].count;
        std::vector<bool> seen(base.back());
        for (Log& log : shared_->logs) {
            all.skipped += log.skipped;
            std::uint64_t earliest = 0;
            for (std::uint64_t e = 0; e < log.entries; ++e)
                all.taken += check_range(log.taken[e], base, seen, earliest);
        }
        all.lost = std::int64_t(base.back() - shared_->abandoned - all.taken - all.skipped - all.left);
        all.excused = taker_deaths * (take_max + skip_max) + publisher_deaths * std::uint64_t(zone) * (slot_count + 1);
        if (all.lost < -std::int64_t(all.excused)) shared_->fault("more taken than published", all.lost);
        if (all.lost > std::int64_t(all.excused)) shared_->fault("lost IDs", all.lost);
        all.faults = shared_->faults;
        return all;
    }

 private:
    static constexpr std::size_t window_bytes = 8192;

    void write_log(Log& log, const Taken& taken, const Range* out, std::uint64_t n, bool some_will_do) {
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < taken.ranges; ++i) {
            const Range& range = out[i];
            count += range.count;
            if (range.count > take_max) return shared_->fault("more than asked for, first", range.first);
            for (std::uint64_t k = 0; k < range.count; ++k)
                if (!shared_->is_published(id_at(range, k)))
                    return shared_->fault("not a published ID", id_at(range, k));
            log.taken[log.entries] = range;
            log.entries.store(log.entries + 1, std::memory_order_release);
        }
        log.skipped += taken.skipped;
        if (count != taken.count || count == 0 || count > n || (count < n && !some_will_do))
            shared_->fault("wrong amount", std::int64_t(count));
    }

    std::uint64_t check_range(const Range& range, const std::vector<std::uint64_t>& base, std::vector<bool>& seen,
                              std::uint64_t& earliest) {
        for (std::uint64_t k = 0; k < range.count; ++k) {
            const std::int64_t id = id_at(range, k);
            if (!shared_->is_published(id)) return shared_->fault("not a published ID", id), k;
            const Range& journal = shared_->journal[range_of(id)];
            const std::uint64_t index = base[range_of(id)] + std::uint64_t((id - journal.first) / journal.step);
            if (seen[index]) shared_->fault("taken twice", id);
            if (index < earliest) shared_->fault("out of order", id);
            seen[index] = true;
            earliest = index + 1;
        }
        return range.count;
    }

    std::uint64_t rotate(const Mapping& map, std::uint64_t generation) {
        std::vector<Range> rest;
        map.window(generation).close([&](const Range& range) { rest.push_back(range); });
        shared_->closes += 1;
        if (++generation == windows_max) return shared_->stop = 1, generation - 1;
        TestWindow next = map.window(generation);
        if (auto& header = map.header(generation); !next.sound() || header.limit.value == 0) {
            // Fresh, or a publisher died right here. Some windows begin close to the end of the tickets.
            const std::uint64_t distance = (50 + dice.below(2000)) * TestWindow::slot_ids_max;
            const std::uint64_t start = dice.below(3) == 0 ? TestWindow::limit_max - distance : 0;
            header.cursor.value = start;
            header.limit.value = start;
        }
        for (const Range& range : rest)
            if (next.publish(range) != range.count) shared_->fault("no room for the rest", range.first);
        shared_->generation = generation;
        return generation;
    }

    Shared* shared_;
    int file_;
};

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace next_id::hammer
