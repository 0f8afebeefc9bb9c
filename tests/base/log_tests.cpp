#include "sidecar/base/log.h"

#include <rapidjson/document.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <sstream>
#include <thread>
#include <vector>

#include "sidecar/base/escape.h"

namespace next_id {
namespace {

using namespace std::chrono_literals;

const std::chrono::system_clock::time_point evening{1795978800123ms};  // 2026-11-29 19:00:00.123 UTC

std::string text_line(std::string_view message, log::Fields fields = {}) {
    return log::line(log::Format::text, evening, log::Level::info, message, fields);
}

rapidjson::Document json_line(std::string_view message, log::Fields fields = {}) {
    const std::string line = log::line(log::Format::json, evening, log::Level::warn, message, fields);
    BOOST_TEST(line.find('\n') == std::string::npos);
    rapidjson::Document document;
    document.Parse<rapidjson::kParseValidateEncodingFlag>(line.data(), line.size());
    BOOST_TEST_REQUIRE(!document.HasParseError(), line);
    return document;
}

// What the program writes to stderr while `act` runs.
template <class Act>
std::string stderr_of(Act act) {
    std::FILE* file = std::tmpfile();
    const int stderr_before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    act();
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
    std::rewind(file);
    std::string text;
    for (int byte; (byte = std::fgetc(file)) != EOF;) text += static_cast<char>(byte);
    std::fclose(file);
    return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(log_tests)

BOOST_AUTO_TEST_CASE(a_text_line_says_time_level_message_and_keys) {
    const std::string name = "global_id_seq";
    BOOST_TEST(text_line("window adopted", {{"sequence", name}, {"ids", 1000}, {"shared", false}}) ==
               "2026-11-29T19:00:00.123Z info  window adopted sequence=global_id_seq ids=1000 shared=false");
}

BOOST_AUTO_TEST_CASE(a_text_value_that_could_be_misread_stands_in_quotes) {
    BOOST_TEST(text_line("m", {{"a", "two words"}, {"b", ""}, {"c", "x=\"1\""}})
                   .ends_with(R"( m a="two words" b="" c="x=\"1\"")"));
}

BOOST_AUTO_TEST_CASE(a_text_line_cannot_be_broken_or_steer_the_terminal) {
    const std::string line =
        text_line("one\ntwo\r\x1b[31m\x7f\xc2\x9b", {{"key", "\n2026-11-29T19:00:00.123Z error forged"}});
    BOOST_TEST(line.ends_with(R"(one\ntwo\r\x1b[31m\x7f\xc2\x9b key="\n2026-11-29T19:00:00.123Z error forged")"));
}

BOOST_AUTO_TEST_CASE(a_json_line_says_time_level_message_and_keys) {
    const auto json = json_line("late", {{"sequence", "a"}, {"id", INT64_MAX}, {"low", INT64_MIN}, {"dry", true}});
    BOOST_TEST(json["time"].GetString() == "2026-11-29T19:00:00.123Z");
    BOOST_TEST(json["level"].GetString() == "warn");
    BOOST_TEST(json["msg"].GetString() == "late");
    BOOST_TEST(json["sequence"].GetString() == "a");
    BOOST_TEST(json["id"].GetInt64() == INT64_MAX);
    BOOST_TEST(json["low"].GetInt64() == INT64_MIN);
    BOOST_TEST(json["dry"].GetBool());
}

BOOST_AUTO_TEST_CASE(each_line_names_the_pod_it_comes_from) {
    const std::string text = stderr_of([] {
        log::set_up(log::Level::info, log::Format::text, "web-1");
        log::info("late", {{"id", 1}});
        log::set_up(log::Level::info, log::Format::json, "web-1");
        log::info("late", {{"id", 1}});
        log::set_up(log::Level::info, log::Format::text);
    });
    BOOST_TEST(text.find(" info  late id=1 pod=web-1\n") != std::string::npos, text);
    BOOST_TEST(text.ends_with(",\"msg\":\"late\",\"id\":1,\"pod\":\"web-1\"}\n"), text);
}

BOOST_AUTO_TEST_CASE(a_json_line_is_valid_whatever_the_bytes) {
    std::string every_pair;
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; ++second) every_pair += {char(first), char(second)};
    json_line(every_pair, {{"key", every_pair}});
    for (const char* torn : {"\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"}) {
        const auto json = json_line(torn);
        BOOST_TEST(std::string_view{json["msg"].GetString()}.starts_with("\xef\xbf\xbd"));
    }
}

BOOST_AUTO_TEST_CASE(text_in_any_language_passes_unchanged) {
    const std::string text = "Grüße, 世界 😀 \"\\\" \t";
    const auto json = json_line(text);
    BOOST_TEST(json["msg"].GetString() == text);
    BOOST_TEST(escape_text("Grüße, 世界 😀 \"\\\"") == "Grüße, 世界 😀 \"\\\"");
}

BOOST_AUTO_TEST_CASE(time_before_1970_and_whole_seconds_are_written_right) {
    const auto line = [](auto since) {
        return log::line(log::Format::text, std::chrono::system_clock::time_point{since}, log::Level::error, "m", {});
    };
    BOOST_TEST(line(0ms) == "1970-01-01T00:00:00.000Z error m");
    BOOST_TEST(line(-1ms) == "1969-12-31T23:59:59.999Z error m");
}

BOOST_AUTO_TEST_CASE(the_level_decides_what_is_written) {
    const std::string text = stderr_of([] {
        log::set_up(log::Level::warn, log::Format::text);
        BOOST_TEST(!log::enabled(log::Level::info));
        log::info("not this");
        log::warn("but this");
        log::set_up(log::Level::info, log::Format::text);
    });
    BOOST_TEST(text.find("not this") == std::string::npos);
    BOOST_TEST(text.ends_with(" warn  but this\n"), text);
}

BOOST_AUTO_TEST_CASE(lines_of_many_threads_do_not_mix) {
    const std::string text = stderr_of([] {
        log::set_up(log::Level::info, log::Format::json);
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([] {
                for (int n = 0; n < 200; ++n) log::info("a message of some length {} %s", {{"n", n}});
            });
        threads.clear();
        log::set_up(log::Level::info, log::Format::text);
    });
    std::istringstream lines{text};
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        rapidjson::Document json;
        BOOST_TEST(!json.Parse(line.c_str()).HasParseError(), line);
    }
    BOOST_TEST(count == 800);
}

BOOST_AUTO_TEST_CASE(the_last_warnings_and_errors_are_remembered_whatever_is_written) {
    stderr_of([] {
        log::set_up(log::Level::off, log::Format::text);
        for (std::size_t i = 0; i < log::remembered_max; ++i) log::warn("number " + std::to_string(i));
        log::info("not remembered");
        log::error("the last", {{"sequence", "app ids"}, {"ids", 7}});
        log::set_up(log::Level::info, log::Format::text);
    });
    const std::vector<log::Said> said = log::last_warnings();
    BOOST_TEST_REQUIRE(said.size() == log::remembered_max);
    BOOST_TEST(said.front().message == "number 1");
    BOOST_TEST(said.back().message == "the last");
    BOOST_TEST(said.back().fields == "sequence=\"app ids\" ids=7");
    BOOST_TEST((said.back().level == log::Level::error));
    BOOST_TEST(said.back().time.ends_with("Z"));
}

BOOST_AUTO_TEST_CASE(a_remembered_warning_is_cut_to_a_length) {
    stderr_of([] { log::warn(std::string(10'000, 'a'), {{"key", std::string(10'000, 'b')}}); });
    BOOST_TEST(log::last_warnings().back().message.size() == log::remembered_bytes_max);
    BOOST_TEST(log::last_warnings().back().fields.size() == log::remembered_bytes_max);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
