#include "sidecar/config/command_line.h"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace next_id {
namespace {

using namespace std::chrono_literals;

using Arguments = std::vector<std::string>;

CommandLine parsed(const Arguments& arguments) {
    const auto line = parse_command_line(arguments);
    BOOST_TEST_REQUIRE(line.has_value(), (line ? "" : line.error().sentence));
    return *line;
}

std::string refused(const Arguments& arguments) {
    const auto line = parse_command_line(arguments);
    BOOST_TEST_REQUIRE(!line.has_value());
    BOOST_TEST(int(line.error().exit_code) == 64);
    return line.error().sentence;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(command_line_tests)

BOOST_AUTO_TEST_CASE(commands_and_flags_are_told_apart) {
    const auto serve = parsed({"serve", "--http=[::1]:8080", "--threads", "2", "--window-min", "-5"});
    BOOST_TEST((serve.command == Command::serve));
    BOOST_TEST(serve.flags.at("http") == "[::1]:8080");
    BOOST_TEST(serve.flags.at("threads") == "2");
    BOOST_TEST(serve.flags.at("window-min") == "-5");  // wrong, which load_config() says
    BOOST_TEST(serve.flags.size() == 3U);

    const auto get = parsed({"get", "-n", "25000", "--sequence", "My \"Seq\"", "--socket", "/tmp/s"});
    BOOST_TEST((get.command == Command::get && get.ids == 25000));
    BOOST_TEST(get.sequence == "My \"Seq\"");
    BOOST_TEST(get.flags.at("socket") == "/tmp/s");

    const auto check = parsed({"check", "--wait", "30s"});
    BOOST_TEST((check.command == Command::check && check.wait_max == 30s));
    BOOST_TEST(parsed({"get"}).ids == 1);

    BOOST_TEST(!parsed({"status"}).watch);
    BOOST_TEST(parsed({"status", "--watch"}).watch);
}

BOOST_AUTO_TEST_CASE(what_is_switched_on_needs_no_value) {
    const auto alone = parsed({"serve", "--socket-auth", "--rate-ids", "--threads", "2"});
    BOOST_TEST(alone.flags.at("socket-auth") == "yes");
    BOOST_TEST(alone.flags.at("rate-ids") == "yes");
    BOOST_TEST(alone.flags.at("threads") == "2");
    BOOST_TEST(parsed({"serve", "--socket-auth=no"}).flags.at("socket-auth") == "no");
    BOOST_TEST(parsed({"serve", "--socket-auth", "no", "--rate-ids"}).flags.at("socket-auth") == "no");
}

BOOST_AUTO_TEST_CASE(a_secret_is_refused_as_a_flag_and_not_repeated) {
    for (const Arguments& arguments :
         {Arguments{"serve", "--pg-password=s3cret"}, Arguments{"serve", "--pg-password", "s3cret"}}) {
        const std::string sentence = refused(arguments);
        BOOST_TEST(sentence.starts_with("--pg-password is not taken as a flag"));
        BOOST_TEST(sentence.ends_with("set PG_PASSWORD or PG_PASSWORD_FILE instead"));
        BOOST_TEST(sentence.find("s3cret") == std::string::npos);
    }
    BOOST_TEST(refused({"serve", "--pg-conninfo=s3cret"}).ends_with("set PG_CONNINFO instead"));
    BOOST_TEST(refused({"serve", "--pgpassword=s3cret"}) ==
               "\"--pgpassword\" is not understood; next-id --help says what is allowed");
}

BOOST_AUTO_TEST_CASE(wrong_usage_is_said_in_a_sentence) {
    BOOST_TEST(refused({}) == "one command is wanted: serve, get, check or status; next-id --help says more");
    BOOST_TEST(refused({"serve", "check"}) ==
               "one command is wanted: serve, get, check or status; next-id --help says more");
    BOOST_TEST(refused({"serv"}) == "\"serv\" is not understood; next-id --help says what is allowed");
    BOOST_TEST(refused({"get", "--threads", "2"}) ==
               "\"--threads\" is not understood; next-id --help says what is allowed");
    BOOST_TEST(refused({"serve", "--threads"}) ==
               "--threads takes one value, and is given once; next-id --help says more");
    BOOST_TEST(refused({"serve", "--threads=1", "--threads=2"}) ==
               "--threads takes one value, and is given once; next-id --help says more");
    BOOST_TEST(refused({"get", "-n", "0"}) == "-n is \"0\", but takes a whole number from 1 to 1000000000000");
    BOOST_TEST(refused({"check", "--wait", "30"}) ==
               "--wait is \"30\", but takes a duration from 0s to 24h, such as 500ms, 5s or 2m");
}

BOOST_AUTO_TEST_CASE(version_and_help_are_printed_instead) {
    BOOST_TEST(parsed({"--version"}).print == "next-id " NEXT_ID_VERSION "\n");
    for (const char* command : {"serve", "get", "check"}) {
        BOOST_TEST(parsed({"--help"}).print.find(command) != std::string::npos);
        BOOST_TEST(parsed({command, "--help"}).print.find(std::string{"next-id "} + command) != std::string::npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
