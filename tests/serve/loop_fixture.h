// A libuv loop for a test, which at the end must have nothing left open, and the other end of a connection.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "sidecar/base/clock.h"
#include "sidecar/base/file_descriptor.h"
#include "sidecar/base/uv_handle.h"

namespace next_id {

inline constexpr Duration patience = std::chrono::seconds{30};

struct LoopFixture {
    LoopFixture() {
        std::signal(SIGPIPE, SIG_IGN);  // as the program does
        BOOST_TEST_REQUIRE(uv_loop_init(&loop) == 0);
        // So that a turn of the loop never takes long, and conditions are looked at.
        tick_ = make_handle<uv_timer_t>(this, [this](uv_timer_t* handle) { return uv_timer_init(&loop, handle); });
        uv_timer_start(
            tick_.get(), [](uv_timer_t*) {}, 1, 1);
    }
    // Whoever derives has closed its own handles by now.
    ~LoopFixture() {
        tick_.reset();
        run_out();
        BOOST_TEST(uv_loop_close(&loop) == 0);
    }
    LoopFixture(const LoopFixture&) = delete;

    template <class Condition>
    bool run_until(Condition condition) {
        const Instant deadline = Clock::now() + patience;
        while (!condition()) {
            if (Clock::now() > deadline) return false;
            uv_run(&loop, UV_RUN_ONCE);
        }
        return true;
    }

    // Until the loop has looked at everything that has happened so far.
    void settle() {
        for (int i = 0; i < 4; ++i) uv_run(&loop, UV_RUN_NOWAIT);
    }

    uv_loop_t loop;

 private:
    void run_out() {
        const Instant deadline = Clock::now() + patience;
        while (uv_run(&loop, UV_RUN_NOWAIT) != 0 && Clock::now() < deadline) {
        }
    }

    Handle<uv_timer_t> tick_;
};

// A client that never blocks.
class Peer {
 public:
    explicit Peer(int descriptor) : socket_{descriptor} {
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    }

    // Sends what the socket takes, and returns how much.
    std::size_t send(std::string_view bytes) {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
    void end_sending() { shutdown(socket_.get(), SHUT_WR); }
    void go() { socket_ = FileDescriptor{}; }

    // Reads what there is.
    void read() {
        char bytes[16384];
        ssize_t size;
        while ((size = ::recv(socket_.get(), bytes, sizeof bytes, 0)) > 0)
            received.append(bytes, static_cast<std::size_t>(size));
        ended |= size == 0;
        reset |= size < 0 && errno != EAGAIN;
    }
    bool over() {
        read();
        return ended || reset;
    }
    bool has(std::size_t bytes) {
        read();
        return received.size() >= bytes;
    }

    std::string received;
    bool ended = false;
    bool reset = false;

 private:
    FileDescriptor socket_;
};

// A connected pair: the peer, and the descriptor of the side under test. Unix, or TCP over the loopback.
inline std::pair<Peer, int> unix_pair() {
    int ends[2];
    BOOST_TEST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    return {Peer{ends[0]}, ends[1]};
}

inline std::pair<Peer, int> tcp_pair() {
    const FileDescriptor listener{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    BOOST_TEST_REQUIRE(bind(listener.get(), any, size) == 0);
    BOOST_TEST_REQUIRE(listen(listener.get(), 1) == 0);
    getsockname(listener.get(), any, &size);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BOOST_TEST_REQUIRE(connect(client, any, size) == 0);
    return {Peer{client}, accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
}

}  // namespace next_id
