// Where the sidecar listens: the path of a Unix socket, or an IP address and a port. A value.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

namespace next_id::client {

class Address {
 public:
    // As in Options::address. Throws an Error (invalid_argument).
    explicit Address(const std::string& text);

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const { return size_; }
    int family() const { return storage_.ss_family; }
    bool is_unix() const { return family() == AF_UNIX; }
    const std::string& text() const { return text_; }  // for people, and for the Host header

 private:
    sockaddr_storage storage_{};
    socklen_t size_ = 0;
    std::string text_;
};

}  // namespace next_id::client
