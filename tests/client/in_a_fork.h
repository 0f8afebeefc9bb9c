// Work that a child of the process does, for tests of what a fork leaves.
#pragma once

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

namespace next_id::test {

// A fork without what glibc and pthread_atfork() do around it.
inline pid_t bare_clone() {
    return pid_t(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

// What the child's work returns, as its exit code.
template <class Work>
int in_a_fork(Work work, pid_t (*make_child)() = &::fork) {
    const pid_t child = make_child();
    if (child == 0) ::_exit(work());
    int status = -1;
    BOOST_TEST_REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace next_id::test
