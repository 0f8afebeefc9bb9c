// The rules of the house, each a function from the source tree to its breaches: sentences that begin with file and
// line.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>

#include "tests/house/pattern.h"
#include "tests/house/source_tree.h"

namespace next_id {

using Breaches = std::vector<std::string>;

constexpr std::size_t lines_max = 400;
constexpr std::size_t test_lines_max = 800;

inline std::string at(const SourceFile& file, std::size_t line, const std::string& rule) {
    return file.path + ":" + std::to_string(line) + ": " + rule;
}

// The ground is 0. A room that is not listed has no place in the house yet.
inline std::optional<int> floor_of(const std::string& room) {
    static const std::map<std::string, int> floors{{"sidecar/main.cpp", 6},
                                                   {"sidecar/app", 5},
                                                   {"sidecar/admin", 4},
                                                   {"sidecar/serve", 3},
                                                   {"sidecar/api", 2},
                                                   {"sidecar/refill", 2},
                                                   {"sidecar/window", 1},
                                                   {"sidecar/config", 1},
                                                   {"protocol/client", 1},
                                                   {"sidecar/metrics", 0},
                                                   {"sidecar/base", 0},
                                                   {"protocol", 0},
                                                   {"sql", 0}};
    const auto found = floors.find(room);
    return found == floors.end() ? std::nullopt : std::optional{found->second};
}

inline Breaches includes_point_down(const SourceTree& tree) {
    Breaches breaches;
    for (const SourceFile& file : tree) {
        if (file.is_test()) continue;
        const std::string room = room_of(file.path);
        const auto floor = floor_of(room);
        if (!floor) breaches.push_back(at(file, 1, room + " has no floor; give it one in tests/house/rules.h"));
        for (const Include& include : file.includes()) {
            if (!include.ours || !floor) continue;
            const std::string below = room_of(include.path);
            const auto floor_below = floor_of(below);
            if (!floor_below)
                breaches.push_back(at(file, include.line,
                                      include.path + " is in no room; headers are named from the top of the tree"));
            else if (below != room && *floor_below >= *floor)
                breaches.push_back(at(file, include.line,
                                      "an include points down, but " + below + " is on floor " +
                                          std::to_string(*floor_below) + " and " + room + " on floor " +
                                          std::to_string(*floor)));
        }
    }
    return breaches;
}

inline Breaches includes_make_no_circle(const SourceTree& tree) {
    struct Walk {
        std::map<std::string, const SourceFile*> files;
        std::set<std::string> done;
        std::vector<std::string> way;
        Breaches breaches;

        void visit(const SourceFile& file) {
            if (done.contains(file.path)) return;
            way.push_back(file.path);
            for (const Include& include : file.includes()) {
                const auto next = files.find(include.path);
                if (next == files.end()) continue;
                const auto seen = std::ranges::find(way, include.path);
                if (seen == way.end()) {
                    visit(*next->second);
                    continue;
                }
                std::string circle;
                for (auto step = seen; step != way.end(); ++step) circle += *step + " -> ";
                breaches.push_back(at(file, include.line, "includes make a circle: " + circle + include.path));
            }
            way.pop_back();
            done.insert(file.path);
        }
    } walk;
    for (const SourceFile& file : tree) walk.files[file.path] = &file;
    for (const SourceFile& file : tree) walk.visit(file);
    return walk.breaches;
}

inline Breaches serve_and_refill_never_meet(const SourceTree& tree) {
    Breaches breaches;
    for (const SourceFile& file : tree)
        for (const Include& include : file.includes())
            for (const auto& [here, there] :
                 {std::pair{"sidecar/serve/", "sidecar/refill/"}, std::pair{"sidecar/refill/", "sidecar/serve/"}})
                if (file.is_in(here) && include.path.starts_with(there))
                    breaches.push_back(
                        at(file, include.line, "serve and refill never include each other; they meet in app"));
    return breaches;
}

struct Library {
    const char* name;
    const char* headers;  // how its includes begin
    const char* home;     // the files that may include it
};

constexpr std::array libraries{
    Library{"libuv", "uv\\.h", "sidecar/(base|serve|admin|app)/.*|sidecar/refill/(pg_.*|refiller\\.(h|cpp))"},
    Library{"libpq", "(postgresql/)?libpq|pg_config", "sidecar/refill/pg_.*"},
    Library{"OpenSSL", "openssl/", "sidecar/serve/tls_.*"},
    Library{"llhttp", "llhttp", "protocol/http_request\\..*"},
    Library{"RapidJSON", "rapidjson/", "protocol/.*"},
    Library{"spdlog", "spdlog/|fmt/", "sidecar/base/log\\.cpp"},
    Library{"prometheus-cpp", "prometheus/", "sidecar/metrics/exposition\\.cpp"},
    Library{"CLI11", "CLI/", "sidecar/config/.*"},
    Library{"Boost", "boost/", "tests/.*"},
};

// Tests may use what they like.
inline Breaches libraries_stay_in_their_rooms(const SourceTree& tree) {
    Breaches breaches;
    for (const Library& library : libraries) {
        const Pattern headers{"^(" + std::string{library.headers} + ")"};
        const Pattern home{"^(" + std::string{library.home} + ")$"};
        for (const SourceFile& file : tree) {
            if (file.is_test() || home.found_in(file.path)) continue;
            for (const Include& include : file.includes())
                if (!include.ours && headers.found_in(include.path))
                    breaches.push_back(
                        at(file, include.line, std::string{library.name} + " is included only in " + library.home));
        }
    }
    return breaches;
}

// Time, randomness and the environment come in as arguments.
inline Breaches pure_rooms_ask_nobody(const SourceTree& tree) {
    static const Pattern pure{
        "^(protocol/[^/]*$|sidecar/api/|sidecar/refill/(policy|reservation|guard|answer_reader|backoff|refill)\\.)"};
    static const Pattern asks{"[Cc]lock::now|random_device|\\bgetenv|\\btime\\(nullptr"};
    Breaches breaches;
    for (const SourceFile& file : tree)
        for (std::size_t i = 0; pure.found_in(file.path) && i < file.lines.size(); ++i)
            if (asks.found_in(file.lines[i]))
                breaches.push_back(at(
                    file, i + 1, "pure code asks for no time, randomness or environment: they come in as arguments"));
    return breaches;
}

inline Breaches files_are_short(const SourceTree& tree) {
    Breaches breaches;
    for (const SourceFile& file : tree) {
        const std::size_t most = file.is_test() ? test_lines_max : lines_max;
        if (file.lines.size() > most)
            breaches.push_back(
                at(file, file.lines.size(), "a file has at most " + std::to_string(most) + " lines, one subject"));
    }
    return breaches;
}

inline Breaches headers_say_what_they_are(const SourceTree& tree) {
    Breaches breaches;
    for (const SourceFile& file : tree) {
        if (!file.is_header()) continue;
        const auto code =
            std::ranges::find_if(file.lines, [](const std::string& line) { return !line.starts_with("//"); });
        if (code == file.lines.begin())
            breaches.push_back(at(file, 1, "a header begins with what it is, in a comment"));
        else if (code == file.lines.end() || *code != "#pragma once")
            breaches.push_back(
                at(file, std::size_t(code - file.lines.begin()) + 1, "#pragma once follows the comment at the head"));
    }
    return breaches;
}

inline Breaches nothing_is_left_for_later(const SourceTree& tree) {
    static const Pattern marks{"\\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\\b"};  // bracketed, that this line is no breach
    Breaches breaches;
    for (const SourceFile& file : tree)
        for (std::size_t i = 0; i < file.lines.size(); ++i)
            if (marks.found_in(file.lines[i]))
                breaches.push_back(at(file, i + 1, "what is left to do belongs in an issue"));
    return breaches;
}

// What reads as a statement: prose has no `);`, no `#include` and no `x = y;` of single words. Indented, it is an
// example.
inline Breaches no_code_is_commented_out(const SourceTree& tree) {
    static const std::string name{"[][A-Za-z0-9_:.>-]+"};
    static const Pattern code{
        "^ *// {0,3}("
        "#(include|if|endif|else|define)\\b.*"
        "|}|};|return\\b.*;"
        "|(if|for|while|switch) *\\(.*[;{]|" +
        name + "\\(.*\\);|([A-Za-z0-9_:<>,*&]+ )?" + name + " [+*/|&-]?= .*;) *$"};
    static const Pattern switched_off{"^ *# *if +(0|false)\\b"};
    Breaches breaches;
    for (const SourceFile& file : tree)
        for (std::size_t i = 0; i < file.lines.size(); ++i)
            if (code.found_in(file.lines[i]) || switched_off.found_in(file.lines[i]))
                breaches.push_back(at(file, i + 1, "code that is commented out is deleted; the history keeps it"));
    return breaches;
}

inline std::vector<std::string> suites_of(const SourceFile& file) {
    static const Pattern begins_suite{"^BOOST_(AUTO|FIXTURE)_TEST_SUITE\\([a-z0-9_]+\\b"};
    std::vector<std::string> names;
    for (const std::string& line : file.lines) {
        if (!begins_suite.found_in(line)) continue;
        const std::size_t name = line.find('(') + 1;
        names.push_back(line.substr(name, line.find_first_of(",) ", name) - name));
    }
    return names;
}

// The text of each folder's CMakeLists.txt.
using BuildFiles = std::map<std::string, std::string>;

inline bool is_named_in(const BuildFiles& build_files, const std::string& folder, const std::string& source) {
    const auto build_file = build_files.find(folder);
    if (build_file == build_files.end()) return false;
    const std::string text = " " + build_file->second + " ";
    const auto ends_name = [](char c) { return std::string_view{" \n\t/()"}.find(c) != std::string_view::npos; };
    for (std::size_t found = 0; (found = text.find(source, found + 1)) != std::string::npos;)
        if (ends_name(text[found - 1]) && ends_name(text[found + source.size()])) return true;
    return false;
}

// The binaries of tests/CMakeLists.txt take what fits a pattern; all else is named by a CMakeLists.txt.
inline bool is_built(const SourceFile& file, const BuildFiles& build_files) {
    static const Pattern taken{"^tests/(.*_(tests|pgtests|e2etests|chaostests)|support/[^/]*)\\.cpp$"};
    return taken.found_in(file.path) || is_named_in(build_files, file.folder(), file.name()) ||
           (file.is_test() && is_named_in(build_files, "tests", file.path.substr(sizeof "tests/" - 1)));
}

inline Breaches every_source_is_built(const SourceTree& tree, const BuildFiles& build_files) {
    Breaches breaches;
    for (const SourceFile& file : tree) {
        if (file.is_header() || is_built(file, build_files)) continue;
        breaches.push_back(at(file, 1,
                              file.is_test()
                                  ? "in no binary: a test's name ends in _tests.cpp, _pgtests.cpp, _e2etests.cpp or "
                                    "_chaostests.cpp"
                                  : "in no library: " + file.folder() + "/CMakeLists.txt does not name it"));
    }
    return breaches;
}

// ctest runs suites, by name: a case outside of them is lost, and so is one of two that share a name.
inline Breaches every_case_is_run(const SourceTree& tree) {
    static const Pattern begins_case{"^BOOST_(AUTO|FIXTURE|DATA)_TEST_CASE\\b"};
    Breaches breaches;
    std::map<std::string, std::string> file_of;
    for (const SourceFile& file : tree) {
        if (!file.is_test()) continue;
        for (const std::string& suite : suites_of(file))
            if (const auto [first, is_new] = file_of.emplace(suite, file.path); !is_new)
                breaches.push_back(at(file, 1, "there is a suite " + suite + " in " + first->second + " already"));
        const auto found =
            std::ranges::find_if(file.lines, [](const std::string& line) { return begins_case.found_in(line); });
        if (found != file.lines.end() && suites_of(file).empty())
            breaches.push_back(at(file, std::size_t(found - file.lines.begin()) + 1,
                                  "a test case is in a suite whose line begins with BOOST_AUTO_TEST_SUITE( or "
                                  "BOOST_FIXTURE_TEST_SUITE(, else it is never run"));
    }
    return breaches;
}

}  // namespace next_id
