// What protocol/README.md shows of RESP, as it is on the wire, is what the server takes.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <regex>
#include <set>

#include "protocol/resp_request.h"
#include "sidecar/api/resp_commands.h"

namespace next_id {
namespace {

std::string unescaped(const std::string& text) {
    return std::regex_replace(text, std::regex{R"(\\r\\n)"}, "\r\n");
}

std::vector<std::string> code_spans(const std::string& line) {
    static const std::regex span{"`([^`]+)`"};
    std::vector<std::string> spans;
    for (std::sregex_iterator at{line.begin(), line.end(), span}, end; at != end; ++at) spans.push_back((*at)[1]);
    return spans;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resp_contract_tests)

BOOST_AUTO_TEST_CASE(the_commands_of_the_readme_are_those_there_are) {
    std::ifstream readme{NEXT_ID_SOURCE_DIR "/protocol/README.md"};
    std::set<std::string_view> shown;
    for (std::string line; std::getline(readme, line);) {
        if (!line.starts_with("| `") || line.find("`*") == std::string::npos) continue;
        const auto spans = code_spans(line);
        const auto wire = std::ranges::find_if(spans, [](const std::string& span) { return span.starts_with('*'); });
        for (auto named = spans.begin(); named != wire; ++named)
            if (const auto* row = find_resp_command(named->substr(0, named->find(' ')))) shown.insert(row->name);
        RespParser parser;
        std::size_t consumed = 0;
        const std::string bytes = unescaped(*wire);
        BOOST_TEST_CONTEXT(line) {
            BOOST_TEST_REQUIRE((parser.parse(bytes, consumed) == RespParser::Result::command));
            BOOST_TEST(consumed == bytes.size());
            const RespCommandRow* const row = find_resp_command(parser.command()[0]);
            BOOST_TEST_REQUIRE(row != nullptr);
            BOOST_TEST(shown.contains(row->name));
            BOOST_TEST(row->takes_words(parser.command().size()));
        }
    }
    for (const RespCommandRow& row : resp_commands()) BOOST_TEST(shown.contains(row.name), row.name);
}

BOOST_AUTO_TEST_CASE(no_command_is_both_there_and_refused) {
    for (const RespCommandRow& row : resp_commands()) BOOST_TEST(why_refused(row.name).empty(), row.name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
