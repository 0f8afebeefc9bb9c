// Which windows a sidecar that starts takes over from one that died, and what becomes of those that it does not.
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <fstream>
#include <functional>

#include "tests/window/window_fixture.h"

namespace {

using namespace next_id;
namespace fs = std::filesystem;

const SourceIdentity identity{7'123'456'789, 5, 16400};
const Mark mark{1, 1, 10, 10};

struct OneThatDied : WindowFixture {
    void leave_a_window_of_ten() const {
        const auto file = open_window(options());
        file->set_identity(identity);
        file->set_mark(mark);
        BOOST_TEST_REQUIRE(file->publish({1, 1, 10}) == 10u);
    }
    // Checks that a start with these options closes the window that is there, and why.
    void check_discarded(const WindowFile::Options& all, const std::string& reason, bool mark_is_kept) const {
        MappedWindow client{all.state_dir / "app.ids.window"};
        const auto file = open_window(all);
        BOOST_TEST((file->start() == WindowFile::Start::discarded));
        BOOST_TEST(says(file->start_reason(), reason));
        BOOST_TEST(file->left() == 0u);
        BOOST_TEST(client.closed());
        BOOST_TEST((file->mark() == (mark_is_kept ? mark : Mark{})));
        BOOST_TEST((file->identity() == (mark_is_kept ? identity : SourceIdentity{})));
    }
    // The same for something at the window's place that is not closed, since it is none of ours.
    void check_replaced(const std::string& reason) const {
        const auto file = open_window(options());
        BOOST_TEST((file->start() == WindowFile::Start::discarded));
        BOOST_TEST(says(file->start_reason(), reason));
        BOOST_TEST(file->left() == 0u);
        BOOST_TEST(file->publish({1, 1, 1}) == 1u);
        BOOST_TEST(fs::is_regular_file(fs::symlink_status(window_path())));
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_adoption_tests, OneThatDied)

BOOST_AUTO_TEST_CASE(the_window_of_one_that_was_killed_is_adopted_whole) {
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const pid_t child = in_a_child([&] {
        leave_a_window_of_ten();
        const auto file = open_window(options());
        take_up_to(*file, 3);
        if (::write(ends[1], "x", 1) == 1) ::pause();
    });
    ::close(ends[1]);
    char byte;
    BOOST_TEST_REQUIRE(::read(ends[0], &byte, 1) == 1);
    ::close(ends[0]);
    BOOST_TEST(says(error_of(options()), "process " + std::to_string(child) + " holds "));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);

    const auto file = open_window(options());
    BOOST_TEST((file->start() == WindowFile::Start::adopted));
    BOOST_TEST(file->start_reason().empty());
    BOOST_TEST((file->mark() == mark));
    BOOST_TEST((file->identity() == identity));
    BOOST_TEST(file->left() == 7u);
    BOOST_TEST(file->publish({50, 1, 1}) == 1u);
    BOOST_TEST((take_up_to(*file, 99) == std::vector<Range>{{4, 1, 7}, {50, 1, 1}}));
}

BOOST_AUTO_TEST_CASE(a_window_of_another_boot_is_discarded_and_its_mark_kept) {
    leave_a_window_of_ten();
    auto all = options();
    all.boot_id = "another boot";
    check_discarded(all, "from before the machine was booted", true);
}

BOOST_AUTO_TEST_CASE(without_a_boot_id_nothing_is_adopted) {
    auto all = options();
    all.boot_id = "";
    open_window(all)->publish({1, 1, 10});
    const auto file = open_window(all);
    BOOST_TEST(says(file->start_reason(), "cannot be told whether the machine was booted"));
    BOOST_TEST(file->left() == 0u);
    BOOST_TEST(current_boot_id().size() == 36u);
}

BOOST_AUTO_TEST_CASE(a_window_of_another_pod_is_discarded_and_its_mark_kept) {
    leave_a_window_of_ten();
    auto all = options();
    all.pod_uid = "";
    check_discarded(all, "belongs to another pod", true);
}

// Until PostgreSQL has told whether it is another.
BOOST_AUTO_TEST_CASE(a_window_of_another_source_is_discarded_and_its_mark_kept) {
    leave_a_window_of_ten();
    auto all = options();
    all.source_digest = "digest of another";
    check_discarded(all, "under other settings", true);
    {
        const auto file = open_window(all);
        BOOST_TEST(file->source_changed());
        BOOST_TEST((file->mark() == mark));
        file->set_identity(identity);
        BOOST_TEST(!file->source_changed());
        BOOST_TEST(file->publish({11, 1, 10}) == 10u);
    }
    const auto file = open_window(all);
    BOOST_TEST((file->start() == WindowFile::Start::adopted));
    BOOST_TEST(!file->source_changed());
}

BOOST_AUTO_TEST_CASE(a_window_of_another_size_is_discarded_and_its_mark_kept) {
    leave_a_window_of_ten();
    auto all = options();
    all.slot_count = 16;
    check_discarded(all, "it has 8 slots, not 16", true);
}

BOOST_AUTO_TEST_CASE(a_window_of_another_layout_version_is_closed_all_the_same) {
    leave_a_window_of_ten();
    MappedWindow{window_path()}.header().version = 99;
    check_discarded(options(), "its layout is version 99, not 1", false);
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_window_is_not_adopted) {
    leave_a_window_of_ten();
    fs::copy_file(window_path(), temp.path / "copy");
    fs::rename(temp.path / "copy", window_path());
    check_discarded(options(), "it is a copy of another file", true);
}

BOOST_AUTO_TEST_CASE(a_window_with_a_second_name_is_not_adopted) {
    leave_a_window_of_ten();
    fs::create_hard_link(window_path(), temp.path / "second");
    check_discarded(options(), "its file has another name as well", true);
    BOOST_TEST(MappedWindow{temp.path / "second"}.closed());
}

BOOST_AUTO_TEST_CASE(a_window_of_the_wrong_length_is_not_adopted) {
    for (const std::uintmax_t length : {sizeof(Window<>::Header), Window<>::size_of_file(8) + 1}) {
        leave_a_window_of_ten();
        fs::resize_file(window_path(), length);
        check_discarded(options(), "it has " + std::to_string(length) + " bytes, not 1024", true);
    }
}

BOOST_AUTO_TEST_CASE(a_window_whose_words_make_no_sense_is_not_adopted) {
    const std::pair<const char*, std::function<void(MappedWindow&)>> damages[] = {
        {"counters and ranges are not sound", [](MappedWindow& file) { file.header().cursor = 11; }},
        {"counters and ranges are not sound", [](MappedWindow& file) { file.header().limit = 3; }},
        {"counters and ranges are not sound", [](MappedWindow& file) { file.slot(0).step = 0; }},
        {"counters and ranges are not sound", [](MappedWindow& file) { file.slot(0).first = INT64_MAX; }},
    };
    for (const auto& [reason, damage] : damages) {
        leave_a_window_of_ten();
        {
            MappedWindow file{window_path()};
            damage(file);
        }
        check_discarded(options(), reason, true);
    }
    leave_a_window_of_ten();
    MappedWindow{window_path()}.header().origin.mark_lowest = 11;  // above the highest
    check_discarded(options(), "its mark is not sound", false);
}

BOOST_AUTO_TEST_CASE(a_window_that_was_closed_by_one_that_then_died_leaves_its_mark) {
    leave_a_window_of_ten();
    Window<>::retire(MappedWindow{window_path()}.header());
    check_discarded(options(), "it was closed", true);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_window_is_replaced) {
    fs::create_directory(temp.path / "state");
    std::ofstream{window_path()} << "short";
    check_replaced("it is not a window");
    std::ofstream{window_path(), std::ios::trunc} << std::string(5000, 'x');
    check_replaced("it is not a window");
    fs::remove(window_path());
    BOOST_TEST_REQUIRE(::mkfifo(window_path().c_str(), 0600) == 0);
    check_replaced("it is not a regular file");
}

BOOST_AUTO_TEST_CASE(a_link_in_the_place_of_a_window_is_replaced_and_its_target_left_alone) {
    leave_a_window_of_ten();
    fs::rename(window_path(), temp.path / "target");
    fs::create_symlink(temp.path / "target", window_path());
    check_replaced("it is a symbolic link");
    BOOST_TEST(!MappedWindow{temp.path / "target"}.closed());
}

BOOST_AUTO_TEST_CASE(a_folder_in_the_place_of_a_window_is_an_error) {
    fs::create_directories(window_path());
    BOOST_TEST(says(error_of(options()), "cannot make the window file"));
    BOOST_TEST(says(error_of(options()), "Is a directory"));
    BOOST_TEST(!fs::exists(temp.path / "state" / "app.ids.window.new"));
}

BOOST_AUTO_TEST_CASE(a_window_of_another_user_is_replaced) {
    if (::geteuid() != 0) {
        BOOST_TEST_MESSAGE("skipped: only root can give a file away");
        return;
    }
    leave_a_window_of_ten();
    BOOST_TEST_REQUIRE(::chown(window_path().c_str(), 65534, 65534) == 0);
    check_replaced("it belongs to user 65534, not to 0");
}

BOOST_AUTO_TEST_CASE(on_a_disk_each_start_is_fresh_says_so_and_keeps_the_mark) {
    const TempDir disk{fs::path{NEXT_ID_PROGRAM}.parent_path()};
    if (file_system_of(disk).empty()) {
        BOOST_TEST_MESSAGE("skipped: the build folder lies on a tmpfs");
        return;
    }
    auto all = options();
    all.state_dir = disk.path / "state";
    {
        const auto file = open_window(all);
        BOOST_TEST((file->start() == WindowFile::Start::fresh));
        BOOST_TEST(says(file->start_reason(), file_system_of(disk) + " is never adopted"));
        file->set_identity(identity);
        file->set_mark(mark);
        BOOST_TEST(file->publish({1, 1, 10}) == 10u);
    }
    check_discarded(all, "it lies on " + file_system_of(disk) + ", not on a tmpfs", true);
}

BOOST_AUTO_TEST_CASE(a_torn_identity_is_not_known_yet) {
    leave_a_window_of_ten();
    MappedWindow{window_path()}.header().origin.system_identifier = 0;
    BOOST_TEST((open_window(options())->identity() == SourceIdentity{}));
}

BOOST_AUTO_TEST_CASE(a_full_tmpfs_is_an_error_at_the_start_and_never_a_signal_later) {
    const fs::path full = temp.path / "full";
    fs::create_directory(full);
    if (::mount("tmpfs", full.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=64k") != 0) {
        BOOST_TEST_MESSAGE("skipped: no right to mount a small tmpfs here");
        return;
    }
    {
        const struct Unmount {
            fs::path path;
            ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
        } unmount_at_the_end{full};
        auto all = options();
        all.state_dir = full;
        all.slot_count = 32768;
        const std::string error = error_of(all);
        BOOST_TEST(says(error, "(1049344 bytes): No space left on device; make room there"));
        BOOST_TEST(says(error, "--state-dir"));
        BOOST_TEST(!fs::exists(full / "app.ids.window.new"));

        all.slot_count = 8;
        const auto file = open_window(all);
        file->publish({1, 1, 10});
        std::ofstream{full / "filler"} << std::string(64 << 10, 'x');
        BOOST_TEST(says(file->discard().error(), "No space left on device"));
        BOOST_TEST(take_up_to(*file, 1).empty());
        file->set_mark(mark);
        fs::remove(full / "filler");
        auto thrown_away = file->discard();
        BOOST_TEST_REQUIRE(thrown_away.has_value());
        BOOST_TEST(*thrown_away == 10u);
        BOOST_TEST((file->mark() == mark));
    }
}

BOOST_AUTO_TEST_SUITE_END()
