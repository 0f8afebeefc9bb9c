#include "protocol/resp_reply.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>

namespace next_id {
namespace {

template <class Write>
std::string written(RespVersion version, Write write) {
    std::string out = "before";
    RespReply reply{version, out};
    write(reply);
    BOOST_TEST_REQUIRE(out.starts_with("before"));  // it appends
    return out.substr(6);
}

template <class Write>
void check(const std::string& resp2, const std::string& resp3, Write write) {
    BOOST_TEST(written(RespVersion::resp2, write) == resp2);
    BOOST_TEST(written(RespVersion::resp3, write) == resp3);
}

template <class Write>
void check(const std::string& both, Write write) {
    check(both, both, write);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resp_reply_tests)

BOOST_AUTO_TEST_CASE(numbers_are_exact_to_both_ends) {
    check(":1\r\n", [](RespReply& reply) { reply.integer(1); });
    check(":0\r\n", [](RespReply& reply) { reply.integer(0); });
    check(":9223372036854775807\r\n", [](RespReply& reply) { reply.integer(INT64_MAX); });
    check(":-9223372036854775808\r\n", [](RespReply& reply) { reply.integer(INT64_MIN); });
}

BOOST_AUTO_TEST_CASE(texts_are_told_in_their_kinds) {
    check("+OK\r\n", [](RespReply& reply) { reply.simple("OK"); });
    check("$0\r\n\r\n", [](RespReply& reply) { reply.bulk(""); });
    check("$3\r\na\r\n\r\n", [](RespReply& reply) { reply.bulk("a\r\n"); });
    check("$5\r\nhello\r\n", "=9\r\ntxt:hello\r\n", [](RespReply& reply) { reply.text("hello"); });
    check("$-1\r\n", "_\r\n", [](RespReply& reply) { reply.null(); });
}

BOOST_AUTO_TEST_CASE(an_error_stays_on_its_line_whatever_it_quotes) {
    check("-ERR no such thing\r\n", [](RespReply& reply) { reply.error("ERR", "no such thing"); });
    check("-ERR a  +OK  :1\r\n", [](RespReply& reply) { reply.error("ERR", "a\r\n+OK\r\n:1"); });
}

BOOST_AUTO_TEST_CASE(collections_say_how_many_follow) {
    check("*3\r\n", [](RespReply& reply) { reply.array(3); });
    check("*6\r\n", "%3\r\n", [](RespReply& reply) { reply.map(3); });
    check("*2\r\n", "~2\r\n", [](RespReply& reply) { reply.set(2); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
