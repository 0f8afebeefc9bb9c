// Chance against the window: threads, and processes that die at any moment. NEXT_ID_SEED and NEXT_ID_HAMMER_SECONDS
// repeat or prolong a run.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <random>
#include <thread>

#include "tests/window/hammer.h"

namespace {

using namespace next_id;
using namespace next_id::hammer;

struct Seeded {
    const std::uint64_t seed = from_environment("NEXT_ID_SEED", std::random_device{}());
    const std::chrono::seconds length{from_environment("NEXT_ID_HAMMER_SECONDS", 2)};
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

    Seeded() {
        BOOST_TEST_MESSAGE("NEXT_ID_SEED=" << seed);
        dice.state = seed;
    }
    bool time_is_up() const { return std::chrono::steady_clock::now() - begin >= length; }
};

void report(const Seeded& run, const Outcome& outcome) {
    BOOST_TEST_MESSAGE("ranges " << outcome.ranges << ", taken " << outcome.taken << ", skipped " << outcome.skipped
                                 << ", left " << outcome.left << ", lost " << outcome.lost << " (excused "
                                 << outcome.excused << "), closes " << outcome.closes << ", takers died "
                                 << outcome.taker_deaths << ", publishers " << outcome.publisher_deaths);
    BOOST_TEST(outcome.faults == 0u, "NEXT_ID_SEED=" << run.seed << " finds a fault; the first is named above");
    BOOST_TEST(outcome.taken > 0u);
}

template <unsigned offset_bits>
void hammer_with_threads(const Seeded& run, std::size_t takers) {
    Hammer<offset_bits> hammer;
    Shared& shared = hammer.shared();
    {
        const typename Hammer<offset_bits>::Mapping map{hammer};
        std::vector<std::thread> threads;
        threads.emplace_back([&, seed = dice()] { hammer.publish_until_stopped(map, seed); });
        for (std::size_t t = 0; t < takers; ++t)
            threads.emplace_back([&, t, seed = dice()] { hammer.take_until_stopped(map, shared.logs[t], seed); });
        while (!run.time_is_up() && !shared.stop) ::usleep(1000);
        shared.stop = 1;
        for (std::thread& thread : threads) thread.join();
    }
    report(run, hammer.check(0, 0));
}

// Either the publisher is told that the level is reached already, or a taker is. To meet, both must act at the same
// moment: so one or two IDs a round, and a level that is set after a random while.
template <template <class> class Atomic>
void race_for_the_wake(const Seeded& run) {
    typename Window<Atomic>::Header header{};
    std::vector<typename Window<Atomic>::Slot> slots(4);
    Window<Atomic> window{header, slots};
    std::atomic<std::uint64_t> taken{0}, wakes{0};
    std::atomic<bool> stop{false};
    std::thread taker{[&, seed = dice()] {
        dice.state = seed;
        nervous = true;
        for (Range out; !stop;) {
            const Taken one = window.take(1 + dice.below(2), {&out, 1}, true);
            if (one.wake) wakes += 1;
            taken += one.count;
            if (one.count == 0 && dice.below(64) == 0) sched_yield();
        }
    }};
    nervous = true;
    const auto patience = run.begin + run.length + std::chrono::seconds{30};
    std::uint64_t rounds = 0, told = 0, published = 0, lost = 0, twice = 0;
    bool stuck = false;
    for (; !run.time_is_up() && !stuck; ++rounds) {
        const std::uint64_t before = wakes, delay = dice.below(4000);
        published += window.publish({std::int64_t(published), 1, 1 + dice.below(2)});
        for (std::uint64_t i = 0; i < delay; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        const bool reached = window.wake_when_left(0);
        for (std::uint64_t i = 0; taken != published && !stuck; ++i) {
            if (i % 64 == 63) sched_yield();
            if (i % 65536 == 65535) stuck = std::chrono::steady_clock::now() > patience;
        }
        told += reached;
        lost += wakes == before && !reached;
        twice += wakes > before + 1;
    }
    nervous = false;
    stop = true;
    taker.join();
    BOOST_TEST_MESSAGE("rounds " << rounds << ", reached at once " << told << ", wakes " << wakes);
    BOOST_TEST(!stuck, taken << " IDs were taken of " << published << "; NEXT_ID_SEED=" << run.seed);
    BOOST_TEST(lost == 0u, lost << " wakes were lost; NEXT_ID_SEED=" << run.seed);
    BOOST_TEST(twice == 0u);
}

// Processes of two takers each, and last a process that publishes; whoever dies is started again.
template <unsigned offset_bits>
class Processes {
 public:
    explicit Processes(Hammer<offset_bits>& hammer) : hammer_{hammer} {
        for (std::size_t p = 0; p < children_.size(); ++p) start(p);
    }

    void kill_one() {
        const std::size_t p = dice.below(children_.size());
        if (children_[p] != 0) ::kill(children_[p], SIGKILL);
    }
    void bury_the_dead() {
        int status;
        for (std::size_t p = 0; p < children_.size(); ++p)
            if (children_[p] != 0 && ::waitpid(children_[p], &status, WNOHANG) > 0) bury(p, status);
    }
    bool all_gone() const {
        return std::all_of(children_.begin(), children_.end(), [](pid_t pid) { return pid == 0; });
    }
    void kill_all() {
        for (const pid_t pid : children_)
            if (pid != 0) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0);
    }

    std::uint64_t taker_deaths = 0, publisher_deaths = 0;

 private:
    static constexpr std::size_t publisher = 3, takers_each = 2;

    void start(std::size_t p) {
        const std::uint64_t seed = dice();
        if ((children_[p] = ::fork()) != 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        deaths_allowed = true;
        const typename Hammer<offset_bits>::Mapping map{hammer_};
        if (p == publisher) hammer_.publish_until_stopped(map, seed), ::_exit(0);
        std::vector<std::thread> takers;
        for (std::size_t t = 0; t < takers_each; ++t)
            takers.emplace_back([&, &log = hammer_.shared().logs[p * takers_each + t], own_seed = seed + t * 77] {
                hammer_.take_until_stopped(map, log, own_seed);
            });
        for (std::thread& taker : takers) taker.join();
        ::_exit(0);
    }

    void bury(std::size_t p, int status) {
        children_[p] = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
            return hammer_.shared().fault("a process ended with status", status);
        p == publisher ? publisher_deaths += 1 : taker_deaths += takers_each;
        start(p);
    }

    Hammer<offset_bits>& hammer_;
    std::array<pid_t, publisher + 1> children_{};
};

template <unsigned offset_bits>
void hammer_with_processes(const Seeded& run) {
    Hammer<offset_bits> hammer;
    Shared& shared = hammer.shared();
    Processes<offset_bits> processes{hammer};
    // On a busy machine on, until some of either kind have died.
    const auto enough = [&] {
        return run.time_is_up() && processes.publisher_deaths != 0 && processes.taker_deaths != 0;
    };
    for (; !enough() && !shared.stop; ::usleep(unsigned(dice.below(4000)))) {
        if (dice.below(8) == 0) processes.kill_one();
        processes.bury_the_dead();
    }
    shared.stop = 1;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    for (; !processes.all_gone() && std::chrono::steady_clock::now() < patience; ::usleep(1000))
        processes.bury_the_dead();
    if (!processes.all_gone()) shared.fault("a process hangs", 0);
    processes.kill_all();
    report(run, hammer.check(processes.taker_deaths, processes.publisher_deaths));
    BOOST_TEST(processes.publisher_deaths > 0u);
    BOOST_TEST(processes.taker_deaths > 0u);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_hammer_tests, Seeded)

BOOST_AUTO_TEST_CASE(threads_get_no_id_twice) {
    hammer_with_threads<24>(*this, 3);
}

BOOST_AUTO_TEST_CASE(threads_get_no_id_twice_from_tiny_slots) {
    hammer_with_threads<4>(*this, 4);
}

BOOST_AUTO_TEST_CASE(no_wake_is_lost_and_none_is_said_twice) {
    race_for_the_wake<std::atomic>(*this);
}

BOOST_AUTO_TEST_CASE(no_wake_is_lost_between_any_two_accesses) {
    race_for_the_wake<NervousAtomic>(*this);
}

BOOST_AUTO_TEST_SUITE_END()

// Apart from the threads: a fork needs a process of one thread to be of use under ThreadSanitizer.
BOOST_FIXTURE_TEST_SUITE(window_process_tests, Seeded)

BOOST_AUTO_TEST_CASE(processes_that_die_at_any_moment_get_no_id_twice) {
    hammer_with_processes<24>(*this);
}

BOOST_AUTO_TEST_CASE(processes_that_die_at_any_moment_get_no_id_twice_from_tiny_slots) {
    hammer_with_processes<4>(*this);
}

BOOST_AUTO_TEST_SUITE_END()
