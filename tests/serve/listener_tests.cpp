#include "sidecar/serve/listener.h"

#include <sys/resource.h>
#include <sys/un.h>

#include <boost/test/unit_test.hpp>
#include <optional>

#include "sidecar/base/log.h"
#include "sidecar/serve/socket.h"
#include "tests/serve/loop_fixture.h"
#include "tests/support/temp_dir.h"

namespace next_id {
namespace {

struct ListenerFixture : LoopFixture {
    ListenerFixture() {
        auto socket = listen_tcp({"127.0.0.1", 0});
        BOOST_TEST_REQUIRE(socket.has_value());
        port = bound_port(*socket);
        listener.emplace(&loop, std::move(*socket), Entrance{.admission = &admission},
                         [this](Accepted one) { accepted.push_back(std::move(one)); });
    }
    ~ListenerFixture() { listener.reset(); }

    FileDescriptor connect() const {
        FileDescriptor client{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        const bool connected =
            ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        return connected ? std::move(client) : FileDescriptor{};
    }

    Admission admission{{.connections_max = 201}};
    std::uint16_t port = 0;
    std::vector<Accepted> accepted;
    std::optional<Listener> listener;
};

// While it lives, the process gets no further descriptors.
class NoMoreDescriptors {
 public:
    NoMoreDescriptors() {
        log::warn("there will be no descriptors");  // UBSan needs some when it sees the log's types for the first time
        getrlimit(RLIMIT_NOFILE, &before_);
        const int lowest_free = dup(STDERR_FILENO);
        close(lowest_free);
        const rlimit none{static_cast<rlim_t>(lowest_free), before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
    rlimit before_{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(listener_tests, ListenerFixture)

BOOST_AUTO_TEST_CASE(it_accepts_whoever_connects) {
    std::vector<FileDescriptor> clients;
    for (int i = 0; i < 200; ++i) {
        clients.push_back(connect());
        BOOST_TEST_REQUIRE(bool{clients.back()});
    }
    BOOST_TEST(run_until([&] { return accepted.size() == 200; }));
    for (const Accepted& one : accepted) {
        BOOST_TEST((fcntl(one.descriptor.get(), F_GETFL) & O_NONBLOCK) != 0);
        BOOST_TEST((fcntl(one.descriptor.get(), F_GETFD) & FD_CLOEXEC) != 0);
    }
}

BOOST_AUTO_TEST_CASE(without_descriptors_it_waits_and_goes_on_when_there_are_some) {
    const FileDescriptor one = connect(), two = connect();
    {
        const NoMoreDescriptors none;
        for (int i = 0; i < 200; ++i) settle();
        BOOST_TEST(accepted.size() == 0);
    }
    BOOST_TEST(run_until([&] { return accepted.size() == 2; }));
    const FileDescriptor three = connect();
    BOOST_TEST(run_until([&] { return accepted.size() == 3; }));
}

BOOST_AUTO_TEST_CASE(without_descriptors_it_does_not_spin) {
    const FileDescriptor one = connect();
    const NoMoreDescriptors none;
    settle();
    // Nothing but the tick of the fixture wakes the loop: a listener that spun would take all of the turns.
    const Instant began = Clock::now();
    unsigned turns = 0;
    while (Clock::now() - began < std::chrono::milliseconds{50}) {
        uv_run(&loop, UV_RUN_ONCE);
        ++turns;
    }
    BOOST_TEST(turns < 120);
}

BOOST_AUTO_TEST_CASE(it_says_who_came_and_who_may_not) {
    std::vector<FileDescriptor> clients;
    for (std::size_t i = 0; i < 201 + Admission::refused_max + 1; ++i) {
        clients.push_back(connect());
        BOOST_TEST_REQUIRE(bool{clients.back()});
    }
    BOOST_TEST(run_until([&] { return accepted.size() == 201 + Admission::refused_max; }));
    char byte;
    BOOST_TEST(run_until([&] { return recv(clients.back().get(), &byte, 1, MSG_DONTWAIT) == 0; }));  // closed at once
    BOOST_TEST(!accepted[200].refusal);
    BOOST_TEST_REQUIRE(accepted[201].refusal.has_value());
    BOOST_TEST(accepted[201].refusal->status == 503);
    for (const Accepted& one : accepted) BOOST_TEST((one.client.transport == Client::Transport::ipv4));
    BOOST_TEST(accepted[0].client.address[0] == 127);
}

BOOST_AUTO_TEST_CASE(on_the_unix_socket_it_says_which_user_came) {
    const TempDir dir;
    auto socket = UnixSocket::listen(dir.path / "s", 0600);
    BOOST_TEST_REQUIRE(socket.has_value());
    listener.emplace(&loop, socket->take_descriptor(), Entrance{},
                     [this](Accepted one) { accepted.push_back(std::move(one)); });
    const FileDescriptor client{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    (dir.path / "s").native().copy(address.sun_path, sizeof address.sun_path - 1);
    BOOST_TEST(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    BOOST_TEST(run_until([&] { return accepted.size() == 1; }));
    BOOST_TEST((accepted[0].client == Client{.uid = getuid()}));
}

BOOST_AUTO_TEST_CASE(its_end_closes_the_socket) {
    BOOST_TEST(bool{connect()});
    listener.reset();
    settle();
    BOOST_TEST(!connect());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
