#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "sidecar/config/command_line.h"
#include "sidecar/config/settings.h"

namespace next_id {
namespace {

struct Row {
    std::string flag, environment, fallback, help;
};

std::string trimmed(const std::string& cell) {
    const auto first = cell.find_first_not_of(" `");
    return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(" `") - first + 1);
}

// The rows between the markers, without the two of the head. In a cell of Markdown, a bar is written \|.
std::vector<Row> readme_rows() {
    std::ifstream file{NEXT_ID_SOURCE_DIR "/README.md"};
    std::vector<Row> rows;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("<!--")) inside = line == "<!-- settings -->";
        if (!inside || !line.starts_with("| ") || line.starts_with("| flag ")) continue;
        std::istringstream cells{line.substr(1)};
        Row row;
        for (std::string* cell : {&row.flag, &row.environment, &row.fallback, &row.help}) {
            std::getline(cells, *cell, '|');
            *cell = trimmed(*cell);
        }
        rows.push_back(row);
    }
    return rows;
}

// The whole line of --help that begins with `flag`, empty when there is none.
std::string help_line(const std::string& help, const std::string& flag) {
    std::istringstream lines{help};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("  " + flag + " ")) return line;
    return {};
}

std::string help_of(const char* command) {
    const auto line = parse_command_line(std::vector<std::string>{command, "--help"});
    BOOST_TEST_REQUIRE(line.has_value());
    return line->print;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(settings_table_tests)

BOOST_AUTO_TEST_CASE(names_are_unique_and_the_variable_follows_from_the_flag) {
    std::set<std::string_view> seen;
    for (const Setting& setting : settings()) {
        BOOST_TEST(seen.insert(setting.name).second, setting.name);
        BOOST_TEST(find_setting(setting.name) == &setting);
        std::string variable = setting.name.starts_with("pg-") ? "" : "NEXT_ID_";
        for (const char byte : setting.name) variable += byte == '-' ? '_' : static_cast<char>(std::toupper(byte));
        BOOST_TEST(setting.environment == variable);
    }
}

BOOST_AUTO_TEST_CASE(every_default_is_allowed) {
    for (const Setting& setting : settings()) {
        Config config;
        if (setting.fallback) BOOST_TEST(setting.store(setting.fallback, config).has_value(), setting.name);
    }
}

BOOST_AUTO_TEST_CASE(help_says_flag_variable_default_and_purpose_of_each_setting) {
    const std::string help = help_of("serve");
    for (const Setting& setting : settings()) {
        std::string bracket{"["};
        bracket.append(setting.environment);
        if (setting.fallback) bracket += std::string{", default "} + setting.fallback;
        const std::string line =
            help_line(help, setting.traits.secret ? std::string{setting.environment} + ":" : setting.flag());
        BOOST_TEST(line.find(setting.help) != std::string::npos, setting.name);
        if (!setting.traits.secret) BOOST_TEST(line.ends_with(bracket + "]"), line);
        if (setting.traits.secret) BOOST_TEST(help.find(setting.flag() + " ") == std::string::npos, setting.name);
    }
}

BOOST_AUTO_TEST_CASE(get_and_check_have_the_flags_that_they_need_and_no_others) {
    for (const auto& [command, name] : {std::pair{Command::get, "get"}, std::pair{Command::check, "check"}})
        for (const Setting& setting : settings())
            BOOST_TEST(help_line(help_of(name), setting.flag()).empty() == !setting.is_for(command), setting.name);
}

BOOST_AUTO_TEST_CASE(the_readme_has_the_same_table) {
    const auto rows = readme_rows();
    BOOST_TEST_REQUIRE(rows.size() == settings().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Setting& setting = settings()[i];
        BOOST_TEST(rows[i].flag == (setting.traits.secret ? "(never a flag)" : setting.flag()));
        BOOST_TEST(rows[i].environment == setting.environment);
        BOOST_TEST(rows[i].fallback == (setting.fallback ? setting.fallback : ""));
        BOOST_TEST(rows[i].help == setting.help);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
