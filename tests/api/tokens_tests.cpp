#include "sidecar/api/tokens.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace next_id {
namespace {

Tokens parsed(std::string_view text) {
    auto tokens = Tokens::parse(text);
    BOOST_TEST_REQUIRE(tokens.has_value(), (tokens ? "" : tokens.error()));
    return *tokens;
}

std::string refused(std::string_view text) {
    const auto tokens = Tokens::parse(text);
    return tokens ? "(allowed)" : tokens.error();
}

bool admits(const Tokens& tokens, std::string_view authorization, std::string_view api_token = {}) {
    HttpRequest request;
    request.authorization = authorization;
    request.api_token = api_token;
    return tokens.admit(request);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tokens_tests)

BOOST_AUTO_TEST_CASE(a_file_has_a_token_a_line_and_comments) {
    const Tokens tokens = parsed("# the old one\nold-token\n\n  \t\r\n# the new one\r\n  new-token \r\nlast");
    BOOST_TEST(tokens.size() == 3);
    BOOST_TEST(tokens.first() == "old-token");
    for (const char* token : {"old-token", "new-token", "last"}) BOOST_TEST(admits(tokens, "", token), token);
    for (const char* other : {"# the old one", "#", "old-toke", "old-token2", "OLD-TOKEN", "new-token ", "lasT"})
        BOOST_TEST(!admits(tokens, "", other), other);
}

BOOST_AUTO_TEST_CASE(a_token_is_shown_in_either_header) {
    const Tokens tokens = parsed("abc");
    for (const char* good : {"Bearer abc", "bearer abc", "BEARER abc", "Bearer   abc"})
        BOOST_TEST(admits(tokens, good), good);
    for (const char* bad : {"", "abc", "Bearer", "Bearer ", "Bearer ab", "Bearer abcd", "Bearer abc abc", "Basic abc",
                            "Bearerabc", "Bearer\tabc", "Token abc"})
        BOOST_TEST(!admits(tokens, bad), bad);
    BOOST_TEST(admits(tokens, "Basic dXNlcg==", "abc"));  // which a proxy on the way may want
    BOOST_TEST(!admits(tokens, "", "Bearer abc"));
    BOOST_TEST(!admits(tokens, "", ""));
}

BOOST_AUTO_TEST_CASE(a_token_has_its_full_length_to_be_right) {
    const std::string longest(token_bytes_max, 'x');
    const Tokens tokens = parsed(longest);
    BOOST_TEST(admits(tokens, "Bearer " + longest));
    BOOST_TEST(!admits(tokens, "Bearer " + longest + "x"));
    BOOST_TEST(!admits(tokens, "Bearer " + longest.substr(1)));
    BOOST_TEST(!admits(parsed("ab"), "", std::string_view{"ab\0", 3}));  // what pads it is no part of it
}

BOOST_AUTO_TEST_CASE(a_file_that_is_broken_is_refused_without_a_word_of_it) {
    const std::string too_long(token_bytes_max + 1, 's');
    BOOST_TEST(refused("") == "it holds no token; write one a line");
    BOOST_TEST(refused("# nothing\n\n") == "it holds no token; write one a line");
    BOOST_TEST(refused("fine\n" + too_long) == "line 2 is longer than the 256 bytes that a token may have");
    for (const std::string& odd : {std::string{"secret secret"}, std::string{"secr\xc3\xa9t"},
                                   std::string{"se\0cret", 7}, std::string{"secret\x7f"}})
        BOOST_TEST(refused("\n" + odd) == "line 2 has a character in it that is not visible ASCII; one token a line");
    std::string many;
    for (std::size_t i = 0; i <= tokens_max; ++i) many += "secret" + std::to_string(i) + "\n";
    BOOST_TEST(refused(many) == "line 65 is one token more than the 64 allowed");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
