// The real Window under the weak memory of C++, simulated by Relacy (Debian: relacy-dev): every load may see any value
// that the orders allow it to see, of the last three, and every swap may fail for nothing. What x86 and ThreadSanitizer
// cannot show, since they have no such values. A ring of two slots is full at first; a publisher publishes two ranges
// more and says when to wake it, or closes; takers take.
//
// Relacy runs each thread in program order, so it never shows a load a value that is stored later (load buffering),
// which is what a swap without release would allow: a plan made of the range that replaced the slot. Its race detector
// stands in. Before each swap a taker writes a plain word of its own, and the publisher that reuses a slot reads the
// words of all swaps that began in or before it: a race unless each of them happened before, and with it the taker's
// reads of the slot.
#include "protocol/window_layout.h"

// Relacy makes macros of assert, new and the memory orders: after all else.
#include <cstring>
#include <iostream>
#include <memory>
#include <string>

#include <relacy/relacy.hpp>
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace {

using namespace next_id;

rl::memory_order of(std::memory_order order) {
    switch (order) {
        case std::memory_order::relaxed:
            return rl::mo_relaxed;
        case std::memory_order::consume:
        case std::memory_order::acquire:
            return rl::mo_acquire;
        case std::memory_order::release:
            return rl::mo_release;
        case std::memory_order::acq_rel:
            return rl::mo_acq_rel;
        case std::memory_order::seq_cst:
            return rl::mo_seq_cst;
    }
    return rl::mo_seq_cst;
}

struct Swap {
    std::uint64_t from;
    rl::var<int>* before;  // written by its thread before it
};

// What the takers swapped, for the publisher that reuses a slot. Seen by the checks alone, so no step of the model.
struct Swaps {
    static constexpr int attempts_max = 8;  // by one thread; of more, nothing is checked
    rl::var<int> before[3][attempts_max];
    int attempts[3] = {};
    Swap done[3 * attempts_max];
    int count = 0;
};
Swaps* swaps = nullptr;

template <class T>
struct ModelAtomic {
    rl::atomic<T> value;
    T load(std::memory_order order) const { return value.load(of(order), $); }
    void store(T next, std::memory_order order) { value.store(next, of(order), $); }
    T exchange(T next, std::memory_order order) { return value.exchange(next, of(order), $); }
    bool compare_exchange_weak(T& expected, T next, std::memory_order success, std::memory_order failure) {
        const unsigned thread = rl::thread_index();
        rl::var<int>* before = nullptr;
        if (swaps->attempts[thread] < Swaps::attempts_max) {
            before = &swaps->before[thread][swaps->attempts[thread]++];
            (*before)($) = 1;
        }
        const T from = expected;
        const bool swapped = value.compare_exchange_weak(expected, next, of(success), $, of(failure), $);
        if (swapped && before != nullptr) swaps->done[swaps->count++] = {from, before};
        return swapped;
    }
};

using W = Window<ModelAtomic, 2>;

// What the threads of a suite share: a ring of two slots. Not in the suite itself, which lies where malloc puts it:
// aligned less than a window.
struct Memory {
    W::Header header;
    W::Slot slots[2];
    Swaps swaps;
    rl::var<int> reserved[2];  // plain memory that the publisher writes before it publishes 40, and 50

    Memory() {
        for (auto* word : {&header.cursor, &header.limit, &header.wake_at}) word->store(0, std::memory_order_relaxed);
        for (W::Slot& slot : slots)
            for (auto* word : {&slot.first, &slot.step, &slot.count}) word->store(0, std::memory_order_relaxed);
        ::swaps = &swaps;
    }
};
alignas(Memory) std::byte bytes[sizeof(Memory)];
Memory* memory = nullptr;

W window() {
    return W{memory->header, {memory->slots, 2}};
}

enum class End { wake, close, drain };

template <End end, int takers, int takes, std::uint64_t amount>
struct Scenario : rl::test_suite<Scenario<end, takers, takes, amount>, 1 + takers> {
    std::int64_t got[1 + takers][8];  // by the takers; first, what was given back
    int count[1 + takers] = {};
    bool found_dry = false, reached = false;
    int wakes = 0;
    std::uint64_t slots_published = 2;
    bool published[5] = {true, true, true};  // 10, 20, ...

    void note(unsigned whose, const Range& range) {
        RL_ASSERT(range.count <= 4);
        for (std::uint64_t k = 0; k < range.count; ++k)
            got[whose][count[whose]++] = range.first + static_cast<std::int64_t>(k) * range.step;
    }

    void before() {
        memory = std::construct_at(reinterpret_cast<Memory*>(bytes));
        window().publish({10, 10, 2});
        window().publish({30, -1, 1});
    }

    void thread(unsigned index) {
        if (index != 0) return take(index);
        publish(40);
        publish(50);
        const auto keep = [this](const Range& range) { note(0, range); };
        if (end == End::wake) reached = window().wake_when_left(1);
        if (end == End::close) window().close(keep);
        if (end == End::drain) window().drain(keep);
    }

    void publish(std::int64_t id) {  // fits when the slot before the last has been left behind
        memory->reserved[id / 10 - 4]($) = 1;
        if (window().publish({id, 1, 1}) == 0) return;
        published[id / 10 - 1] = true;
        const std::uint64_t end_of_replaced = (slots_published++ - 1) * W::slot_ids_max;
        for (int i = 0; i < memory->swaps.count; ++i)
            if (const Swap& swap = memory->swaps.done[i]; swap.from < end_of_replaced) (void)int((*swap.before)($));
    }

    void take(unsigned index) {
        for (int round = 0; round < takes; ++round) {
            Range out[2];
            const Taken taken = window().take(amount, {out, 2}, true);
            wakes += taken.wake;
            found_dry |= taken.result == TakeResult::dry;
            if (taken.result != TakeResult::taken) continue;
            for (std::size_t r = 0; r < taken.ranges; ++r) {
                note(index, out[r]);
                if (out[r].first >= 40) RL_ASSERT(memory->reserved[out[r].first / 10 - 4]($) == 1);
            }
        }
    }

    void after() {
        check_all();
        std::destroy_at(memory);
    }

    void check_all() {
        bool seen[5] = {};
        std::uint64_t total = 0, published_in_all = 0;
        for (const bool one : published) published_in_all += one;
        for (int whose = 0; whose <= takers; ++whose)
            for (int i = 0; i < count[whose]; ++i, ++total) {
                const std::int64_t id = got[whose][i];
                RL_ASSERT(id % 10 == 0 && 10 <= id && id <= 50 && published[id / 10 - 1]);  // none unpublished
                RL_ASSERT(!std::exchange(seen[id / 10 - 1], true));                         // none twice
            }
        if (end != End::wake) {
            RL_ASSERT(total == published_in_all);  // none lost
            return;
        }
        RL_ASSERT(total >= 3 || !found_dry);  // nobody found it dry while there were some
        const std::uint64_t wake_at = memory->header.wake_at.load(std::memory_order_relaxed);
        RL_ASSERT(memory->header.cursor.load(std::memory_order_relaxed) < wake_at || wakes == 1 ||
                  reached);  // no wake lost
        RL_ASSERT(wakes <= 1);
    }
};

// Two takers want two IDs in one range, and there are two such: neither may be refused, though one of them may read the
// range of one ID that takes the place of the first.
struct Refusal : rl::test_suite<Refusal, 3> {
    TakeResult results[3] = {};

    void before() {
        memory = std::construct_at(reinterpret_cast<Memory*>(bytes));
        window().publish({10, 10, 2});
        window().publish({50, -10, 2});
    }
    void thread(unsigned index) {
        Range out;
        if (index == 0)
            window().publish({70, 1, 1});
        else
            results[index] = window().take(2, {&out, 1}).result;
    }
    void after() {
        RL_ASSERT(results[1] == TakeResult::taken && results[2] == TakeResult::taken);
        std::destroy_at(memory);
    }
};

int failures = 0;

template <class Suite>
void check(const char* name, rl::scheduler_type_e search, rl::iteration_t runs, unsigned switches = 0) {
    if (failures != 0) return;  // one is enough
    rl::test_params params;
    params.search_type = search;
    params.iteration_count = runs;
    params.context_bound = switches;
    params.execution_depth_limit = 4000;
    std::ostream nowhere{
        nullptr};  // one that grows would free memory in the middle of things, which Relacy takes for the model's
    params.output_stream = params.progress_stream = &nowhere;
    const bool passed = rl::simulate<Suite>(params);
    std::cout << name << ", "
              << (search == rl::sched_full    ? "every execution"
                  : search == rl::sched_bound ? "at most " + std::to_string(switches) + " switches"
                                              : "at random")
              << ": " << params.stop_iteration << " executions, "
              << (passed ? "no fault" : rl::test_result_str(params.test_result)) << std::endl;
    failures += !passed;
}

}  // namespace

int main(int argc, char** argv) {
    const rl::iteration_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
    check<Scenario<End::wake, 2, 2, 1>>("wake", rl::sched_random, runs);
    check<Scenario<End::wake, 2, 1, 3>>("wake, several at once", rl::sched_random, runs);
    check<Scenario<End::close, 2, 2, 1>>("close", rl::sched_random, runs);
    check<Scenario<End::close, 2, 1, 3>>("close, several at once", rl::sched_random, runs);
    check<Scenario<End::drain, 2, 2, 1>>("drain", rl::sched_random, runs);
    check<Refusal>("refusal", rl::sched_random, runs);
    check<Scenario<End::wake, 1, 1, 3>>("wake, one taker", rl::sched_bound, ~0ull, 3);
    check<Scenario<End::close, 1, 1, 3>>("close, one taker", rl::sched_bound, ~0ull, 3);
    return failures != 0;
}
