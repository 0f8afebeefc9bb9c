// A sidecar of a test's own that does what the test says with each connection: answers well, badly, late, in pieces, or
// not at all. On a Unix socket in a directory of its own, or on a free port of the loopback; a thread for each
// connection.
#pragma once

#include <arpa/inet.h>
#include <next_id/client.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <charconv>
#include <chrono>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sidecar/base/file_descriptor.h"
#include "tests/support/temp_dir.h"

namespace next_id::test {

inline std::string http(const std::string& status, const std::string& body, const std::string& headers = {}) {
    return "HTTP/1.1 " + status +
           "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n" + headers + "\r\n" + body;
}

inline std::string http_ranges(std::uint64_t count, const std::string& ranges) {
    return http("200 OK", R"({"code":0,"msg":"success","data":{"count":)" + std::to_string(count) + ",\"ranges\":[" +
                              ranges + "]}}\n");
}

inline std::string http_503(const std::string& retry_after) {
    return http("503 Service Unavailable",
                "{\"code\":503,\"msg\":\"connect postgresql failed\",\"error\":\"no route to \\\"db\\\"\"}\n",
                "Retry-After: " + retry_after + "\r\n");
}

// The server's end of a connection.
class Peer {
 public:
    Peer(FileDescriptor socket, int number) : socket_{std::move(socket)}, number_{number} {}

    int number() const { return number_; }  // 1 is the first that came
    int descriptor() const { return socket_.get(); }

    // The next request with its head, empty when the client is gone.
    std::string receive() {
        std::string request;
        char byte;
        while (!request.ends_with("\r\n\r\n")) {
            if (::recv(socket_.get(), &byte, 1, 0) != 1) return {};
            request += byte;
        }
        return request;
    }
    void send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(std::size_t(sent));
        }
    }
    void send_byte_by_byte(std::string_view bytes) const {
        for (const char byte : bytes) {
            send({&byte, 1});
            std::this_thread::yield();
        }
    }

 private:
    FileDescriptor socket_;
    int number_;
};

inline std::uint64_t count_in(const std::string& request) {
    std::uint64_t count = 0;
    const std::size_t at = request.find("count=");
    if (at != std::string::npos) std::from_chars(request.data() + at + 6, request.data() + request.size(), count);
    return count;
}

class ScriptedServer {
 public:
    using Script = std::function<void(Peer&)>;  // the connection is closed behind it

    // On the Unix socket `path`, or for "" on a port of the loopback.
    ScriptedServer(const std::string& path, Script script) : script_{std::move(script)}, path_{path} {
        listener_ = FileDescriptor{::socket(path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        if (path.empty()) {
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            socklen_t size = sizeof address;
            BOOST_TEST_REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
            ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
            path_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
        } else {
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            std::strcpy(address.sun_path, path.c_str());
            BOOST_TEST_REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        }
        BOOST_TEST_REQUIRE(::listen(listener_.get(), 16) == 0);
        thread_ = std::thread{[this] { accept_all(); }};
    }
    ~ScriptedServer() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
        for (Served& served : served_) ::shutdown(served.peer.descriptor(), SHUT_RDWR);
        for (Served& served : served_) served.thread.join();
        if (path_.front() == '/') ::unlink(path_.c_str());
    }
    ScriptedServer(const ScriptedServer&) = delete;

    const std::string& address() const { return path_; }
    int connections() const { return connections_; }

 private:
    struct Served {
        Peer peer;
        std::thread thread;
    };

    void accept_all() {
        for (int socket; (socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
            Served& served = served_.emplace_back(Peer{FileDescriptor{socket}, ++connections_}, std::thread{});
            served.thread = std::thread{[this, &served] {
                script_(served.peer);
                ::shutdown(served.peer.descriptor(), SHUT_RDWR);
            }};
        }
    }

    const Script script_;
    std::string path_;
    FileDescriptor listener_;
    std::list<Served> served_;  // the accepting thread's, until that has ended
    std::atomic<int> connections_ = 0;
    std::thread thread_;
};

// The IDs 1, 2, 3, ..., to all connections together.
class Counter {
 public:
    // The IDs for a request, as an answer.
    std::string answer(const std::string& request) {
        const std::uint64_t count = count_in(request), last = next_ += count;
        return http_ranges(count, "[" + std::to_string(last - count + 1) + "," + std::to_string(last) + "]");
    }
    // Answers all requests of a connection.
    void serve(Peer& peer) {
        for (std::string request; !(request = peer.receive()).empty();) peer.send(answer(request));
    }
    std::uint64_t given() const { return next_; }

 private:
    std::atomic<std::uint64_t> next_ = 0;
};

struct ClientFixture {
    TempDir directory{"/dev/shm"};
    std::string path = directory.path / "s";

    Options options(std::chrono::milliseconds timeout = std::chrono::seconds{20}) const {
        Options all;
        all.address = path;
        all.timeout = timeout;
        return all;
    }
};

template <class Work>
Error error_of(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    BOOST_FAIL("no error");
    std::abort();
}

}  // namespace next_id::test
