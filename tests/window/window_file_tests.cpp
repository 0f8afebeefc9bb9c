// What a window file promises in operation: private, named safely, locked, taken from by many, replaced under way.
#include "sidecar/window/window_file.h"

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "tests/window/window_fixture.h"

namespace {

using namespace next_id;
namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
    struct stat status {};
    ::lstat(path.c_str(), &status);
    return status.st_mode & 07777u;
}

// The error with which another process fails to open the window; it may change its user before.
std::string error_in_another_process(const WindowFile::Options& all, bool as_nobody = false) {
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const pid_t child = in_a_child([&] {
        if (as_nobody && ::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(1);
        auto opened = WindowFile::open(all);
        const std::string text = opened ? "no error" : opened.error();
        if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(1);
    });
    ::close(ends[1]);
    char buffer[4096];
    const ssize_t length = ::read(ends[0], buffer, sizeof buffer);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return {buffer, std::size_t(std::max<ssize_t>(length, 0))};
}

std::size_t mappings_under(const fs::path& dir) {
    std::ifstream maps{"/proc/self/maps"};
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);) count += line.find(dir.string()) != std::string::npos;
    return count;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_file_tests, WindowFixture)

BOOST_AUTO_TEST_CASE(a_first_start_makes_an_empty_window_that_only_its_owner_can_read) {
    auto all = options();
    all.state_dir = temp.path / "not" / "yet" / "state" / "";
    const auto file = open_window(all);
    BOOST_TEST((file->start() == WindowFile::Start::fresh));
    BOOST_TEST(says(file->start_reason(), "no window was there"));
    BOOST_TEST(file->left() == 0u);
    BOOST_TEST(take_up_to(*file, 1).empty());
    BOOST_TEST((file->mark() == Mark{}));
    BOOST_TEST((file->identity() == SourceIdentity{}));
    BOOST_TEST(mode_of(all.state_dir) == 0700u);
    BOOST_TEST(mode_of(file->path()) == 0600u);
    BOOST_TEST(mode_of(all.state_dir / "app.ids.lock") == 0600u);
    BOOST_TEST(fs::file_size(file->path()) == Window<>::size_of_file(8));
    BOOST_TEST(!fs::exists(all.state_dir / "app.ids.window.new"));
}

BOOST_AUTO_TEST_CASE(what_is_published_is_taken_once_by_the_sidecar_or_by_a_client) {
    const auto file = open_window(options());
    BOOST_TEST(file->publish({1, 1, 10}) == 10u);
    MappedWindow client{window_path()};
    BOOST_TEST((client.take() == TakeResult::taken));
    BOOST_TEST((take_up_to(*file, 4) == std::vector<Range>{{2, 1, 4}}));
    Range run;
    BOOST_TEST(file->take_consecutive(3, 0, run).count == 3u);
    BOOST_TEST((run == Range{6, 1, 3}));
    BOOST_TEST(file->left() == 2u);
}

BOOST_AUTO_TEST_CASE(a_take_says_wake_at_the_level_that_was_set) {
    const auto file = open_window(options());
    Range out;
    file->publish({1, 1, 5});
    BOOST_TEST(!file->wake_when_left(3));
    BOOST_TEST(!file->take(1, {&out, 1}).wake);
    BOOST_TEST(file->take(1, {&out, 1}).wake);
    BOOST_TEST(file->wake_when_left(3));
}

BOOST_AUTO_TEST_CASE(a_sequence_name_makes_a_file_name_that_stays_in_the_folder_and_is_its_own) {
    BOOST_TEST(file_name_of_sequence("app.ids") == "app.ids");
    BOOST_TEST(file_name_of_sequence("\"My Seq\"") == "%22My%20Seq%22");
    BOOST_TEST(file_name_of_sequence("../../etc/passwd") == "..%2F..%2Fetc%2Fpasswd");
    BOOST_TEST(file_name_of_sequence("a%2Fb") == "a%252Fb");
    BOOST_TEST(file_name_of_sequence("\xc3\xa9\n") == "%C3%A9%0A");
    const auto one = open_window(options("..")), other = open_window(options("a/b")),
               third = open_window(options("a%2Fb"));
    one->publish({1, 1, 1});
    BOOST_TEST(other->left() + third->left() == 0u);
    for (const auto& entry : fs::recursive_directory_iterator{temp.path})
        BOOST_TEST((entry.path() == temp.path / "state" || entry.path().parent_path() == temp.path / "state"));
}

BOOST_AUTO_TEST_CASE(names_that_do_not_fit_are_refused_with_a_sentence) {
    BOOST_TEST(says(error_of(options("")), "empty; set PG_SEQUENCE"));
    BOOST_TEST(says(error_of(options(std::string(245, 'a'))), "too long for a file name (245 bytes, at most 244)"));
    BOOST_TEST(open_window(options(std::string(244, 'a'))) != nullptr);
    auto all = options();
    all.pod_uid = std::string(65, 'p');
    BOOST_TEST(says(error_of(all), "POD_UID"));
}

BOOST_AUTO_TEST_CASE(a_second_sidecar_is_told_which_process_has_the_window) {
    const auto first = open_window(options());
    const std::string error = error_in_another_process(options());
    BOOST_TEST(says(error, "process " + std::to_string(::getpid()) + " holds "));
    BOOST_TEST(says(error, "--state-dir"));
    BOOST_TEST(open_window(options("another")) != nullptr);
}

BOOST_AUTO_TEST_CASE(a_window_is_safe_from_a_second_publisher_even_when_its_lock_file_was_removed) {
    const auto first = open_window(options());
    first->publish({1, 1, 5});
    fs::remove(temp.path / "state" / "app.ids.lock");
    BOOST_TEST(says(error_of(options()), "someone removed that file"));
    BOOST_TEST(first->left() == 5u);
    BOOST_TEST_REQUIRE(first->discard().has_value());
    BOOST_TEST(says(error_of(options()), "someone removed that file"));
}

BOOST_AUTO_TEST_CASE(the_lock_file_may_not_be_a_link) {
    fs::create_directory(temp.path / "state");
    std::ofstream{temp.path / "victim"} << "untouched";
    fs::create_symlink(temp.path / "victim", temp.path / "state" / "app.ids.lock");
    BOOST_TEST(says(error_of(options()), "it is a symbolic link; remove it"));
    BOOST_TEST(fs::file_size(temp.path / "victim") == 9u);
}

BOOST_AUTO_TEST_CASE(a_state_directory_that_cannot_be_used_is_an_error_that_says_so) {
    std::ofstream{temp.path / "file"} << "x";
    auto all = options();
    all.state_dir = temp.path / "file";
    BOOST_TEST(says(error_of(all), "is not a directory; give another (--state-dir)"));
    all.state_dir = temp.path / "file" / "state";
    BOOST_TEST(says(error_of(all), "cannot make the state directory"));
}

BOOST_AUTO_TEST_CASE(without_rights_it_says_what_was_denied) {
    fs::create_directory(temp.path / "state");
    ::chmod((temp.path / "state").c_str(), 0555);
    ::chmod(temp.path.c_str(), 0555);
    auto missing = options();
    missing.state_dir = temp.path / "missing";
    BOOST_TEST(says(error_in_another_process(options(), true), "cannot open the lock file"));
    BOOST_TEST(says(error_in_another_process(options(), true), "Permission denied"));
    BOOST_TEST(says(error_in_another_process(missing, true), "cannot make the state directory"));
    missing.state_dir = missing.state_dir / "state";
    BOOST_TEST(says(error_in_another_process(missing, true), "Permission denied"));
    ::chmod(temp.path.c_str(), 0755);
    ::chmod((temp.path / "state").c_str(), 0755);
}

BOOST_AUTO_TEST_CASE(what_a_dead_maker_left_under_the_temporary_name_is_removed_and_not_followed) {
    const fs::path temporary = temp.path / "state" / "app.ids.window.new";
    fs::create_directory(temp.path / "state");
    std::ofstream{temporary} << "half a window";
    BOOST_TEST(open_window(options())->publish({1, 1, 3}) == 3u);
    BOOST_TEST(!fs::exists(temporary));

    std::ofstream{temp.path / "victim"} << "untouched";
    fs::create_symlink(temp.path / "victim", temporary);
    const auto file = open_window(options());
    BOOST_TEST(file->discard().has_value());
    BOOST_TEST(!fs::exists(fs::symlink_status(temporary)));
    BOOST_TEST(fs::file_size(temp.path / "victim") == 9u);
}

BOOST_AUTO_TEST_CASE(discarding_throws_away_what_is_left_for_everybody_and_keeps_mark_and_identity) {
    const auto file = open_window(options());
    const SourceIdentity identity{~std::uint64_t{0}, 16384, 4294967295};
    const Mark mark{-1, INT64_MIN, -1, -7};
    file->set_identity(identity);
    file->set_mark(mark);
    file->publish({1, 1, 10});
    BOOST_TEST(!file->wake_when_left(5));
    take_up_to(*file, 3);
    MappedWindow client{window_path()};
    auto thrown_away = file->discard();
    BOOST_TEST_REQUIRE(thrown_away.has_value());
    BOOST_TEST(*thrown_away == 7u);
    BOOST_TEST((client.take() == TakeResult::closed));
    BOOST_TEST(take_up_to(*file, 1).empty());
    BOOST_TEST((file->identity() == identity));
    BOOST_TEST((file->mark() == mark));
    BOOST_TEST(file->publish({100, 1, 2}) == 2u);
    BOOST_TEST((take_up_to(*file, 9) == std::vector<Range>{{100, 1, 2}}));
    BOOST_TEST((client.take() == TakeResult::closed));
    file->forget_mark();
    BOOST_TEST((file->mark() == Mark{}));
}

BOOST_AUTO_TEST_CASE(a_discard_that_fails_leaves_the_window_closed_and_can_be_tried_again) {
    const auto file = open_window(options());
    file->publish({1, 1, 10});
    const fs::path in_the_way = temp.path / "state" / "app.ids.window.new";
    fs::create_directory(in_the_way);
    for (int attempt = 0; attempt < 2; ++attempt) {
        BOOST_TEST(says(file->discard().error(), "cannot make the window file"));
        BOOST_TEST(file->closed());
        BOOST_TEST(take_up_to(*file, 1).empty());
        BOOST_TEST(file->publish({20, 1, 1}) == 0u);
    }
    Range out;
    BOOST_TEST((file->take(1, {&out, 1}).result == TakeResult::dry));
    file->set_mark({1, 1, 99, 99});
    fs::remove(in_the_way);
    auto thrown_away = file->discard();
    BOOST_TEST_REQUIRE(thrown_away.has_value());
    BOOST_TEST(*thrown_away == 10u);
    BOOST_TEST(!file->closed());
    BOOST_TEST((file->mark() == Mark{1, 1, 99, 99}));
    BOOST_TEST(file->publish({20, 1, 1}) == 1u);
}

BOOST_AUTO_TEST_CASE(discarded_windows_give_their_memory_back) {
    const auto file = open_window(options());
    for (int i = 0; i < 20; ++i) BOOST_TEST_REQUIRE(file->discard().has_value());
    BOOST_TEST(mappings_under(temp.path) == 1u);
}

BOOST_AUTO_TEST_CASE(a_thread_that_is_late_finds_a_discarded_window_closed) {
    const WindowMapping::Contents contents{{"digest", "pod", "boot"}, {}, {}};
    auto made = WindowMapping::create(temp.path / "late.window", 2, contents);
    BOOST_TEST_REQUIRE(made.has_value());
    Window<>& late = (*made)->window();
    late.publish({1, 1, 5});
    late.close([](const Range&) {});
    (*made)->release_memory();
    Range out;
    BOOST_TEST((late.take(1, {&out, 1}).result == TakeResult::closed));
    BOOST_TEST((late.take_consecutive(1, 0, out).result == TakeResult::closed));
    BOOST_TEST(mappings_under(temp.path) == 0u);
}

BOOST_AUTO_TEST_CASE(threads_that_take_while_the_publisher_discards_get_no_id_twice_nor_one_thrown_away) {
    const auto file = open_window(options());
    constexpr std::uint64_t rounds = 3000, takers = 3;
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> takes{0}, told_closed{0}, passed_over{0};
    std::vector<std::vector<Range>> taken(takers);
    std::vector<std::thread> threads;
    for (auto& mine : taken)
        threads.emplace_back([&] {
            Range out[4];
            for (std::uint64_t i = 0; !stop; ++i) {
                const Taken one = i % 3 == 0 ? file->take_consecutive(2, 4, out[0]) : file->take(1 + i % 5, out, true);
                told_closed += one.result == TakeResult::closed;
                if (one.result != TakeResult::taken) continue;  // without a pause, to be in a take when a window goes
                mine.insert(mine.end(), out, out + one.ranges);
                passed_over += one.skipped;
                takes += 1;
            }
        });
    std::uint64_t published = 0, thrown_away = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::uint64_t before = takes;
        published += file->publish({std::int64_t(published), 1, 30});
        while (takes == before) std::this_thread::yield();
        if (round % 3 != 2) continue;
        published += file->publish({std::int64_t(published), 1, 300});
        thrown_away += *file->discard();
    }
    thrown_away += *file->discard();
    stop = true;
    for (std::thread& thread : threads) thread.join();

    std::vector<char> seen(published);
    std::uint64_t count = 0, repeated = 0;
    for (const auto& mine : taken)
        for (const Range& range : mine)
            for (std::uint64_t k = 0; k < range.count; ++k, ++count)
                repeated += seen.at(std::size_t(range.first) + k)++;
    BOOST_TEST_MESSAGE("published " << published << ", taken " << count << ", thrown away " << thrown_away);
    BOOST_TEST(repeated == 0u);
    BOOST_TEST(count > 0u);
    BOOST_TEST(thrown_away > 0u);
    BOOST_TEST(count + passed_over + thrown_away == published);
    BOOST_TEST(told_closed == 0u);
}

BOOST_AUTO_TEST_CASE(a_window_at_the_end_of_its_tickets_is_replaced_by_the_next_publish) {
    const auto file = open_window(options());
    MappedWindow client{window_path()};
    client.header().limit = client.header().cursor = Window<>::limit_max - Window<>::slot_ids_max;
    BOOST_TEST(file->publish({1, 1, 3}) == 3u);
    take_up_to(*file, 2);
    BOOST_TEST(file->publish({10, 1, 5}) == 5u);
    BOOST_TEST(client.closed());
    BOOST_TEST((take_up_to(*file, 9) == std::vector<Range>{{10, 1, 5}}));
}

BOOST_AUTO_TEST_SUITE_END()
