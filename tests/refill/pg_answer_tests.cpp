#include "sidecar/refill/pg_answer.h"

#include <boost/test/unit_test.hpp>

namespace next_id {

BOOST_AUTO_TEST_SUITE(pg_answer_tests)

BOOST_AUTO_TEST_CASE(whatever_a_server_says_is_one_line_without_control_characters) {
    BOOST_TEST(one_line(" \n\ta  b\n\nc \n") == "a b c");
    BOOST_TEST(one_line("\x1b[31mred\x07\x7f") == "[31mred");
    BOOST_TEST(one_line("\xc3\xa4") == "\xc3\xa4");
    BOOST_TEST(one_line("").empty());
}

BOOST_AUTO_TEST_CASE(it_is_cut_where_it_is_longer_than_is_worth_keeping) {
    BOOST_TEST(one_line(std::string(1000, 'x')) == std::string(1000, 'x'));
    BOOST_TEST(one_line(std::string(8'000'000, 'x')) == std::string(999, 'x') + " ...");
    const std::string umlauts = [] {
        std::string text;
        for (int i = 0; i < 600; ++i) text += "\xc3\xa4";
        return text;
    }();
    BOOST_TEST(one_line("x" + umlauts) == "x" + umlauts.substr(0, 998) + " ...");
    BOOST_TEST(one_line(umlauts) == umlauts.substr(0, 998) + " ...");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
