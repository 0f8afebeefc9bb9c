// A sidecar as far as the client library can tell, at next to no cost: one connection on a Unix socket, each request
// answered with the next million IDs. In a thread of its own, until it goes.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace next_id::bench {

class StubSidecar {
 public:
    static constexpr std::int64_t batch = 1'000'000;

    StubSidecar() {
        ::mkdtemp(directory_.data());
        path_ = directory_ + "/s";
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        path_.copy(address.sun_path, sizeof address.sun_path - 1);
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_, 1) != 0) {
            std::perror(path_.c_str());
            std::exit(1);
        }
        thread_ = std::thread{[this] { serve(); }};
    }
    ~StubSidecar() {  // after its client
        thread_.join();
        ::close(listener_);
        ::unlink(path_.c_str());
        ::rmdir(directory_.c_str());
    }
    StubSidecar(const StubSidecar&) = delete;

    const std::string& path() const { return path_; }

 private:
    void serve() const {
        const int client = ::accept(listener_, nullptr, nullptr);
        char request[4096];
        for (std::int64_t last = 0; ::recv(client, request, sizeof request, 0) > 0;) {
            last += batch;
            const std::string body = R"({"code":0,"msg":"success","data":{"count":1000000,"ranges":[[)" +
                                     std::to_string(last - batch + 1) + "," + std::to_string(last) + "]]}}\n";
            const std::string answer =
                "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
            ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
        }
        ::close(client);
    }

    std::string directory_ = "/tmp/next-id-bench-XXXXXX", path_;
    int listener_ = -1;
    std::thread thread_;
};

}  // namespace next_id::bench
