#include "sidecar/serve/socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/window/window_fixture.h"

namespace next_id {
namespace {

namespace fs = std::filesystem;

sockaddr_un address_at(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    return address;
}

// A socket that another program has at that path.
FileDescriptor foreign_socket(const fs::path& path, int type = SOCK_STREAM, int backlog = 8) {
    FileDescriptor made{socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const sockaddr_un address = address_at(path);
    BOOST_TEST_REQUIRE(bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    if (type == SOCK_STREAM) BOOST_TEST_REQUIRE(listen(made.get(), backlog) == 0);
    return made;
}

FileDescriptor connected_to(const fs::path& path) {
    FileDescriptor client{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const sockaddr_un address = address_at(path);
    const bool connected = connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    return connected ? std::move(client) : FileDescriptor{};
}

struct SocketFixture {
    std::string refused(unsigned mode = 0666) const {
        const auto socket = UnixSocket::listen(path, mode);
        BOOST_TEST_REQUIRE(!socket.has_value());
        return socket.error();
    }
    std::string me() const { return "process " + std::to_string(getpid()); }

    TempDir temp{"/tmp"};
    fs::path path = temp.path / "s";
};

unsigned mode_of(const fs::path& path) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : ~0U;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tcp_socket_tests)

BOOST_AUTO_TEST_CASE(port_0_finds_a_free_one_and_tells_which) {
    const auto one = listen_tcp({"127.0.0.1", 0}), two = listen_tcp({"127.0.0.1", 0});
    BOOST_TEST_REQUIRE((one.has_value() && two.has_value()));
    BOOST_TEST(bound_port(*one) != 0);
    BOOST_TEST(bound_port(*one) != bound_port(*two));
    if (const auto v6 = listen_tcp({"::1", 0})) BOOST_TEST(bound_port(*v6) != 0);
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_says_how_to_find_who_has_it) {
    const auto first = listen_tcp({"127.0.0.1", 0});
    const std::uint16_t port = bound_port(*first);
    const auto second = listen_tcp({"127.0.0.1", port});
    BOOST_TEST_REQUIRE(!second.has_value());
    const std::string text = std::to_string(port);
    BOOST_TEST(second.error() == "cannot listen on 127.0.0.1:" + text + ": Address already in use. Another process has it: ss -ltnp 'sport = :" +
                                     text + "' tells which; or choose another port");
}

BOOST_AUTO_TEST_CASE(an_address_that_is_none_of_this_machine_is_refused) {
    BOOST_TEST(listen_tcp({"203.0.113.1", 0}).error() == "cannot listen on 203.0.113.1:0: Cannot assign requested address");
    BOOST_TEST(listen_tcp({"localhost", 80}).error() == "cannot listen on localhost:80: localhost is not an IP address");
    BOOST_TEST(listen_tcp({"2001:db8::1", 1}).error().starts_with("cannot listen on [2001:db8::1]:1: "));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(unix_socket_tests, SocketFixture)

BOOST_AUTO_TEST_CASE(it_listens_under_its_name_until_its_end) {
    {
        auto socket = UnixSocket::listen(path, 0600);
        BOOST_TEST_REQUIRE(socket.has_value());
        BOOST_TEST(bool{connected_to(path)});
        const UnixSocket moved{std::move(*socket)};
        BOOST_TEST(fs::exists(path));
        BOOST_TEST(!fs::exists(path.string() + ".new"));
    }
    BOOST_TEST(!fs::exists(path));
    BOOST_TEST(UnixSocket::listen(path, 0600).has_value());  // once more
}

BOOST_AUTO_TEST_CASE(whoever_took_the_descriptor_goes_on_when_the_name_is_gone) {
    std::optional<UnixSocket> socket{std::move(*UnixSocket::listen(path, 0600))};
    const FileDescriptor descriptor = socket->take_descriptor();
    const FileDescriptor client = connected_to(path);
    socket.reset();
    BOOST_TEST(!fs::exists(path));
    BOOST_TEST(bool{FileDescriptor{accept(descriptor.get(), nullptr, nullptr)}});
}

BOOST_AUTO_TEST_CASE(a_missing_directory_is_made) {
    path = temp.path / "run" / "next-id" / "s";
    const auto socket = UnixSocket::listen(path, 0666);
    BOOST_TEST(bool{connected_to(path)});
}

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_made_is_told) {
    std::ofstream{temp.path / "file"} << "x";
    path = temp.path / "file" / "s";
    const std::string error = refused();
    BOOST_TEST(error == "cannot listen on " + path.string() + ": cannot open the lock file " + path.string() + ".lock: Not a directory");
}

BOOST_AUTO_TEST_CASE(what_a_dead_process_left_is_replaced) {
    foreign_socket(path);
    std::ofstream{path.string() + ".new"} << "left over, too";
    BOOST_TEST_REQUIRE(fs::exists(path));
    BOOST_TEST(!connected_to(path));
    const auto socket = UnixSocket::listen(path, 0666);
    BOOST_TEST_REQUIRE(socket.has_value());
    BOOST_TEST(bool{connected_to(path)});
}

BOOST_AUTO_TEST_CASE(a_live_socket_is_left_alone_and_its_process_named) {
    const FileDescriptor live = foreign_socket(path);
    BOOST_TEST(refused() == "cannot listen on " + path.string() + ": " + me() + " answers there. Stop it, or choose another --socket");
    BOOST_TEST(bool{connected_to(path)});
}

BOOST_AUTO_TEST_CASE(a_live_socket_that_is_too_busy_to_answer_is_left_alone) {
    const FileDescriptor live = foreign_socket(path, SOCK_STREAM, 0);
    std::vector<FileDescriptor> queue;
    do queue.push_back(connected_to(path));
    while (queue.back());
    BOOST_TEST_REQUIRE(errno == EAGAIN);
    BOOST_TEST(says(refused(), "answers there"));
}

BOOST_AUTO_TEST_CASE(a_live_socket_of_another_kind_is_left_alone) {
    const FileDescriptor live = foreign_socket(path, SOCK_DGRAM);
    BOOST_TEST(says(refused(), "another process answers there"));
    BOOST_TEST(fs::exists(path));
}

BOOST_AUTO_TEST_CASE(another_sidecar_is_named_and_left_alone) {
    const auto first = UnixSocket::listen(path, 0666);
    BOOST_TEST(refused() == "cannot listen on " + path.string() + ": the socket is in use: " + me() + " holds " + path.string() +
                                ".lock; stop that sidecar, or choose another --socket");
    BOOST_TEST(bool{connected_to(path)});
}

BOOST_AUTO_TEST_CASE(a_file_in_the_way_is_left_alone) {
    std::ofstream{path} << "precious";
    BOOST_TEST(refused() == "cannot listen on " + path.string() +
                                ": there is a file of that name that is not a socket. Remove it, or choose another --socket");
    BOOST_TEST(fs::file_size(path) == 8);
    fs::remove(path);
    fs::create_directory(path);
    BOOST_TEST(says(refused(), "not a socket"));
    fs::remove(path);
    fs::create_symlink(temp.path / "elsewhere", path);
    BOOST_TEST(says(refused(), "not a socket"));
    BOOST_TEST(fs::is_symlink(path));
}

BOOST_AUTO_TEST_CASE(the_mode_is_as_configured_whatever_the_umask_from_the_first_instant) {
    std::atomic<bool> done = false;
    std::atomic<unsigned> seen = 0, wrong = 0;
    std::thread watcher{[&] {
        while (!done) {
            const unsigned mode = mode_of(path);
            if (mode == ~0U) continue;
            ++seen;
            if (mode != 0640) ++wrong;
        }
    }};
    for (const mode_t mask : {mode_t{0}, mode_t{077}}) {
        const mode_t before = umask(mask);
        for (int i = 0; i < 100; ++i) {
            const auto socket = UnixSocket::listen(path, 0640);
            if (i == 0) BOOST_TEST(mode_of(path) == 0640);
        }
        umask(before);
    }
    done = true;
    watcher.join();
    BOOST_TEST(wrong == 0);
    BOOST_TEST_MESSAGE("looked at it " << seen << " times");
}

BOOST_AUTO_TEST_CASE(of_several_that_start_at_once_one_wins) {
    for (int round = 0; round < 20; ++round) {
        constexpr unsigned contenders = 4;
        std::atomic<unsigned> ready = 0, won = 0, told = 0, finished = 0;
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < contenders; ++i)
            threads.emplace_back([&] {
                ++ready;
                while (ready < contenders) std::this_thread::yield();
                const auto socket = UnixSocket::listen(path, 0666);
                if (socket)
                    ++won;
                else if (socket.error().find("is in use") != std::string::npos)
                    ++told;
                ++finished;
                while (finished < contenders) std::this_thread::yield();
            });
        for (std::thread& thread : threads) thread.join();
        BOOST_TEST(won == 1);
        BOOST_TEST(told == contenders - 1);
        BOOST_TEST(!fs::exists(path));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
