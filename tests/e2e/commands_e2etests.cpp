// The program's other commands, as a shell script calls them.
#include <boost/test/unit_test.hpp>
#include <sstream>

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
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", first + "," + second}, {"NEXT_ID_WAIT_MAX", "20s"}}};

    ProgramResult get(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "get");
        return run_next_id(arguments, {{"NEXT_ID_SOCKET", sidecar.socket()}});
    }
    ProgramResult check(std::vector<std::string> arguments = {}) const {
        arguments.insert(arguments.begin(), "check");
        return run_next_id(arguments, {{"NEXT_ID_ADMIN", sidecar.admin()}});
    }
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
