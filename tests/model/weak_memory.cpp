// The real Window under the weak memory of C++, simulated by Relacy (Debian: relacy-dev): every load may see any value
// that the orders allow it to see, of the last three, and every swap may fail for nothing. What x86 and ThreadSanitizer
// cannot show, since they have no such values. A ring of two slots is full at first; a publisher publishes one range
// more and says when to wake it, or closes; takers take. Relacy's stores become visible in the order in which they ran:
// of load buffering, which C++ allows on paper, it knows nothing.
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

template <class T>
struct ModelAtomic {
    rl::atomic<T> value;
    T load(std::memory_order order) const { return value.load(of(order), $); }
    void store(T next, std::memory_order order) { value.store(next, of(order), $); }
    T exchange(T next, std::memory_order order) { return value.exchange(next, of(order), $); }
    bool compare_exchange_weak(T& expected, T next, std::memory_order success, std::memory_order failure) {
        return value.compare_exchange_weak(expected, next, of(success), $, of(failure), $);
    }
};

using W = Window<ModelAtomic, 2>;

enum class End { wake, close, drain };

template <End end, int takers, int takes, std::uint64_t amount>
struct Scenario : rl::test_suite<Scenario<end, takers, takes, amount>, 1 + takers> {
    struct Memory {
        W::Header header;
        W::Slot slots[2];
    };
    alignas(Memory) inline static std::byte bytes[sizeof(Memory)];  // a suite lies where malloc puts it: aligned less
    Memory* memory = nullptr;
    std::int64_t got[1 + takers][8];  // by the takers; first, what was given back
    int count[1 + takers] = {};
    bool found_dry = false, reached = false;
    int wakes = 0;
    std::uint64_t published = 0;

    W window() { return W{memory->header, {memory->slots, 2}}; }

    void note(unsigned whose, const Range& range) {
        RL_ASSERT(range.count <= 4);
        for (std::uint64_t k = 0; k < range.count; ++k)
            got[whose][count[whose]++] = range.first + static_cast<std::int64_t>(k) * range.step;
    }

    void before() {
        memory = std::construct_at(reinterpret_cast<Memory*>(bytes));
        auto& [header, slots] = *memory;
        for (auto* word : {&header.cursor, &header.limit, &header.wake_at}) word->store(0, std::memory_order_relaxed);
        for (W::Slot& slot : slots)
            for (auto* word : {&slot.first, &slot.step, &slot.count}) word->store(0, std::memory_order_relaxed);
        window().publish({10, 10, 2});
        window().publish({30, -1, 1});
    }

    void thread(unsigned index) {
        if (index != 0) return take(index);
        published = window().publish({40, 1, 1});  // fits when slot 0 has been left behind
        const auto keep = [this](const Range& range) { note(0, range); };
        if (end == End::wake) reached = window().wake_when_left(1);
        if (end == End::close) window().close(keep);
        if (end == End::drain) window().drain(keep);
    }

    void take(unsigned index) {
        for (int round = 0; round < takes; ++round) {
            Range out[2];
            const Taken taken = window().take(amount, {out, 2}, true);
            wakes += taken.wake;
            found_dry |= taken.result == TakeResult::dry;
            if (taken.result == TakeResult::taken)
                for (std::size_t r = 0; r < taken.ranges; ++r) note(index, out[r]);
        }
    }

    void after() {
        check_all();
        std::destroy_at(memory);
    }

    void check_all() {
        bool seen[4] = {};
        std::uint64_t total = 0;
        for (int whose = 0; whose <= takers; ++whose)
            for (int i = 0; i < count[whose]; ++i, ++total) {
                const std::int64_t id = got[whose][i];
                RL_ASSERT(id == 10 || id == 20 || id == 30 || (id == 40 && published == 1));  // none unpublished
                RL_ASSERT(!std::exchange(seen[id / 10 - 1], true));                           // none twice
            }
        if (end != End::wake) {
            RL_ASSERT(total == 3 + published);  // none lost
            return;
        }
        RL_ASSERT(total >= 3 || !found_dry);  // nobody found it dry while there were some
        const std::uint64_t wake_at = memory->header.wake_at.load(std::memory_order_relaxed);
        RL_ASSERT(memory->header.cursor.load(std::memory_order_relaxed) < wake_at || wakes == 1 ||
                  reached);  // no wake lost
        RL_ASSERT(wakes <= 1);
    }
};

int failures = 0;

template <class Suite>
void check(const char* name, rl::scheduler_type_e search, rl::iteration_t runs, unsigned switches = 0) {
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
    check<Scenario<End::wake, 1, 1, 3>>("wake, one taker", rl::sched_bound, ~0ull, 3);
    check<Scenario<End::close, 1, 1, 3>>("close, one taker", rl::sched_bound, ~0ull, 3);
    return failures != 0;
}
