// A server of a few lines in a thread of its own: it answers each connection with what a function makes of the
// request's target, and closes it. On a Unix socket in a directory of its own, or on a free port of the loopback.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sidecar/app/http_client.h"

namespace next_id {

class FakeServer {
 public:
    enum class Kind { unix_socket, tcp };
    using Answer = std::function<std::string(const std::string& target)>;

    FakeServer(Kind kind, Answer answer) : answer_{std::move(answer)} {
        std::string pattern = "/tmp/next-id-XXXXXX";
        directory_ = mkdtemp(pattern.data());
        if (kind == Kind::unix_socket) {
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            std::strcpy(address.sun_path, socket_path().c_str());
            fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
            BOOST_TEST_REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        } else {
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            socklen_t size = sizeof address;
            fd_ = socket(AF_INET, SOCK_STREAM, 0);
            BOOST_TEST_REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
            getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
            port_ = ntohs(address.sin_port);
        }
        BOOST_TEST_REQUIRE(listen(fd_, 8) == 0);
        thread_ = std::thread{[this] { run(); }};
    }
    ~FakeServer() {
        shutdown(fd_, SHUT_RDWR);  // wakes accept()
        thread_.join();
        close(fd_);
        std::filesystem::remove_all(directory_);
    }

    std::string socket_path() const { return (directory_ / "s").string(); }
    HostPort address() const { return {"127.0.0.1", port_}; }
    std::vector<std::string> requests() const {
        const std::lock_guard lock{mutex_};
        return requests_;
    }

 private:
    void run() {
        for (int client; (client = accept(fd_, nullptr, nullptr)) >= 0; close(client)) {
            std::string request;
            char byte;
            while (!request.ends_with("\r\n\r\n") && recv(client, &byte, 1, 0) == 1) request += byte;
            {
                const std::lock_guard lock{mutex_};
                requests_.push_back(request);
            }
            const std::string answer = answer_(request.substr(4, request.find(' ', 4) - 4));
            send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
        }
    }

    Answer answer_;
    std::filesystem::path directory_;
    int fd_ = -1;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::thread thread_;
};

inline std::string http_answer(const std::string& status, const std::string& body) {
    return "HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\ncontent-length:  " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

}  // namespace next_id
