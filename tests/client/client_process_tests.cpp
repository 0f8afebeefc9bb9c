#include "protocol/client/process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/client/in_a_fork.h"

namespace next_id::test {
namespace {

using client::process_number;
using client::process_word;

// Without what glibc and pthread_atfork() do around it.
pid_t bare_clone() {
    return pid_t(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

struct Belonging {
    explicit Belonging(int& abandoned_before) : abandoned{abandoned_before} {}
    void abandon() { ++abandoned; }
    int& abandoned;
    int value = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(client_process_tests)

BOOST_AUTO_TEST_CASE(a_child_has_another_number_however_it_was_made) {
    const std::uint64_t mine = process_number();
    BOOST_TEST(mine != 0u);
    for (pid_t (*const make)() : {+[] { return ::fork(); }, &bare_clone}) {
        const int outcome = in_a_fork(
            [&] {
                if (process_word() != 0) return 1;  // it knows by itself, before anyone asks
                const std::uint64_t child = process_number();
                if (child == mine || child == 0 || process_number() != child || process_word() != child) return 2;
                return in_a_fork([&] { return process_number() == mine || process_number() == child ? 3 : 0; });
            },
            make);
        BOOST_TEST(outcome == 0);
    }
    BOOST_TEST(process_number() == mine);
    BOOST_TEST(process_word() == mine);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_the_parent_is_left_alone_by_the_child) {
    client::PerProcess<Belonging> mine;
    int abandoned = 0;
    mine.get(std::ref(abandoned)).value = 7;
    const int outcome = in_a_fork([&] {
        Belonging& child = mine.get(std::ref(abandoned));
        if (child.value != 0 || abandoned != 1) return 1;
        child.value = 8;
        return &mine.get(std::ref(abandoned)) == &child && abandoned == 1 ? 0 : 2;
    });
    BOOST_TEST(outcome == 0);
    BOOST_TEST(mine.get(std::ref(abandoned)).value == 7);
    BOOST_TEST(abandoned == 0);
}

BOOST_AUTO_TEST_CASE(a_child_that_only_drops_it_abandons_it) {
    int abandoned = 0;
    auto mine = std::make_unique<client::PerProcess<Belonging>>();
    mine->get(std::ref(abandoned));
    BOOST_TEST(in_a_fork([&] {
                   mine.reset();
                   return abandoned;
               }) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
