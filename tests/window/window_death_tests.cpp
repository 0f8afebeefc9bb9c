// Sidecars that are killed at any moment, while they open, publish, take and discard, one after the other; and a client
// that keeps taking from whatever window has the name. NEXT_ID_SEED and NEXT_ID_HAMMER_SECONDS repeat or prolong a run.
#include <sys/wait.h>

#include <array>
#include <random>

#include "tests/window/hammer.h"
#include "tests/window/window_fixture.h"

namespace {

using namespace next_id;
using hammer::dice;

constexpr std::uint64_t ids_max = 100'000'000;

// Lies in memory that all processes share.
struct Ledger {
    std::atomic<std::uint64_t> reserved, taken, repeated, adopted, discarded, fresh;
    std::atomic<bool> stop;
    std::array<std::atomic<std::uint8_t>, ids_max> given;

    std::uint64_t opened() const { return adopted + discarded + fresh; }
    void write(std::span<const Range> ranges) {
        for (const Range& range : ranges)
            for (std::uint64_t k = 0; k < range.count; ++k, ++taken)
                if (given[std::uint64_t(range.first) + k].fetch_add(1) != 0) repeated += 1;
    }
};

struct Deaths : WindowFixture {
    Ledger* const ledger = static_cast<Ledger*>(
        ::mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const std::uint64_t seed = hammer::from_environment("NEXT_ID_SEED", std::random_device{}());

    Deaths() {
        BOOST_TEST_MESSAGE("NEXT_ID_SEED=" << seed);
        dice.state = seed;
    }
    ~Deaths() { ::munmap(ledger, sizeof(Ledger)); }

    void be_a_sidecar(bool in_another_pod) const {
        auto all = options();
        if (in_another_pod) all.pod_uid = "another pod";
        auto opened = WindowFile::open(all);
        if (!opened) ::_exit(2);
        WindowFile& file = **opened;
        (file.start() == WindowFile::Start::adopted     ? ledger->adopted
         : file.start() == WindowFile::Start::discarded ? ledger->discarded
                                                        : ledger->fresh) += 1;
        Range out[8];
        while (!ledger->stop && ledger->reserved + 100 < ids_max) {
            const std::uint64_t count = 1 + dice.below(50), first = ledger->reserved.fetch_add(count);
            file.set_mark({1, 0, std::int64_t(first + count), 0});
            file.publish({std::int64_t(first), 1, count});
            const Taken taken = file.take(1 + dice.below(40), out, true);
            if (taken.result == TakeResult::taken) ledger->write({out, taken.ranges});
            if (dice.below(50) == 0 && !file.discard()) ::_exit(3);
        }
    }

    void be_a_client() const {
        while (!ledger->stop) {
            const FileDescriptor opened{::open(window_path().c_str(), O_RDWR | O_CLOEXEC)};
            if (!opened) {
                ::sched_yield();
                continue;
            }
            const std::size_t size = Window<>::size_of_file(8);
            void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), 0);
            auto window = Window<>::in({static_cast<std::byte*>(bytes), size});
            if (!window) ::_exit(4);  // a file of the right name is whole
            for (Range out; !ledger->stop;) {
                const Taken taken = window->take(1 + dice.below(3), {&out, 1}, true);
                if (taken.result == TakeResult::taken) ledger->write({&out, 1});
                if (taken.result == TakeResult::dry) ::sched_yield();
                if (taken.result == TakeResult::closed) break;
            }
            ::munmap(bytes, size);
        }
    }

    // Or has ended.
    void wait_until_opened(pid_t sidecar, std::uint64_t opened_before) const {
        while (ledger->opened() == opened_before) {
            siginfo_t ended{};
            if (::waitid(P_PID, id_t(sidecar), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0) return;
            ::sched_yield();
        }
    }

    template <class Work>
    pid_t start(Work work) {
        return in_a_child([&, own_seed = dice()] {
            dice.state = own_seed;
            work();
        });
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_death_tests, Deaths)

BOOST_AUTO_TEST_CASE(sidecars_killed_at_any_moment_leave_windows_that_give_no_id_twice) {
    const std::chrono::seconds length{hammer::from_environment("NEXT_ID_HAMMER_SECONDS", 2)};
    const auto end = std::chrono::steady_clock::now() + length;
    const pid_t client = start([this] { be_a_client(); });
    std::uint64_t deaths = 0, wrong_ends = 0;
    while (std::chrono::steady_clock::now() < end || ledger->adopted == 0 || ledger->taken == 0) {
        const bool in_another_pod = dice.below(10) == 0;
        const std::uint64_t opened_before = ledger->opened();
        const pid_t sidecar = start([&] { be_a_sidecar(in_another_pod); });
        // Its life: from its birth, or, so that a slow machine sees such deaths as well, from when it has its window.
        if (dice.below(2)) wait_until_opened(sidecar, opened_before);
        ::usleep(unsigned(dice.below(dice.below(2) ? 10'000 : 1'000)));
        ::kill(sidecar, SIGKILL);
        int status;
        ::waitpid(sidecar, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            ++deaths;
        else
            ++wrong_ends;
    }
    ledger->stop = true;
    int status;
    ::waitpid(client, &status, 0);
    BOOST_TEST_MESSAGE("reserved " << ledger->reserved << ", taken " << ledger->taken << ", deaths " << deaths
                                   << ", adopted " << ledger->adopted << ", discarded " << ledger->discarded
                                   << ", fresh " << ledger->fresh);
    BOOST_TEST(status == 0);
    BOOST_TEST(wrong_ends == 0u);
    BOOST_TEST(ledger->repeated == 0u, ledger->repeated << " IDs given twice with NEXT_ID_SEED=" << seed);
    BOOST_TEST(ledger->taken > 0u);
    BOOST_TEST(ledger->adopted > 0u);
    const auto file = open_window(options());
    BOOST_TEST(file->mark().highest <= std::int64_t(ledger->reserved));
}

BOOST_AUTO_TEST_SUITE_END()
