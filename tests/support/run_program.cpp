#include "tests/support/run_program.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

namespace next_id::test {

pid_t start_program(const std::vector<std::string>& command, int output, std::optional<ProgramUser> user,
                    int death_signal) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
    if (child > 0) return child;

    // Boost.Test's handlers and masks are not the child's; the death signal is set last, since a change of user clears
    // it.
    signal(SIGPIPE, SIG_DFL);
    if (user && (setgroups(0, nullptr) != 0 || setgid(user->gid) != 0 || setuid(user->uid) != 0)) _exit(127);
    prctl(PR_SET_PDEATHSIG, death_signal);
    if (getppid() != parent) _exit(127);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(output, 1);
    dup2(output, 2);
    if (user && chdir("/") != 0) _exit(127);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

ProgramResult run_program(const std::vector<std::string>& command, std::optional<ProgramUser> user) {
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
    const pid_t child = start_program(command, pipe_ends[1], user);
    close(pipe_ends[1]);

    ProgramResult result{};
    char bytes[4096];
    for (ssize_t n; (n = read(pipe_ends[0], bytes, sizeof bytes)) > 0;) result.output.append(bytes, std::size_t(n));
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (result.exit_code == 127) throw std::runtime_error{"cannot run " + command[0] + ": " + result.output};
    return result;
}

}  // namespace next_id::test
