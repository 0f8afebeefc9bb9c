#include "sidecar/app/socket.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace next_id {
namespace {

constexpr std::chrono::milliseconds full_backlog_pause{10};

int remaining_ms(Instant deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

}  // namespace

Socket::~Socket() {
    if (fd_ >= 0) close(fd_);
}

int Socket::wait_for(short events, Instant deadline) const {
    for (;;) {
        pollfd wanted{fd_, events, 0};
        const int ready = poll(&wanted, 1, remaining_ms(deadline));
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return errno;
        if (Clock::now() >= deadline) return ETIMEDOUT;
    }
}

int Socket::connect(const UnixPath& unix_path, Instant deadline) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (unix_path.path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    std::memcpy(address.sun_path, unix_path.path.data(), unix_path.path.size());
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return errno;
    while (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        // A full backlog is told by EAGAIN, and nothing tells when it has room again.
        if (errno != EAGAIN && errno != EINTR) return errno;
        if (Clock::now() >= deadline) return ETIMEDOUT;
        poll(nullptr, 0, int(full_backlog_pause.count()));
    }
    return 0;
}

int Socket::connect(const HostPort& address, Instant deadline) {
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    v4.sin_family = AF_INET;
    v6.sin6_family = AF_INET6;
    v4.sin_port = v6.sin6_port = htons(address.port);
    const bool is_v4 = inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1;
    if (!is_v4 && inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) != 1) return EINVAL;
    fd_ = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return errno;
    const int done = is_v4 ? ::connect(fd_, reinterpret_cast<const sockaddr*>(&v4), sizeof v4)
                           : ::connect(fd_, reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
    if (done == 0) return 0;
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    if (const int problem = wait_for(POLLOUT, deadline)) return problem;
    int outcome = 0;
    socklen_t size = sizeof outcome;
    return getsockopt(fd_, SOL_SOCKET, SO_ERROR, &outcome, &size) == 0 ? outcome : errno;
}

int Socket::send(std::string_view bytes, Instant deadline) {
    while (!bytes.empty()) {
        if (const int problem = wait_for(POLLOUT, deadline)) return problem;
        const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) bytes.remove_prefix(std::size_t(sent));
        if (sent < 0 && errno != EINTR && errno != EAGAIN) return errno;
    }
    return 0;
}

int Socket::receive(std::string& bytes, bool& ended, Instant deadline) {
    for (;;) {
        if (const int problem = wait_for(POLLIN, deadline)) return problem;
        std::array<char, 16384> chunk;
        const ssize_t received = recv(fd_, chunk.data(), chunk.size(), 0);
        if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (received < 0) return errno;
        ended = received == 0;
        bytes.append(chunk.data(), std::size_t(received));
        return 0;
    }
}

}  // namespace next_id
