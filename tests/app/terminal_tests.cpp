#include "sidecar/app/terminal.h"

#include <boost/test/unit_test.hpp>

namespace next_id {

BOOST_AUTO_TEST_SUITE(terminal_tests)

BOOST_AUTO_TEST_CASE(text_is_drawn_from_the_corner_over_what_was_there) {
    BOOST_TEST(drawn("one\ntwo\n", {}) == "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[J");
    BOOST_TEST(drawn("", {}) == "\x1b[H\x1b[J");
}

BOOST_AUTO_TEST_CASE(a_line_is_cut_to_the_width_by_characters_and_not_by_bytes) {
    BOOST_TEST(drawn("abcdef\n", {.rows = 5, .columns = 3}) == "\x1b[Habc\x1b[K\r\n\x1b[J");
    BOOST_TEST(drawn("▁▂▃▄\n", {.rows = 5, .columns = 3}) == "\x1b[H▁▂▃\x1b[K\r\n\x1b[J");
    BOOST_TEST(drawn("▁▂▃\n", {.rows = 5, .columns = 3}) == "\x1b[H▁▂▃\x1b[K\r\n\x1b[J");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_counted_and_the_screen_never_scrolls) {
    const std::string three = drawn("1\n2\n3\n4\n", {.rows = 4, .columns = 80});
    BOOST_TEST(three == "\x1b[H1\x1b[K\r\n2\x1b[K\r\n... 2 more lines: make the window higher\x1b[K\r\n\x1b[J");
    BOOST_TEST(drawn("1\n2\n3\n", {.rows = 4, .columns = 80}) == "\x1b[H1\x1b[K\r\n2\x1b[K\r\n3\x1b[K\r\n\x1b[J");
}

BOOST_AUTO_TEST_CASE(a_terminal_is_told_nothing_by_what_is_shown) {
    const std::string hostile = "relation \"\x1b]0;title\x07\" does not\rexist\n";
    BOOST_TEST(harmless(hostile) == "relation \"\\x1b]0;title\\x07\" does not\\rexist\n");
    BOOST_TEST(drawn(hostile, {}).find("]0;title\\x07") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
