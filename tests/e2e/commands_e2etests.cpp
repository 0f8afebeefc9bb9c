// The program's other commands, as a shell script calls them.
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <optional>
#include <sstream>
#include <utility>

#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

std::string numbers(int first, int last) {
    std::ostringstream text;
    for (int id = first; id <= last; ++id) text << id << '\n';
    return text.str();
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

struct CommandsFixture {
    std::string first = new_sequence(), second = new_sequence("START 501");
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", first + "," + second}}};

    ProgramResult get(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "get");
        return run_next_id(arguments, {{"NEXT_ID_SOCKET", sidecar.socket()}});
    }
    ProgramResult check(std::vector<std::string> arguments = {}) const {
        arguments.insert(arguments.begin(), "check");
        return run_next_id(arguments, {{"NEXT_ID_ADMIN", sidecar.admin()}});
    }
};

// next-id status --watch, on a terminal of that size or into a pipe.
class Watch {
 public:
    Watch(const std::string& admin, std::optional<winsize> terminal) {
        int theirs = -1;
        if (terminal) {
            BOOST_REQUIRE(openpty(&ours_, &theirs, nullptr, nullptr, &*terminal) == 0);
        } else {
            int ends[2];
            BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
            ours_ = ends[0], theirs = ends[1];
        }
        fcntl(ours_, F_SETFL, O_NONBLOCK);
        pid_ = start_program({NEXT_ID_PROGRAM, "status", "--watch", "--admin", admin}, theirs);
        close(theirs);
    }
    ~Watch() {
        if (pid_ > 0) interrupt();
        close(ours_);
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    const std::string& output() {
        char bytes[4096];
        for (ssize_t n; (n = read(ours_, bytes, sizeof bytes)) > 0;) output_.append(bytes, std::size_t(n));
        return output_;
    }
    std::size_t reports() {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = output().find("next-id ", at)) != std::string::npos; ++at) ++count;
        return count;
    }
    // The exit code, as a shell tells it.
    int interrupt() {
        int status = 0;
        kill(pid_, SIGINT);
        waitpid(std::exchange(pid_, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

 private:
    int ours_ = -1;
    pid_t pid_ = -1;
    std::string output_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(commands_e2etests, CommandsFixture)

BOOST_AUTO_TEST_CASE(get_prints_ids_one_a_line) {
    sidecar.start_ready();
    BOOST_CHECK_EQUAL(get({}).output, "1\n");
    BOOST_CHECK_EQUAL(get({"-n", "3"}).output, "2\n3\n4\n");
    BOOST_CHECK_EQUAL(get({"--sequence", second}).output, "501\n");
    BOOST_CHECK_EQUAL(get({"--sequence", first, "-n", "2"}).output, "5\n6\n");
    const ProgramResult over_tcp = run_next_id({"get", "--http", sidecar.http()});
    BOOST_CHECK_EQUAL(over_tcp.output, "7\n");
    BOOST_CHECK_EQUAL(over_tcp.exit_code, 0);
}

BOOST_AUTO_TEST_CASE(get_takes_more_than_one_request_may_ask_for) {
    sidecar.start_ready();
    const ProgramResult result = get({"-n", "25000"});
    BOOST_CHECK_EQUAL(result.exit_code, 0);
    BOOST_CHECK(result.output == numbers(1, 25000));
}

BOOST_AUTO_TEST_CASE(get_asks_for_no_more_at_once_than_the_sidecar_gives) {
    sidecar.set("NEXT_ID_WINDOW_MIN", "100");
    sidecar.set("NEXT_ID_WINDOW_MAX", "500");
    sidecar.start_ready();
    const ProgramResult result = get({"-n", "2000"});
    BOOST_CHECK_EQUAL(result.exit_code, 0);
    BOOST_CHECK(result.output == numbers(1, 2000));
}

BOOST_AUTO_TEST_CASE(get_says_what_went_wrong_and_fails) {
    sidecar.set("NEXT_ID_WAIT_MAX", "200ms");
    sidecar.start_ready();
    const ProgramResult unknown = get({"--sequence", "none"});
    BOOST_CHECK_EQUAL(unknown.exit_code, 1);
    BOOST_CHECK_EQUAL(unknown.output,
                      "next-id: not found: no such sequence: 'none'. Configured: " + first + ", " + second + "\n");
    BOOST_CHECK_EQUAL(get({"-n", "0"}).exit_code, 64);
    BOOST_CHECK_EQUAL(get({"-n", "many"}).exit_code, 64);

    Outage outage;
    const ProgramResult too_few = get({"-n", "25000"});
    outage.end();
    BOOST_CHECK_EQUAL(too_few.exit_code, 1);
    BOOST_CHECK_MESSAGE(holds(too_few.output, "next-id: connect postgresql failed: "), too_few.output);
    BOOST_CHECK_MESSAGE(holds(too_few.output, "(25000 of 25000 IDs are missing)"), too_few.output);

    BOOST_CHECK_EQUAL(sidecar.stop(), 0);
    const ProgramResult away = get({});
    BOOST_CHECK_EQUAL(away.exit_code, 1);
    BOOST_CHECK_EQUAL(away.output, "next-id: there is no socket " + sidecar.socket() +
                                       ": next-id serve must be running, with the same --socket\n");
}

BOOST_AUTO_TEST_CASE(check_tells_by_its_exit_code) {
    BOOST_CHECK_EQUAL(run_next_id({"check", "--admin", "127.0.0.1:1"}).exit_code, 1);  // nobody listens
    sidecar.start_ready();
    const ProgramResult ready = check();
    BOOST_CHECK_EQUAL(ready.exit_code, 0);
    BOOST_CHECK_EQUAL(ready.output, "ready\n");
}

BOOST_AUTO_TEST_CASE(check_waits_for_a_postgresql_that_comes_up) {
    Outage outage;
    sidecar.start();
    BOOST_CHECK(sidecar.wait_for_log("no connection to PostgreSQL"));
    const ProgramResult not_ready = check();
    BOOST_CHECK_EQUAL(not_ready.exit_code, 1);
    BOOST_CHECK_MESSAGE(not_ready.output.starts_with("next-id: not ready: " + first + ": connect postgresql failed: "),
                        not_ready.output);
    BOOST_CHECK_EQUAL(check({"--wait", "300ms"}).exit_code, 1);
    outage.end();
    const ProgramResult ready = check({"--wait", "30s"});
    BOOST_CHECK_EQUAL(ready.exit_code, 0);
    BOOST_CHECK_EQUAL(ready.output, "ready\n");
}

BOOST_AUTO_TEST_CASE(status_says_whether_it_is_well) {
    sidecar.start_ready();
    const ProgramResult status = run_next_id({"status"}, {{"NEXT_ID_ADMIN", sidecar.admin()}});
    BOOST_CHECK_EQUAL(status.exit_code, 0);
    BOOST_TEST_INFO(status.output);
    BOOST_CHECK(status.output.starts_with("next-id "));
    BOOST_CHECK(holds(status.output, ": ok\n"));
    BOOST_CHECK(holds(status.output, "127.0.0.1 port " + shared_postgres().port() + ", database postgres"));
    BOOST_CHECK(holds(status.output, first + ": reserving\n"));
    const ProgramResult none = run_next_id({"status", "--admin", "127.0.0.1:1"});
    BOOST_CHECK_EQUAL(none.exit_code, 1);
    BOOST_CHECK(none.output.starts_with("next-id: no status: "));
}

BOOST_AUTO_TEST_CASE(a_watch_goes_on_until_it_is_interrupted_also_without_a_sidecar) {
    sidecar.start_ready();
    Watch watch{sidecar.admin(), {}};
    BOOST_CHECK(wait_until([&] { return watch.reports() >= 2; }));
    BOOST_CHECK_EQUAL(sidecar.stop(), 0);
    BOOST_CHECK(wait_until([&] { return holds(watch.output(), "no status: "); }));
    BOOST_CHECK_EQUAL(watch.interrupt(), 0);
    BOOST_CHECK(!holds(watch.output(), "\x1b"));
}

BOOST_AUTO_TEST_CASE(a_watch_on_a_terminal_draws_over_what_it_drew_and_never_scrolls) {
    sidecar.start_ready();
    Watch watch{sidecar.admin(), winsize{.ws_row = 6, .ws_col = 20}};
    BOOST_CHECK(wait_until([&] { return watch.reports() >= 2; }));
    BOOST_CHECK_EQUAL(watch.interrupt(), 0);
    const std::string output = watch.output();
    const std::size_t redrawn = output.find("\x1b[H", 1);
    BOOST_REQUIRE(output.starts_with("\x1b[H") && redrawn != std::string::npos);
    BOOST_CHECK_EQUAL(std::ranges::count(output.substr(0, redrawn), '\n'), 5);
    BOOST_CHECK(holds(output, " more lines:"));
}

BOOST_AUTO_TEST_CASE(version_and_help_are_printed) {
    const ProgramResult version = run_next_id({"--version"});
    BOOST_CHECK_EQUAL(version.exit_code, 0);
    BOOST_CHECK_MESSAGE(version.output.starts_with("next-id ") && version.output.ends_with("\n"), version.output);
    const ProgramResult help = run_next_id({"--help"});
    BOOST_CHECK_EQUAL(help.exit_code, 0);
    for (const char* command : {"serve", "get", "check"}) BOOST_CHECK(holds(help.output, command));
    const ProgramResult of_serve = run_next_id({"serve", "--help"});
    BOOST_CHECK_EQUAL(of_serve.exit_code, 0);
    for (const char* setting : {"--state-dir", "NEXT_ID_STATE_DIR", "PG_PASSWORD"})
        BOOST_CHECK(holds(of_serve.output, setting));
}

// In a shell, with $0 for the program and $1 for a directory.
int run_in_shell(const std::string& script, const std::string& directory, const std::string& expected = {}) {
    const ProgramResult result = run_program(
        {"/usr/bin/env", "-i", "PG_PASSWORD=", "PATH=/usr/bin:/bin", "sh", "-c", script, NEXT_ID_PROGRAM, directory});
    BOOST_CHECK_MESSAGE(holds(result.output, expected), result.output);
    return result.exit_code;
}

BOOST_AUTO_TEST_CASE(too_few_descriptors_are_told_at_the_start) {
    const char* const script =
        "ulimit -n 100; exec $0 serve --threads 64 --http none --admin none --socket $1/s --state-dir $1/t";
    BOOST_CHECK_EQUAL(run_in_shell(script, sidecar.directory(), "limit of open files (ulimit -n) is 100"), 71);
}

BOOST_AUTO_TEST_CASE(closed_standard_streams_do_no_harm) {
    const char* const script =
        "$0 serve --http none --admin none --socket $1/s --state-dir $1/t <&- >&- 2>&- & "
        "until [ -S $1/s ]; do sleep 0.05; done; kill -TERM $!; wait $!";
    BOOST_CHECK_EQUAL(run_in_shell(script, sidecar.directory()), 0);
}

BOOST_AUTO_TEST_CASE(without_an_admin_address_there_are_no_admin_tokens) {
    const char* const script =
        "$0 serve --http none --admin none --admin-token-file /nonexistent --socket $1/s --state-dir $1/t & "
        "until [ -S $1/s ] || ! kill -0 $!; do sleep 0.05; done; kill -TERM $!; wait $!";
    BOOST_CHECK_EQUAL(run_in_shell(script, sidecar.directory()), 0);
}

BOOST_AUTO_TEST_CASE(a_command_line_that_is_not_understood_is_64) {
    for (const std::vector<std::string>& line :
         {std::vector<std::string>{}, {"dance"}, {"get", "--flag"}, {"check", "--wait", "soon"}, {"get", "serve"}}) {
        const ProgramResult result = run_next_id(line);
        BOOST_CHECK_EQUAL(result.exit_code, 64);
        BOOST_CHECK_MESSAGE(result.output.starts_with("next-id: "), result.output);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
