#include "sidecar/api/target.h"

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

std::string decoded(std::string_view text, bool plus_is_blank = false) {
    return percent_decode(text, plus_is_blank).value_or("(nothing)");
}

std::string parameters_in(std::string_view query) {
    const auto parameters = split_query(query);
    if (!parameters) return "(nothing)";
    std::string told;
    for (const auto& [name, value] : *parameters) told += "[" + name + "=" + value + "]";
    return told;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(target_tests)

BOOST_AUTO_TEST_CASE(percent_and_two_hexadecimal_digits_are_one_byte) {
    BOOST_TEST(decoded("") == "");
    BOOST_TEST(decoded("plain") == "plain");
    BOOST_TEST(decoded("%41") == "A");
    BOOST_TEST(decoded("a%2Fb%2fc") == "a/b/c");
    BOOST_TEST(decoded("%22My%20Seq%22") == "\"My Seq\"");
    BOOST_TEST(decoded("%25") == "%");
    BOOST_TEST(decoded("%2541") == "%41");  // once, not twice
    BOOST_TEST(decoded("%c3%A9") == "\xC3\xA9");
    BOOST_TEST((decoded("%00") == std::string{'\0'}));
    BOOST_TEST((decoded("%ff") == "\xFF"));
}

BOOST_AUTO_TEST_CASE(a_percent_without_two_digits_is_nothing) {
    for (const char* broken : {"%", "%4", "a%", "ab%4", "%%", "%%41", "%g0", "%0g", "%-1", "% 1", "%4 ", "%+4", "%4%"})
        BOOST_TEST(!percent_decode(broken, false).has_value(), broken);
}

BOOST_AUTO_TEST_CASE(a_plus_is_a_blank_where_the_caller_says_so) {
    BOOST_TEST(decoded("a+b", true) == "a b");
    BOOST_TEST(decoded("a+b", false) == "a+b");
    BOOST_TEST(decoded("a%2Bb", true) == "a+b");
}

BOOST_AUTO_TEST_CASE(the_first_question_mark_ends_the_path_and_a_fragment_belongs_to_neither) {
    const auto told = [](std::string_view text) {
        const Target target = split_target(text);
        return std::string{target.path} + " | " + std::string{target.query};
    };
    BOOST_TEST(told("/next-id") == "/next-id | ");
    BOOST_TEST(told("/next-id?") == "/next-id | ");
    BOOST_TEST(told("/next-id?count=3") == "/next-id | count=3");
    BOOST_TEST(told("/a?b?c") == "/a | b?c");
    BOOST_TEST(told("/a?b#c?d") == "/a | b");
    BOOST_TEST(told("/a#b?c") == "/a | ");
    BOOST_TEST(told("") == " | ");
    BOOST_TEST(told("?") == " | ");
}

BOOST_AUTO_TEST_CASE(parameters_come_in_their_order_decoded) {
    BOOST_TEST(parameters_in("") == "");
    BOOST_TEST(parameters_in("count=3") == "[count=3]");
    BOOST_TEST(parameters_in("count=3&format=ranges%2Cstring") == "[count=3][format=ranges,string]");
    BOOST_TEST(parameters_in("b=2&a=1&b=3") == "[b=2][a=1][b=3]");
    BOOST_TEST(parameters_in("count") == "[count=]");
    BOOST_TEST(parameters_in("count=") == "[count=]");
    BOOST_TEST(parameters_in("=3") == "[=3]");
    BOOST_TEST(parameters_in("a=b=c") == "[a=b=c]");
    BOOST_TEST(parameters_in("&&a=1&") == "[a=1]");
    BOOST_TEST(parameters_in("c%6Funt=+3") == "[count= 3]");
    BOOST_TEST(parameters_in("a%26b=1") == "[a&b=1]");
}

BOOST_AUTO_TEST_CASE(one_broken_parameter_spoils_the_query) {
    for (const char* broken : {"count=%", "%=3", "count=3&format=%zz", "a%4=1&count=3"})
        BOOST_TEST(parameters_in(broken) == "(nothing)", broken);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
