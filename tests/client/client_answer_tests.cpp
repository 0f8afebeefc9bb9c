#include "protocol/client/answer.h"

#include <boost/test/unit_test.hpp>

#include "tests/client/scripted_server.h"

namespace next_id::test {
namespace {

using client::read_answer;
using client::read_ranges;
using Result = client::ReadAnswer::Result;

constexpr std::size_t body_max = 1000;

std::string body_of(const std::string& ranges) {
    return R"({"code":0,"msg":"success","data":{"count":1,"ranges":[)" + ranges + "]}}\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_answer_tests)

BOOST_AUTO_TEST_CASE(an_answer_is_read_once_it_is_whole) {
    const std::string bytes = http("503 Service Unavailable", "body", "retry-after:  7 \r\nConnection: close\r\n");
    for (std::size_t size = 0; size < bytes.size(); ++size)
        BOOST_TEST((read_answer(bytes.substr(0, size), body_max).result == Result::need_more), size);
    const auto read = read_answer(bytes, body_max);
    BOOST_TEST_REQUIRE((read.result == Result::complete));
    BOOST_TEST(read.answer.status == 503);
    BOOST_TEST(read.answer.body == "body");
    BOOST_TEST(read.answer.retry_after.count() == 7);
    BOOST_TEST(read.answer.closes);
}

BOOST_AUTO_TEST_CASE(the_connection_stays_open_unless_the_answer_says_otherwise) {
    BOOST_TEST(!read_answer(http("200 OK", ""), body_max).answer.closes);
    BOOST_TEST(!read_answer(http("200 OK", "", "Connection: keep-alive\r\n"), body_max).answer.closes);
    BOOST_TEST(read_answer("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", body_max).answer.closes);
}

BOOST_AUTO_TEST_CASE(what_is_no_answer_is_told_as_soon_as_it_can_be) {
    const std::string endless(client::head_bytes_max, 'x'), long_body(body_max + 1, 'x');
    for (const std::string& bytes :
         {std::string{"SSH-2.0-x"}, std::string{"\0", 1}, std::string{"H\n"}, std::string{"HTTP/2"},
          std::string{"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n"}, std::string{"HTTP/1.1 100 Continue\r\n\r\n"},
          std::string{"HTTP/1.1\r\n\r\n"}, std::string{"HTTP/1.1 200 OK\r\n\r\n1"},
          std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
          std::string{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"},
          std::string{"HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n1"},
          std::string{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n1"},
          std::string{"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\n"}, "HTTP/1.1 200 " + endless,
          http("200 OK", long_body), http("200 OK", "1") + "1", http("200 OK", "1") + http("200 OK", "2")}) {
        const auto read = read_answer(bytes, body_max);
        BOOST_TEST((read.result == Result::broken), bytes.substr(0, 60));
        BOOST_TEST(*read.problem != '\0');
    }
}

BOOST_AUTO_TEST_CASE(ranges_are_exact_to_both_ends_of_64_bits) {
    const auto ranges =
        read_ranges(body_of("[9223372036854775806,9223372036854775807],[-9223372036854775808,-9223372036854775808],"
                            "[-1,-7,-3],[9007199254740993,9007199254740997,2]"),
                    9);
    BOOST_TEST_REQUIRE(ranges.has_value());
    BOOST_TEST_REQUIRE(ranges->size() == 4u);
    const auto is = [&](std::size_t i, std::int64_t first, std::int64_t step, std::uint64_t count) {
        const IdRange& range = (*ranges)[i];
        return range.first == first && range.step == step && range.count == count;
    };
    BOOST_TEST(is(0, INT64_MAX - 1, 1, 2));
    BOOST_TEST(is(1, INT64_MIN, 1, 1));
    BOOST_TEST(is(2, -1, -3, 3));
    BOOST_TEST(is(3, 9007199254740993, 2, 3));
}

BOOST_AUTO_TEST_CASE(what_is_not_plainly_the_ranges_that_were_asked_for_is_no_ids) {
    for (const char* ranges : {"",
                               "[1,1]",
                               "[1,3]",
                               "[1,2],",
                               ",[1,2]",
                               "[1,1],[1,2]",
                               "[2,1]",
                               "[1,2,0]",
                               "[1,2,-1]",
                               "[1,2,2]",
                               "[1,3,3]",
                               "[1.0,2]",
                               "[1e0,2]",
                               "[\"1\",\"2\"]",
                               "[+1,2]",
                               "[ 1,2]",
                               "[1,2",
                               "1,2]",
                               "[1,9223372036854775808]",
                               "[-9223372036854775808,9223372036854775807]",
                               "[-9223372036854775809,2]",
                               "[1,2,1,1]",
                               "[1]",
                               "[]",
                               "[1,,2]"})
        BOOST_TEST(!read_ranges(body_of(ranges), 2).has_value(), ranges);
    BOOST_TEST(read_ranges(body_of("[1,2]"), 2).has_value());
    for (const char* body :
         {"", "x", "{", "{\"ranges\":[", "\"ranges\":[[1,2]]}", "{\"ranges\":[[1,2]", "{\"ids\":[1,2]}"})
        BOOST_TEST(!read_ranges(body, 2).has_value(), body);
}

BOOST_AUTO_TEST_CASE(the_longest_answer_has_room) {
    const std::string longest = "[-9223372036854775808,-9223372036854775807,9223372036854775807],";
    for (const std::uint64_t count : {1, 3, 1000})
        BOOST_TEST(body_of("").size() + count * longest.size() <= client::ranges_bytes_max(count));
}

BOOST_AUTO_TEST_CASE(an_error_is_read_as_it_was_said) {
    BOOST_TEST(client::read_error(R"({"code":503,"msg":"query seq failed","error":"no \"x\\y\""})") ==
               R"(query seq failed: no "x\y")");
    BOOST_TEST(client::read_error("<html>\r\n\x1b[31m") == "<html>???[31m");
    BOOST_TEST(client::read_error(std::string(1000, 'x')).size() == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
