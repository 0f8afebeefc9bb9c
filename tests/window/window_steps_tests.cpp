// Death between any two instructions, of which chance meets few: a child is stepped through an operation, and after
// each of its instructions the parent looks at what a successor would find if the child died there.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <vector>

#include "protocol/window_layout.h"
#include "sidecar/window/window_source.h"

namespace {

using namespace next_id;
using W = Window<>;

struct Steps {
    struct Memory {
        W::Header header;
        std::array<W::Slot, 2> slots;
    };
    Memory* const memory = static_cast<Memory*>(
        ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    W window{memory->header, memory->slots};

    ~Steps() { ::munmap(memory, sizeof(Memory)); }

    // `holds` after each instruction of `work`.
    static void step_through(const std::function<void()>& work, const std::function<bool()>& holds) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
            ::raise(SIGSTOP);
            work();
            ::_exit(0);
        }
        std::uint64_t steps = 0, broken = 0;
        int status = 0;
        while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
            broken += !holds();
            ++steps;
            ::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
        }
        BOOST_TEST_MESSAGE(steps << " instructions");
        BOOST_TEST(status == 0, "the child cannot be traced, or failed");
        BOOST_TEST(steps > 20u);
        BOOST_TEST(broken == 0u, "it does not hold after " << broken << " of " << steps << " instructions");
    }

    // What a successor gives out: all that is left.
    std::vector<Range> left() const {
        Memory copy{};
        copy.header.cursor = memory->header.cursor.load();
        copy.header.limit = memory->header.limit.load();
        for (std::size_t i = 0; i < copy.slots.size(); ++i) {
            copy.slots[i].first = memory->slots[i].first.load();
            copy.slots[i].step = memory->slots[i].step.load();
            copy.slots[i].count = memory->slots[i].count.load();
        }
        std::vector<Range> ranges;
        W{copy.header, copy.slots}.drain([&](const Range& range) { ranges.push_back(range); });
        return ranges;
    }
    bool left_is_one_of(const std::vector<std::vector<Range>>& allowed) const {
        return window.sound() && std::ranges::find(allowed, left()) != allowed.end();
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_steps_tests, Steps)

BOOST_AUTO_TEST_CASE(a_publisher_that_dies_has_published_a_range_or_not) {
    window.publish({1, 1, 1});
    window.publish({10, 10, 2});
    Range one;
    BOOST_TEST(window.take(1, {&one, 1}).count == 1u);
    step_through(
        [&] {
            window.publish({100, -1, 3});
        },
        [&] {
            return left_is_one_of({{{10, 10, 2}}, {{10, 10, 2}, {100, -1, 3}}});
        });
    BOOST_TEST(window.left() == 5u);
}

BOOST_AUTO_TEST_CASE(a_taker_that_dies_has_taken_all_it_asked_for_or_nothing) {
    window.publish({1, 1, 2});
    window.publish({10, 10, 3});
    step_through(
        [&] {
            std::array<Range, 2> out;
            window.take(3, out);
        },
        [&] {
            return left_is_one_of({{{1, 1, 2}, {10, 10, 3}}, {{20, 10, 2}}});
        });
    BOOST_TEST(window.left() == 2u);
}

BOOST_AUTO_TEST_CASE(a_publisher_that_dies_has_closed_the_window_or_not) {
    window.publish({1, 1, 2});
    step_through([&] { window.close([](const Range&) {}); },
                 [&] {
                     return window.closed() || left_is_one_of({{{1, 1, 2}}});
                 });
    BOOST_TEST(window.closed());
}

BOOST_AUTO_TEST_CASE(a_mark_never_covers_less_than_it_did_while_it_is_written) {
    WindowOrigin& origin = memory->header.origin;
    const auto write = [&](const Mark& mark) { return [&origin, mark] { write_mark(origin, mark); }; };
    const auto covers = [&](std::int64_t lowest, std::int64_t highest) {
        const Mark mark = read_mark(origin);
        return mark_is_sound(origin) && mark.direction == 1 && mark.lowest <= lowest && mark.highest >= highest;
    };
    step_through(write({1, 100, 200, 200}), [&] { return read_mark(origin) == Mark{} || covers(100, 200); });
    BOOST_TEST(covers(100, 200));
    step_through(write({1, 50, 300, 300}), [&] { return covers(100, 200); });
    BOOST_TEST(covers(50, 300));
    step_through(write({1, 50, 300, 300, true}), [&] { return covers(50, 300); });
    BOOST_TEST(read_mark(origin).latched);
    step_through(write({1, 50, 300, 250, false}), [&] { return covers(50, 300); });
    BOOST_TEST(!read_mark(origin).latched);
    step_through(write({}), [&] { return read_mark(origin).direction == 0 || covers(50, 300); });
}

BOOST_AUTO_TEST_CASE(an_identity_is_not_known_before_it_is_whole) {
    WindowOrigin& origin = memory->header.origin;
    const SourceIdentity identity{7, 8, 9};
    step_through([&] { write_identity(origin, identity); },
                 [&] { return read_identity(origin) == SourceIdentity{} || read_identity(origin) == identity; });
    BOOST_TEST(bool(read_identity(origin) == identity));
}

BOOST_AUTO_TEST_SUITE_END()
