// Where the bench programs meet: `127.0.0.1:PORT`, or the path of a Unix socket. Nothing but loopback is accepted, for
// a benchmark has no business on a network.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace next_id::bench {

class Address {
 public:
    explicit Address(const std::string& text) : text_{text} {
        if (text.find('/') == std::string::npos) {
            set_loopback_port(text);
        } else {
            set_path(text);
        }
    }

    // A stream socket for this address, closed on exec.
    int open_socket() const {
        const int fd = ::socket(family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) throw std::system_error(errno, std::generic_category(), "socket for " + text_);
        return fd;
    }

    // Without it a small answer waits for the acknowledgement of the last one. A Unix socket needs nothing.
    void send_at_once(int fd) const {
        const int on = 1;
        if (family() == AF_INET) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const { return size_; }
    const std::string& text() const { return text_; }

 private:
    int family() const { return storage_.ss_family; }

    void set_loopback_port(const std::string& text) {
        static constexpr std::string_view host = "127.0.0.1:";
        std::uint16_t port = 0;
        const char* end = text.data() + text.size();
        const bool loopback = text.starts_with(host);
        const auto parsed = std::from_chars(text.data() + (loopback ? host.size() : 0), end, port);
        if (!loopback || parsed.ec != std::errc{} || parsed.ptr != end || port == 0) {
            throw std::invalid_argument("'" + text + "' is neither 127.0.0.1:PORT nor a path with a slash");
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        store(address);
    }

    void set_path(const std::string& path) {
        sockaddr_un address{};
        if (path.size() >= sizeof address.sun_path) {
            throw std::invalid_argument("'" + path + "' is too long for a Unix socket");
        }
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.data(), path.size());
        store(address);
    }

    template <class Sockaddr>
    void store(const Sockaddr& address) {
        std::memcpy(&storage_, &address, sizeof address);
        size_ = sizeof address;
    }

    std::string text_;
    sockaddr_storage storage_{};
    socklen_t size_ = 0;
};

}  // namespace next_id::bench
