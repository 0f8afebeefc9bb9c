// Listening sockets, bound at start: TCP by address, Unix by path. Errors are sentences for people.
#pragma once

#include <filesystem>
#include <string>

#include "sidecar/base/expected.h"
#include "sidecar/base/file_descriptor.h"
#include "sidecar/base/file_lock.h"
#include "sidecar/config/config.h"

namespace next_id {

inline constexpr int listen_backlog = 1024;  // connections that wait to be accepted, at most

// `address` is an IP address. Port 0 asks for a free one: bound_port() tells which.
Expected<FileDescriptor> listen_tcp(const HostPort& address);
std::uint16_t bound_port(const FileDescriptor& socket);

// A listening Unix socket by its name in the file system, which is removed when it is destroyed.
class UnixSocket {
 public:
    // Takes the place of a socket that a dead process left behind, never that of a live one. The name appears with its
    // mode already set.
    static Expected<UnixSocket> listen(const std::filesystem::path& path, unsigned mode);

    UnixSocket(UnixSocket&& from) noexcept = default;
    ~UnixSocket();

    // For the one who accepts.
    FileDescriptor take_descriptor() { return std::move(socket_); }

 private:
    UnixSocket(std::filesystem::path path, FileLock lock, FileDescriptor socket)
        : path_{std::move(path)}, lock_{std::move(lock)}, socket_{std::move(socket)} {}

    std::filesystem::path path_;
    FileLock
        lock_;  // of a file beside it: between two sidecars that start at once, a look at the socket does not decide
    FileDescriptor socket_;
};

}  // namespace next_id
