#include "protocol/client/process.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/client/in_a_fork.h"

namespace next_id::test {
namespace {

using client::process_number;
using client::process_word;

// The kernel that this binary has under it: as it is, or one that does not know how to empty a page in children.
constexpr char kernel_variable[] = "NEXT_ID_TEST_KERNEL";
bool kernel_is(const char* kernel) {
    const char* const is = std::getenv(kernel_variable);
    return is != nullptr && std::strcmp(is, kernel) == 0;
}

// 0 where the number has to be asked for.
bool shows(std::uint64_t number) {
    return process_word() == (std::getenv(kernel_variable) == nullptr ? number : 0);
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
                if (child == mine || child == 0 || process_number() != child || !shows(child)) return 2;
                return in_a_fork([&] { return process_number() == mine || process_number() == child ? 3 : 0; });
            },
            make);
        BOOST_TEST(outcome == 0);
    }
    BOOST_TEST(process_number() == mine);
    BOOST_TEST(shows(mine));
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

BOOST_AUTO_TEST_CASE(all_this_holds_on_kernels_that_do_not_help) {
    if (std::getenv(kernel_variable) != nullptr) return;
    for (const char* const kernel : {"refuses advice", "ignores advice"}) {
        const int outcome = in_a_fork([&] {
            ::setenv(kernel_variable, kernel, 1);
            ::execl("/proc/self/exe", "pure_tests", "--run_test=client_process_tests,client_id_pool_tests",
                    "--catch_system_error=no", nullptr);
            return 127;
        });
        BOOST_TEST(outcome == 0, kernel);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test

// In place of the C library's.
extern "C" int madvise(void* at, std::size_t size, int advice) noexcept {
    if (next_id::test::kernel_is("ignores advice")) return 0;
    if (next_id::test::kernel_is("refuses advice") && advice == MADV_WIPEONFORK) return errno = EINVAL, -1;
    return int(::syscall(SYS_madvise, at, size, advice));
}
