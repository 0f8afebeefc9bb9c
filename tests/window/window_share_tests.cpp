// What a shared window promises: clients can write all of it, and yet its mark, and whose it is, are the sidecar's
// alone.
#include <sys/stat.h>

#include <cstring>

#include "tests/window/window_fixture.h"

namespace {

using namespace next_id;
namespace fs = std::filesystem;

const SourceIdentity identity{7'123'456'789, 5, 16400};
const Mark mark{1, 1, 10, 10};

struct Shared : WindowFixture {
    WindowFile::Options shared() const {
        auto all = options();
        all.share_dir = temp.path / "shared";
        return all;
    }
    fs::path shared_path() const { return temp.path / "shared" / "app.ids.window"; }
    fs::path origin_path() const { return temp.path / "state" / "app.ids.origin"; }

    void leave_ten(const WindowFile::Options& all) const {
        const auto file = open_window(all);
        file->set_mark(mark);
        file->set_identity(identity);
        BOOST_TEST_REQUIRE(file->publish({1, 1, 10}) == 10u);
    }
    static unsigned mode_of(const fs::path& path) {
        struct stat status {};
        ::lstat(path.c_str(), &status);
        return status.st_mode & 07777u;
    }
    static void check_known(const WindowFile& file) {
        BOOST_TEST((file.mark() == mark));
        BOOST_TEST((file.identity() == identity));
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_share_tests, Shared)

BOOST_AUTO_TEST_CASE(the_window_lies_where_clients_find_it_and_all_else_where_they_cannot_go) {
    const mode_t before = ::umask(077);
    auto all = shared();
    all.share_mode = 0666;
    const auto file = open_window(all);
    ::umask(before);
    BOOST_TEST(file->path() == shared_path());
    BOOST_TEST(mode_of(temp.path / "shared") == 0755u);
    BOOST_TEST(mode_of(shared_path()) == 0666u);
    BOOST_TEST(mode_of(temp.path / "state") == 0700u);
    BOOST_TEST(mode_of(origin_path()) == 0600u);
    BOOST_TEST(fs::exists(temp.path / "state" / "app.ids.lock"));
    std::size_t shared_files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator{temp.path / "shared"}) ++shared_files;
    BOOST_TEST(shared_files == 1u);
    BOOST_TEST(!fs::exists(window_path()));
}

BOOST_AUTO_TEST_CASE(a_shared_window_is_adopted_like_any_other) {
    leave_ten(shared());
    const auto file = open_window(shared());
    BOOST_TEST((file->start() == WindowFile::Start::adopted));
    BOOST_TEST(file->left() == 10u);
    check_known(*file);
}

BOOST_AUTO_TEST_CASE(the_mark_outlives_windows_and_whatever_clients_write) {
    leave_ten(shared());
    {
        const auto file = open_window(shared());
        MappedWindow client{shared_path()};
        std::memset(static_cast<void*>(&client.header().origin), 0xa5, sizeof client.header().origin);
        check_known(*file);
        const auto thrown_away = file->discard();
        BOOST_TEST((thrown_away && *thrown_away == 10u));
        check_known(*file);
        BOOST_TEST(client.closed());
    }
    {
        MappedWindow client{shared_path()};
        std::memset(static_cast<void*>(&client.header().origin), 0xa5, sizeof client.header().origin);
        const auto file = open_window(shared());
        BOOST_TEST((file->start() == WindowFile::Start::adopted));  // whose it is stands elsewhere
        check_known(*file);
        client.header().limit = 5;  // no first ticket of a slot
    }
    const auto file = open_window(shared());
    BOOST_TEST((file->start() == WindowFile::Start::discarded));
    BOOST_TEST(says(file->start_reason(), "counters and ranges are not sound"));
    check_known(*file);
}

BOOST_AUTO_TEST_CASE(a_window_that_was_put_in_its_place_is_not_adopted) {
    leave_ten(shared());
    const fs::path copy = temp.path / "copy";
    fs::copy(shared_path(), copy);
    fs::rename(copy, shared_path());
    {
        struct stat status {};
        ::stat(shared_path().c_str(), &status);
        MappedWindow client{shared_path()};
        client.header().origin.inode = status.st_ino;  // it says that it is the file that it is
    }
    const auto file = open_window(shared());
    BOOST_TEST((file->start() == WindowFile::Start::discarded));
    BOOST_TEST(says(file->start_reason(), "it is a copy of another file"));
    check_known(*file);
}

BOOST_AUTO_TEST_CASE(without_what_only_the_sidecar_can_write_nothing_is_adopted) {
    for (const bool damaged : {false, true}) {
        leave_ten(shared());
        if (damaged)
            fs::resize_file(origin_path(), 17);
        else
            fs::remove(origin_path());
        MappedWindow client{shared_path()};
        const auto file = open_window(shared());
        BOOST_TEST((file->start() == WindowFile::Start::discarded));
        BOOST_TEST(client.closed());
        BOOST_TEST((file->mark() == Mark{}));
    }
}

BOOST_AUTO_TEST_CASE(when_sharing_begins_the_mark_goes_on_and_the_old_window_is_closed) {
    leave_ten(options());
    MappedWindow old{window_path()};
    {
        const auto file = open_window(shared());
        BOOST_TEST((file->start() == WindowFile::Start::discarded));
        BOOST_TEST(says(file->start_reason(), "it was not shared"));
        BOOST_TEST(file->left() == 0u);
        check_known(*file);
        BOOST_TEST(old.closed());
        BOOST_TEST(!fs::exists(window_path()));
    }
    BOOST_TEST((open_window(shared())->start() == WindowFile::Start::adopted));
}

BOOST_AUTO_TEST_CASE(when_sharing_ends_the_mark_goes_on_and_the_shared_window_is_never_adopted_again) {
    leave_ten(shared());
    {
        const auto file = open_window(options());
        BOOST_TEST((file->start() == WindowFile::Start::fresh));
        BOOST_TEST(file->left() == 0u);
        check_known(*file);
        BOOST_TEST(!fs::exists(origin_path()));
    }
    BOOST_TEST((open_window(options())->start() == WindowFile::Start::adopted));
    MappedWindow old{shared_path()};
    const auto file = open_window(shared());
    BOOST_TEST((file->start() == WindowFile::Start::discarded));
    BOOST_TEST(file->left() == 0u);
    BOOST_TEST(old.closed());
    check_known(*file);
}

// A death between making the one and removing the other.
BOOST_AUTO_TEST_CASE(where_both_are_found_the_one_that_was_not_shared_goes) {
    leave_ten(shared());
    fs::copy(origin_path(), temp.path / "origin");
    leave_ten(options());
    fs::rename(temp.path / "origin", origin_path());
    const auto file = open_window(shared());
    BOOST_TEST((file->start() == WindowFile::Start::discarded));
    BOOST_TEST(file->left() == 0u);
    check_known(*file);
    BOOST_TEST(!fs::exists(window_path()));
}

BOOST_AUTO_TEST_CASE(a_latched_mark_stays_latched) {
    {
        const auto file = open_window(shared());
        file->set_mark({1, 1, 10, 10, true});
    }
    for (const auto& all : {options(), shared(), options()}) BOOST_TEST(open_window(all)->mark().latched);
}

BOOST_AUTO_TEST_CASE(the_mark_of_another_source_is_kept_as_such) {
    leave_ten(shared());
    leave_ten(options("b"));
    auto other = shared(), other_b = shared(), other_unshared = options();
    other.source_digest = other_b.source_digest = other_unshared.source_digest = "another";
    other_b.sequence = "b";
    for (const auto& all : {other, other_b, other, other_unshared}) {
        const auto file = open_window(all);
        BOOST_TEST(file->left() == 0u);
        BOOST_TEST(file->source_changed());
        check_known(*file);
    }
}

BOOST_AUTO_TEST_CASE(a_disk_is_no_place_for_a_shared_window) {
    const TempDir disk{fs::path{NEXT_ID_SOURCE_DIR}};
    auto all = shared();
    all.share_dir = disk.path / "shared";
    if (const std::string on = file_system_of(disk); !on.empty())
        BOOST_TEST(says(error_of(all), " lies on " + on + ", where a window could outlive a boot; put it on a tmpfs"));
}

// Who may no longer write it may still have it mapped.
BOOST_AUTO_TEST_CASE(a_window_of_another_mode_is_not_adopted) {
    auto all = shared();
    all.share_mode = 0666;
    leave_ten(all);
    MappedWindow client{shared_path()};
    all.share_mode = 0600;
    const auto file = open_window(all);
    BOOST_TEST(says(file->start_reason(), "its mode is another"));
    BOOST_TEST(mode_of(shared_path()) == 0600u);
    BOOST_TEST(client.closed());
    check_known(*file);
}

BOOST_AUTO_TEST_CASE(the_state_directory_is_not_shared_whatever_its_name) {
    auto all = shared();
    fs::create_directory(all.state_dir);
    fs::create_directory_symlink(all.state_dir, all.share_dir);
    for (const fs::path& same : {all.share_dir, all.state_dir / "", all.state_dir}) {
        all.share_dir = same;
        BOOST_TEST(says(error_of(all), "is the state directory"));
    }
}

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_made_is_named) {
    const std::string file = temp.write("file", "");
    auto all = shared();
    all.share_dir = file;
    BOOST_TEST(says(error_of(all), "the directory of shared windows " + file + " is not a directory"));
    all.share_dir = fs::path{file} / "below";
    BOOST_TEST(says(error_of(all), "(--window-share)"));
}

BOOST_AUTO_TEST_SUITE_END()
