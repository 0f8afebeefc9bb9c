#include "protocol/resp_request.h"

#include <boost/test/unit_test.hpp>

#include "tests/protocol/resp_outcome.h"

namespace next_id {
namespace {

RespOutcome parsed(const std::string& bytes) {
    return resp_in_pieces(bytes, {});
}

// What is found, and that it is the same however the bytes are cut in two, or all apart.
std::string found(const std::string& bytes, std::size_t command_bytes_max = resp_command_bytes_max_default) {
    const RespOutcome whole = resp_in_pieces(bytes, {}, command_bytes_max);
    BOOST_TEST(resp_byte_by_byte(bytes, command_bytes_max).details == whole.details, "byte by byte: " << bytes);
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        const RespOutcome in_two = resp_in_pieces(bytes, {cut}, command_bytes_max);
        BOOST_TEST(in_two.details == whole.details, "cut at " << cut << ": " << bytes);
    }
    return whole.short_form();
}

const std::string ping = resp({"PING"});

}  // namespace

BOOST_AUTO_TEST_SUITE(resp_request_tests)

BOOST_AUTO_TEST_CASE(commands_are_arrays_of_bulk_strings) {
    BOOST_TEST(found("*1\r\n$4\r\nPING\r\n") == "PING");
    BOOST_TEST(found("*2\r\n$4\r\nINCR\r\n$13\r\nglobal_id_seq\r\n") == "INCR global_id_seq");
    BOOST_TEST(found("*1\r\n$0\r\n\r\n") == "");
    const std::string odd{"a\r\nb\0c\xff", 7};
    BOOST_TEST(found(resp({"ECHO", odd})) == "ECHO " + odd);
    BOOST_TEST(found("") == "");
}

BOOST_AUTO_TEST_CASE(commands_follow_each_other) {
    BOOST_TEST(found(ping + resp({"INCR", "a"}) + resp({"INCR", "a"}) + resp({"INCR", "b"}) + ping) ==
               "PING|INCR a|INCR a|INCR b|PING");
}

BOOST_AUTO_TEST_CASE(what_is_not_whole_is_awaited) {
    for (std::size_t bytes = 1; bytes < ping.size(); ++bytes) BOOST_TEST(found(ping.substr(0, bytes)) == "...");
    BOOST_TEST(found(ping + "*") == "PING|...");
}

BOOST_AUTO_TEST_CASE(an_empty_array_is_no_command) {
    BOOST_TEST(found("*0\r\n") == "");
    BOOST_TEST(found("*-1\r\n" + ping + "*0\r\n*0\r\n" + ping) == "PING|PING");
}

BOOST_AUTO_TEST_CASE(what_is_no_command_is_an_error_for_good) {
    const std::string star = "expected '*', got ", behind = "; send commands as arrays of bulk strings";
    for (const auto& [bytes, error] : std::vector<std::pair<std::string, std::string>>{
             {"PING\r\n", star + "'P'" + behind},
             {"POST / HTTP/1.1\r\nHost: a\r\n\r\n" + ping, star + "'P'" + behind},
             {"Host: a\r\n", star + "'H'" + behind},
             {"\r\n" + ping, star + "byte 13" + behind},
             {std::string{"\0", 1}, star + "byte 0" + behind},
             {"\x16\x03\x01", star + "byte 22" + behind},
             {"*x\r\n", "invalid multibulk length"},
             {"*\r\n", "invalid multibulk length"},
             {"*-\r\n", "invalid multibulk length"},
             {"*+1\r\n$4\r\nPING\r\n", "invalid multibulk length"},
             {"*01\r\n$4\r\nPING\r\n", "invalid multibulk length"},
             {"* 1\r\n", "invalid multibulk length"},
             {"*1 \r\n", "invalid multibulk length"},
             {"*1\n$4\nPING\n", "invalid multibulk length"},
             {"*1\rx", "invalid multibulk length"},
             {"*1234567890\r\n", "invalid multibulk length"},
             {"*65\r\n", "invalid multibulk length: a command has at most 64 arguments"},
             {"*999999999\r\n", "invalid multibulk length: a command has at most 64 arguments"},
             {"*1\r\nPING\r\n", "expected '$', got 'P'"},
             {"*1\r\n:1\r\n", "expected '$', got ':'"},
             {"*1\r\n*1\r\n$4\r\nPING\r\n", "expected '$', got '*'"},
             {"*1\r\n$x\r\n", "invalid bulk length"},
             {"*1\r\n$-1\r\n", "invalid bulk length"},
             {"*1\r\n$04\r\nPING\r\n", "invalid bulk length"},
             {"*1\r\n$4\nPING\r\n", "invalid bulk length"},
             {"*1\r\n$8181\r\n", "invalid bulk length: a command has at most 8192 bytes"},
             {"*1\r\n$999999999\r\n", "invalid bulk length: a command has at most 8192 bytes"},
             {"*1\r\n$4\r\nPINGS\r\n", "expected CR LF behind an argument"},
             {"*1\r\n$4\r\nPING\n", "expected CR LF behind an argument"},
             {"*1\r\n$4\r\nPING\rx", "expected CR LF behind an argument"},
         })
        BOOST_TEST(found(bytes) == "Protocol error: " + error);
    BOOST_TEST(found(ping + "GET") == "PING|Protocol error: " + star + "'G'" + behind);
}

BOOST_AUTO_TEST_CASE(a_command_has_its_limits_and_reaches_them) {
    const std::vector<std::string> words(resp_arguments_max, "x");
    BOOST_TEST(parsed(resp(words)).commands.at(0).size() == resp_arguments_max);
    const std::string largest(8192 - std::string_view{"*1\r\n$8179\r\n\r\n"}.size() - 1, 'x');
    BOOST_TEST(resp({largest}).size() == 8191u);
    BOOST_TEST(parsed(resp({largest + "y"})).commands.size() == 1u);
    BOOST_TEST(parsed(resp({largest + "yz"})).error.find("8192 bytes") != std::string::npos);
    BOOST_TEST(found(resp({"PING", "12345"}), 25) == "PING 12345");
    BOOST_TEST(found(resp({"PING", "12345"}) + ping, 24).find("24 bytes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_long_command_that_came_in_pieces_leaves_the_rest_alone) {
    const std::string large = resp({"ECHO", std::string(8000, 'x')});
    std::string many = large;
    for (int i = 0; i < 2000; ++i) many += ping;
    const RespOutcome outcome = resp_in_pieces(many, {4000});
    BOOST_TEST(outcome.commands.size() == 2001u);
    BOOST_TEST(outcome.details == parsed(many).details);
}

BOOST_AUTO_TEST_CASE(a_repeated_command_means_the_same_again) {
    RespParser parser;
    const std::string incr = resp({"INCR", "a"});
    for (const std::string& bytes : {incr, incr, incr + incr, resp({"INCR", "b"}), incr}) {
        std::size_t consumed = 0;
        BOOST_TEST((parser.parse(bytes, consumed) == RespParser::Result::command));
        BOOST_TEST(consumed == incr.size());
        BOOST_TEST(parser.command().size() == 2u);
        BOOST_TEST(parser.command()[1] == bytes.substr(bytes.size() - 3, 1));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
