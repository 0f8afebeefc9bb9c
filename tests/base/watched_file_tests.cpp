#include "sidecar/base/watched_file.h"

#include <sys/stat.h>

#include "tests/support/temp_dir.h"

namespace next_id {
namespace {

namespace fs = std::filesystem;

struct WatchedFixture {
    std::string content() const { return file.content() ? *file.content() : "error: " + file.content().error(); }

    TempDir dir;
    const std::string path = dir.path / "file";
    WatchedFile file{path, 100};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(watched_file_tests, WatchedFixture)

BOOST_AUTO_TEST_CASE(it_is_read_the_first_time_and_then_when_it_changes) {
    dir.write("file", "one");
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "one");
    BOOST_TEST(!file.refresh());
    dir.write("file", "three");
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "three");
    BOOST_TEST(!file.refresh());
}

BOOST_AUTO_TEST_CASE(an_empty_file_is_news_too) {
    dir.write("file", "");
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "");
}

BOOST_AUTO_TEST_CASE(a_change_within_one_tick_of_the_clock_is_seen) {
    // Two writes of the same length that come close together mostly get the same time.
    for (int i = 0; i < 20; ++i) {
        dir.write("file", "aaa");
        file.refresh();
        dir.write("file", "bbb");
        BOOST_TEST(file.refresh());
        BOOST_TEST(content() == "bbb");
    }
}

BOOST_AUTO_TEST_CASE(a_touch_is_no_news) {
    dir.write("file", "one");
    BOOST_TEST(file.refresh());
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours{1});
    BOOST_TEST(!file.refresh());
}

BOOST_AUTO_TEST_CASE(a_link_that_leads_elsewhere_is_seen) {
    // As Kubernetes does it: file -> ..data/file, ..data -> a directory, replaced by renaming.
    fs::create_directory(dir.path / "v1");
    fs::create_directory(dir.path / "v2");
    dir.write("v1/file", "one");
    dir.write("v2/file", "two");
    fs::create_symlink("v1", dir.path / "..data");
    fs::create_symlink("..data/file", path);
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "one");
    fs::create_symlink("v2", dir.path / "new");
    fs::rename(dir.path / "new", dir.path / "..data");
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "two");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_told_once_until_it_changes) {
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "error: " + path + ": No such file or directory");
    BOOST_TEST(!file.refresh());
    dir.write("file", "one");
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "one");
    fs::remove(path);
    BOOST_TEST(file.refresh());
    BOOST_TEST(!file.refresh());
}

BOOST_AUTO_TEST_CASE(what_is_too_long_or_no_file_is_refused) {
    dir.write("file", std::string(100, 'x'));
    BOOST_TEST(file.refresh());
    BOOST_TEST(file.content().has_value());
    dir.write("file", std::string(101, 'x'));
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "error: " + path + ": it is longer than the 100 bytes allowed");
    fs::remove(path);
    BOOST_TEST_REQUIRE(mkfifo(path.c_str(), 0600) == 0);  // and nobody writes into it
    BOOST_TEST(file.refresh());
    BOOST_TEST(content() == "error: " + path + ": it is no regular file");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
