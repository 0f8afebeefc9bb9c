#include <boost/test/unit_test.hpp>

#include "tests/house/rules.h"

namespace next_id {
namespace {

struct House {
    const std::filesystem::path top{NEXT_ID_SOURCE_DIR};
    const SourceTree tree = read_tree(top);

    BuildFiles build_files() const {
        BuildFiles texts{{"tests", read_text(top / "tests/CMakeLists.txt")}};
        for (const SourceFile& file : tree)
            texts.emplace(file.folder(), read_text(top / file.folder() / "CMakeLists.txt"));
        return texts;
    }
};

void expect_none(const Breaches& breaches) {
    for (const std::string& breach : breaches) BOOST_ERROR(breach);
}

// The rule sees it, and says where.
void expect_one(const Breaches& breaches, const std::string& place) {
    BOOST_TEST_REQUIRE(breaches.size() == 1u, breaches.size() << " breaches at " << place);
    BOOST_TEST(breaches.front().starts_with(place + ": "), breaches.front());
}

SourceTree one(const std::string& path, const std::string& text) {
    return {SourceFile{path, text}};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(house_tests, House)

BOOST_AUTO_TEST_CASE(the_whole_tree_is_read) {
    std::set<std::string> rooms;
    for (const SourceFile& file : tree) rooms.insert(room_of(file.path));
    for (const char* room : {"protocol", "protocol/client", "sidecar/base", "sidecar/main.cpp", "sidecar/refill",
                             "sidecar/serve", "tests"})
        BOOST_TEST(rooms.contains(room), room);
}

BOOST_AUTO_TEST_CASE(an_include_points_down) {
    expect_none(includes_point_down(tree));
    expect_one(includes_point_down(one("sidecar/api/a.cpp", "\n#include \"sidecar/serve/b.h\"\n")),
               "sidecar/api/a.cpp:2");
    expect_one(includes_point_down(one("sidecar/refill/a.cpp", "#include \"sidecar/api/b.h\"")),
               "sidecar/refill/a.cpp:1");
    expect_one(includes_point_down(one("protocol/a.h", "#include \"sidecar/base/b.h\"")), "protocol/a.h:1");
    expect_one(includes_point_down(one("sidecar/serve/a.cpp", "#include \"b.h\"")), "sidecar/serve/a.cpp:1");
    expect_one(includes_point_down(one("sidecar/attic/a.cpp", "")), "sidecar/attic/a.cpp:1");
}

BOOST_AUTO_TEST_CASE(includes_do_not_go_in_circles) {
    expect_none(includes_make_no_circle(tree));
    expect_one(includes_make_no_circle({SourceFile{"sidecar/serve/a.h", "#include \"sidecar/serve/b.h\""},
                                        SourceFile{"sidecar/serve/b.h", "\n#include \"sidecar/serve/a.h\""}}),
               "sidecar/serve/b.h:2");
}

BOOST_AUTO_TEST_CASE(serve_and_refill_meet_in_app_only) {
    expect_none(serve_and_refill_never_meet(tree));
    expect_one(serve_and_refill_never_meet(one("sidecar/serve/a.h", "#include \"sidecar/refill/b.h\"")),
               "sidecar/serve/a.h:1");
    expect_one(serve_and_refill_never_meet(one("sidecar/refill/a.h", "#include \"sidecar/serve/b.h\"")),
               "sidecar/refill/a.h:1");
}

BOOST_AUTO_TEST_CASE(a_library_is_known_only_where_it_is_needed) {
    expect_none(libraries_stay_in_their_rooms(tree));
    for (const char* header : {"uv.h", "libpq-fe.h", "llhttp.h", "openssl/ssl.h", "rapidjson/document.h",
                               "spdlog/spdlog.h", "CLI/App.hpp", "boost/any.hpp"})
        expect_one(libraries_stay_in_their_rooms(one("sidecar/window/a.cpp", "#include <" + std::string{header} + ">")),
                   "sidecar/window/a.cpp:1");
    expect_one(libraries_stay_in_their_rooms(one("sidecar/refill/policy.cpp", "#include <uv.h>")),
               "sidecar/refill/policy.cpp:1");
    expect_one(libraries_stay_in_their_rooms(one("sidecar/refill/refiller.cpp", "#include <libpq-fe.h>")),
               "sidecar/refill/refiller.cpp:1");
    expect_none(libraries_stay_in_their_rooms(one("sidecar/refill/pg_answer.cpp", "#include <libpq-fe.h>")));
}

BOOST_AUTO_TEST_CASE(pure_code_is_told_the_time) {
    expect_none(pure_rooms_ask_nobody(tree));
    expect_one(pure_rooms_ask_nobody(one("sidecar/api/a.cpp", "\n\nauto now = Clock::now();")), "sidecar/api/a.cpp:3");
    expect_one(pure_rooms_ask_nobody(one("sidecar/refill/policy.cpp", "std::random_device{}")),
               "sidecar/refill/policy.cpp:1");
}

BOOST_AUTO_TEST_CASE(a_file_is_short) {
    expect_none(files_are_short(tree));
    expect_one(files_are_short(one("protocol/a.cpp", std::string(lines_max + 1, '\n'))), "protocol/a.cpp:401");
    expect_none(files_are_short(one("tests/a_tests.cpp", std::string(test_lines_max, '\n'))));
}

BOOST_AUTO_TEST_CASE(a_header_says_what_it_is) {
    expect_none(headers_say_what_they_are(tree));
    expect_one(headers_say_what_they_are(one("protocol/a.h", "#pragma once\n")), "protocol/a.h:1");
    expect_one(headers_say_what_they_are(one("protocol/a.h", "// What it is.\n#include <string>\n")), "protocol/a.h:2");
}

BOOST_AUTO_TEST_CASE(nothing_is_half_done) {
    expect_none(nothing_is_left_for_later(tree));
    const std::string mark = std::string{"TO"} + "DO";
    expect_one(nothing_is_left_for_later(one("protocol/a.cpp", "int a;  // " + mark + ": more")), "protocol/a.cpp:1");
}

BOOST_AUTO_TEST_CASE(no_code_hides_in_comments) {
    expect_none(no_code_is_commented_out(tree));
    for (const char* code :
         {"// return 0;", "    // stop(1);", "// int a = 1;", "// #include <string>", "//}", "#if 0"})
        expect_one(no_code_is_commented_out(one("protocol/a.cpp", code)), "protocol/a.cpp:1");
    for (const char* prose : {"//     log::info(\"listening\");", "// A late answer is valid (it was reserved);",
                              "// the slot before the limit;", "// take(n): all or nothing"})
        expect_none(no_code_is_commented_out(one("protocol/a.cpp", prose)));
}

BOOST_AUTO_TEST_CASE(every_test_case_is_in_a_suite) {
    expect_none(every_case_is_run(tree));
    expect_one(every_case_is_run(one("tests/api/api_tests.cpp", "\nBOOST_AUTO_TEST_CASE(a) {}")),
               "tests/api/api_tests.cpp:2");
    expect_one(every_case_is_run({SourceFile{"tests/api/a_tests.cpp", "BOOST_AUTO_TEST_SUITE(a_tests)"},
                                  SourceFile{"tests/api/b_tests.cpp", "BOOST_AUTO_TEST_SUITE(a_tests)"}}),
               "tests/api/b_tests.cpp:1");
}

BOOST_AUTO_TEST_CASE(every_source_is_built_into_something) {
    expect_none(every_source_is_built(tree, build_files()));
    const BuildFiles named{{"protocol", "next_id_library(protocol ba.cpp)"}, {"tests", "add_library(x y/z.cpp)"}};
    expect_one(every_source_is_built(one("protocol/a.cpp", ""), named), "protocol/a.cpp:1");
    expect_none(every_source_is_built(one("protocol/ba.cpp", ""), named));
    expect_one(every_source_is_built(one("tests/y/test_y.cpp", ""), named), "tests/y/test_y.cpp:1");
    expect_none(every_source_is_built(one("tests/y/z.cpp", ""), named));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
