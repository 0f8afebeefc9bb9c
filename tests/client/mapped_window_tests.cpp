// A client that maps the window of a sidecar: takes from it while it can, and else asks.
#include <fcntl.h>
#include <next_id/id_pool.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>

#include "sidecar/window/window_file.h"
#include "tests/client/in_a_fork.h"
#include "tests/client/scripted_server.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;

constexpr std::int64_t asked = 1'000'000;  // what the socket gives begins behind it

// A sidecar's window, shared, and a server on its socket whose IDs are told apart.
struct Mapped : ClientFixture {
    Mapped() { file = open(); }

    std::unique_ptr<WindowFile> open(const std::string& digest = "digest") const {
        WindowFile::Options all;
        all.state_dir = directory.path / "state";
        all.share_dir = directory.path / "shared";
        all.sequence = "app.\"Ids\"";
        all.source_digest = digest;
        all.boot_id = "boot";
        all.slot_count = 8;
        auto opened = WindowFile::open(all);
        BOOST_TEST_REQUIRE(opened.has_value(), (opened ? "" : opened.error()));
        return std::move(*opened);
    }
    Options mapped() const {
        Options all = options();
        all.sequence = "app.\"Ids\"";
        all.window = directory.path / "shared";
        return all;
    }
    // Writes over eight bytes of the file.
    void write_word(std::size_t at, std::uint64_t word) const {
        std::fstream bytes{file->path(), std::ios::in | std::ios::out | std::ios::binary};
        bytes.seekp(std::streamoff(at));
        bytes.write(reinterpret_cast<const char*>(&word), sizeof word);
    }

    std::unique_ptr<WindowFile> file;
    std::atomic<std::int64_t> next = 0;
    ScriptedServer server{
        path, [this](Peer& peer) {
            for (std::string request; !(request = peer.receive()).empty();) {
                const std::uint64_t count = count_in(request);
                const std::int64_t first = asked + next.fetch_add(std::int64_t(count));
                peer.send(http_ranges(
                    count, "[" + std::to_string(first) + "," + std::to_string(first + std::int64_t(count) - 1) + "]"));
            }
        }};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_mapped_window_tests, Mapped)

BOOST_AUTO_TEST_CASE(ids_come_out_of_the_window_and_nobody_is_asked) {
    file->publish({1, 1, 5});
    file->publish({-9, -3, 100});
    Client client{mapped()};
    BOOST_TEST(client.next() == 1);
    BOOST_TEST(client.next(6) == (Ids{2, 3, 4, 5, -9, -12}));
    BOOST_TEST(client.next_ranges(2).front().step == -3);
    IdPool pool{mapped()};
    BOOST_TEST(pool.next() == -21);
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(ids_are_exact_to_both_ends_of_64_bits) {
    file->publish({INT64_MAX - 1, 1, 2});
    file->publish({INT64_MIN + 2, -2, 2});
    Client client{mapped()};
    for (const std::int64_t id : {INT64_MAX - 1, INT64_MAX, INT64_MIN + 2, INT64_MIN}) BOOST_TEST(client.next() == id);
}

BOOST_AUTO_TEST_CASE(a_dry_window_falls_back_to_the_socket_and_is_used_again) {
    Client client{mapped()};
    IdPool pool{mapped(), {10}};
    BOOST_TEST(client.next() == asked);
    file->publish({1, 1, 3});
    BOOST_TEST(client.next(2) == (Ids{1, 2}));
    BOOST_TEST(client.next(2) == (Ids{asked + 1, asked + 2}));  // too few there
    BOOST_TEST(pool.next() == 3);
    BOOST_TEST(pool.next() == asked + 3);
    file->publish({4, 1, 100});
    BOOST_TEST(client.next() == 4);
    for (int i = 1; i < 10; ++i) BOOST_TEST(pool.next() == asked + 3 + i);  // what it has goes first
    BOOST_TEST(pool.next() == 5);
}

BOOST_AUTO_TEST_CASE(a_window_that_is_closed_and_replaced_is_mapped_again) {
    Client client{mapped()};
    for (std::int64_t round = 0; round < 3; ++round) {
        file->publish({100 * round, 1, 10});
        BOOST_TEST(client.next() == 100 * round);
        BOOST_TEST(file->discard().has_value());
    }
    file->publish({900, 1, 10});
    BOOST_TEST(client.next() == 900);
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_sidecar_that_starts_again_goes_on_under_its_clients) {
    file->publish({1, 1, 10});
    Client client{mapped()};
    BOOST_TEST(client.next() == 1);
    file.reset();
    BOOST_TEST(client.next() == 2);  // though nobody runs
    file = open();
    BOOST_TEST((file->start() == WindowFile::Start::adopted));
    BOOST_TEST(client.next() == 3);
    file.reset();
    file = open("another");  // whose window is another
    file->publish({100, 1, 10});
    BOOST_TEST(client.next() == 100);
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_window_whose_name_leads_elsewhere_is_left_once_it_is_dry) {
    file->publish({1, 1, 2});
    Client client{mapped()};
    BOOST_TEST(client.next() == 1);
    fs::remove_all(directory.path / "shared");
    fs::remove_all(directory.path / "state");
    const auto replaced = std::exchange(file, nullptr);
    file = open();
    file->publish({50, 1, 2});
    BOOST_TEST(client.next() == 2);
    BOOST_TEST(client.next() == 50);
}

// Where files get the numbers that they had before.
BOOST_AUTO_TEST_CASE(a_window_on_a_tmpfs_that_is_mounted_anew_is_found) {
    file.reset();
    fs::remove_all(directory.path / "shared");
    const auto mounts = [&] {
        const fs::path shared = directory.path / "shared";
        if (::unshare(::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return 0;
        if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 0;  // not allowed here
        Client client{mapped()};
        for (const std::int64_t first : {1, 50}) {
            fs::remove_all(directory.path / "state");
            fs::create_directory(shared);
            if (::mount("none", shared.c_str(), "tmpfs", 0, nullptr) != 0) return 1;
            file = open();
            file->publish({first, 1, 1});
            if (client.next() != first) return 2;
            file.reset();
            if (::umount2(shared.c_str(), MNT_DETACH) != 0) return 3;
        }
        return 0;
    };
    BOOST_TEST(in_a_fork([&] {
                   try {
                       return mounts();
                   } catch (...) {
                       return 4;
                   }
               }) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_no_window_to_be_trusted_is_not_used) {
    file->publish({1, 1, 10});
    constexpr std::size_t version_at = 8, limit_at = 256;
    const fs::path name = file->path(), aside = directory.path / "aside";
    const std::function<void()> obstacles[] = {
        [&] { write_word(version_at, 2); },                       // another layout
        [&] { write_word(limit_at, 5); },                         // not sound
        [&] { fs::rename(name, aside); },                         // not there
        [&] { fs::rename(name, aside), fs::copy(aside, name); },  // a copy
        [&] { fs::rename(name, aside), fs::create_symlink(aside, name); },
        [&] { fs::rename(name, aside), fs::create_directory(name); },
        [&] { fs::resize_file(name, 700); },
        [&] { fs::rename(name, aside), ::mkfifo(name.c_str(), 0666); },
    };
    for (const auto& make_obstacle : obstacles) {
        make_obstacle();
        Client client{mapped()};
        IdPool pool{mapped(), {3}};
        BOOST_TEST(client.next() >= asked);
        BOOST_TEST(pool.next() >= asked);
        file.reset();
        fs::remove_all(directory.path / "shared");
        fs::remove_all(directory.path / "state");
        fs::remove_all(aside);
        file = open();
        file->publish({1, 1, 10});
    }
    BOOST_TEST(Client{mapped()}.next() == 1);
}

BOOST_AUTO_TEST_CASE(a_window_on_a_disk_may_be_of_an_earlier_boot) {
    const TempDir disk{fs::path{NEXT_ID_SOURCE_DIR}};
    const FileDescriptor opened{::open(disk.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (file_system_that_keeps(opened.get()).empty()) return;
    // Made there by hand, with a header that fits.
    const fs::path there = disk.path / file->path().filename();
    auto made = WindowMapping::create(there, 8, {{"digest", "", "boot"}, {}, {}});
    BOOST_TEST_REQUIRE(made.has_value());
    (*made)->window().publish({1, 1, 10});
    Options all = mapped();
    all.window = disk.path;
    BOOST_TEST(Client{all}.next() >= asked);
}

BOOST_AUTO_TEST_CASE(one_that_appears_later_is_found) {
    const auto kept = std::exchange(file, nullptr);
    const fs::path name = kept->path(), aside = directory.path / "aside";
    kept->publish({1, 1, 10});
    fs::rename(name, aside);
    Client client{mapped()};
    BOOST_TEST(client.next() >= asked);
    fs::rename(aside, name);
    BOOST_TEST(wait_until([&] { return client.next() < asked; }));
}

BOOST_AUTO_TEST_CASE(parent_and_child_take_from_one_window) {
    file->publish({1, 1, 100'000});
    IdPool pool{mapped()};
    std::set<std::int64_t> ids;
    for (int i = 0; i < 300; ++i) ids.insert(pool.next());
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        for (int i = 0; i < 1000; ++i)
            if (const std::int64_t id = pool.next(); ::write(ends[1], &id, sizeof id) != sizeof id) ::_exit(1);
        ::_exit(0);
    }
    for (int i = 0; i < 1000; ++i) ids.insert(pool.next());
    for (int i = 0; i < 1000; ++i) {
        std::int64_t id = 0;
        BOOST_TEST_REQUIRE(::read(ends[0], &id, sizeof id) == ssize_t(sizeof id));
        ids.insert(id);
    }
    ::waitpid(child, nullptr, 0);
    BOOST_TEST(ids.size() == 2300u);
    BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(a_window_needs_the_name_of_its_sequence) {
    Options all = mapped();
    all.sequence.clear();
    const Error error = error_of([&] { Client{all}; });
    BOOST_TEST((error.code() == ErrorCode::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
