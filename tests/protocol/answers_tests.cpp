#include "protocol/answers.h"

#include <rapidjson/document.h>
#include <boost/test/unit_test.hpp>

#include <limits>
#include <vector>

using namespace next_id;
using namespace std::string_literals;

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

std::string body_of(const std::vector<Range>& ranges, Format format) {
    std::string body;
    append_ids(body, ranges, format);
    return body;
}

rapidjson::Document parsed(const std::string& body) {
    rapidjson::Document document;
    document.Parse<rapidjson::kParseValidateEncodingFlag>(body.data(), body.size());
    BOOST_REQUIRE_MESSAGE(!document.HasParseError(), "not JSON: " << body);
    return document;
}

std::string data_of(const std::vector<Range>& ranges, Format format) {
    const std::string body = body_of(ranges, format);
    parsed(body);
    const std::string front = R"({"code":0,"msg":"success","data":)", back = "}\n";
    BOOST_REQUIRE(body.starts_with(front) && body.ends_with(back));
    return body.substr(front.size(), body.size() - front.size() - back.size());
}

std::string error_body(int code, std::string_view msg, std::string_view error) {
    std::string body;
    append_error(body, code, msg, error);
    return body;
}

constexpr Format ids{.layout = Layout::ids}, ids_as_strings{.layout = Layout::ids, .strings = true};
constexpr Format ranges{.layout = Layout::ranges}, ranges_as_strings{.layout = Layout::ranges, .strings = true};

}  // namespace

BOOST_AUTO_TEST_SUITE(answers_tests)

BOOST_AUTO_TEST_CASE(one_id_is_answered_as_in_the_contract) {
    BOOST_TEST(body_of({{1, 1, 1}}, {}) == "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":1}}\n");
    BOOST_TEST(data_of({{1, 1, 1}}, {.strings = true}) == R"({"id":"1"})");
    BOOST_TEST(body_of({{1, 1, 1}}, {.text = true}) == "1\n");
}

BOOST_AUTO_TEST_CASE(ids_are_listed_across_ranges_in_order) {
    BOOST_TEST(data_of({{1, 1, 3}}, ids) == R"({"ids":[1,2,3]})");
    BOOST_TEST(data_of({{1, 1, 1}}, ids) == R"({"ids":[1]})");
    BOOST_TEST(data_of({{1, 2, 3}, {100, 1, 2}, {7, -3, 3}}, ids) == R"({"ids":[1,3,5,100,101,7,4,1]})");
    BOOST_TEST(data_of({{9, 1, 2}}, ids_as_strings) == R"({"ids":["9","10"]})");
}

BOOST_AUTO_TEST_CASE(ranges_are_first_and_last_and_the_step_if_it_is_not_one) {
    BOOST_TEST(data_of({{1, 1, 3}}, ranges) == R"({"count":3,"ranges":[[1,3]]})");
    BOOST_TEST(data_of({{1, 2, 3}}, ranges) == R"({"count":3,"ranges":[[1,5,2]]})");
    BOOST_TEST(data_of({{5, -1, 3}, {10, 1, 1'000'000}}, ranges) ==
               R"({"count":1000003,"ranges":[[5,3,-1],[10,1000009]]})");
    BOOST_TEST(data_of({{7, 10, 1}}, ranges) == R"({"count":1,"ranges":[[7,7]]})");
    BOOST_TEST(data_of({{1, 2, 3}, {9, 1, 1}}, ranges_as_strings) ==
               R"({"count":4,"ranges":[["1","5","2"],["9","9"]]})");
}

BOOST_AUTO_TEST_CASE(text_is_one_id_a_line_whatever_the_layout) {
    BOOST_TEST(body_of({{1, 1, 2}, {8, 1, 1}}, {.layout = Layout::ids, .text = true}) == "1\n2\n8\n");
    BOOST_TEST(body_of({{1, 1, 2}}, {.layout = Layout::ids, .strings = true, .text = true}) == "1\n2\n");
    BOOST_TEST(body_of({{1, 1, 2}}, {.layout = Layout::ranges, .text = true}) == "1\n2\n");
}

BOOST_AUTO_TEST_CASE(ids_are_exact_to_both_ends_of_64_bits) {
    BOOST_TEST(data_of({{highest, 1, 1}}, {}) == R"({"id":9223372036854775807})");
    BOOST_TEST(data_of({{lowest, 1, 1}}, {.strings = true}) == R"({"id":"-9223372036854775808"})");
    BOOST_TEST(data_of({{highest - 1, 1, 2}}, ids) == R"({"ids":[9223372036854775806,9223372036854775807]})");
    BOOST_TEST(data_of({{lowest + 1, -1, 2}}, ids_as_strings) ==
               R"({"ids":["-9223372036854775807","-9223372036854775808"]})");
    BOOST_TEST(data_of({{lowest, highest, 3}}, ranges) ==
               R"({"count":3,"ranges":[[-9223372036854775808,9223372036854775806,9223372036854775807]]})");
    BOOST_TEST(data_of({{highest, lowest, 2}}, ranges_as_strings) ==
               R"({"count":2,"ranges":[["9223372036854775807","-1","-9223372036854775808"]]})");
    BOOST_TEST(body_of({{highest, -1, 1}}, {.text = true}) == "9223372036854775807\n");
    const auto document = parsed(body_of({{(std::int64_t{1} << 53) + 1, 1, 1}}, {}));
    BOOST_TEST(document["data"]["id"].GetInt64() == 9007199254740993);
}

BOOST_AUTO_TEST_CASE(ten_thousand_ids_are_all_there) {
    const auto document = parsed(body_of({{999'999'999'995, 1, 5'000}, {-2'500, 1, 5'000}}, ids));
    const auto& listed = document["data"]["ids"];
    BOOST_REQUIRE(listed.Size() == 10'000);
    for (rapidjson::SizeType i = 0; i < 10'000; ++i) {
        BOOST_REQUIRE(listed[i].GetInt64() == (i < 5'000 ? 999'999'999'995 + i : std::int64_t{i} - 7'500));
    }
}

BOOST_AUTO_TEST_CASE(answers_are_appended_to_what_is_there) {
    std::string body = "before";
    append_ids(body, std::vector<Range>{{1, 1, 2}}, ids);
    append_error(body, 404, "not found", "");
    BOOST_TEST(
        body ==
        "before{\"code\":0,\"msg\":\"success\",\"data\":{\"ids\":[1,2]}}\n{\"code\":404,\"msg\":\"not found\"}\n");
}

BOOST_AUTO_TEST_CASE(an_error_has_a_code_a_message_and_perhaps_a_reason) {
    BOOST_TEST(error_body(503, "query seq failed", "relation \"x\" does not exist\n") ==
               "{\"code\":503,\"msg\":\"query seq failed\",\"error\":\"relation \\\"x\\\" does not exist\\n\"}\n");
    BOOST_TEST(error_body(400, "bad request", "") == "{\"code\":400,\"msg\":\"bad request\"}\n");
}

BOOST_AUTO_TEST_CASE(an_error_is_valid_json_whatever_bytes_are_in_it) {
    for (int a = 0; a < 256; ++a) {
        for (int b = 0; b < 256; b += 3) {
            const std::string text{'x', static_cast<char>(a), static_cast<char>(b), '"'};
            const std::string body = error_body(503, text, text);
            const auto document = parsed(body);
            BOOST_REQUIRE(document["error"] == document["msg"]);
            BOOST_REQUIRE(document["error"].GetString()[0] == 'x');
            BOOST_REQUIRE(document["error"].GetString()[document["error"].GetStringLength() - 1] == '"');
            BOOST_REQUIRE(body.find('\n') == body.size() - 1);
        }
    }
    const auto error_text = [](const std::string& text) {
        const auto document = parsed(error_body(503, "m", text));
        return std::string{document["error"].GetString(), document["error"].GetStringLength()};
    };
    BOOST_TEST(error_text("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") == "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    BOOST_TEST(error_text("caf\xe9!") == "caf\xEF\xBF\xBD!");                          // Latin-1
    BOOST_TEST(error_text("\xc3") == "\xEF\xBF\xBD");                                  // cut short
    BOOST_TEST(error_text("\xe2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");                  //
    BOOST_TEST(error_text("\xc0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong
    BOOST_TEST(error_text("\xed\xa0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
    BOOST_TEST(error_text("a\0b"s) == "a\0b"s);
}

BOOST_AUTO_TEST_SUITE_END()
