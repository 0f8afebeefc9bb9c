#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "sidecar/base/require.h"
#include "sidecar/serve/socket.h"

namespace next_id {

namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
    sockaddr_un address{};
    require(path.native().size() < sizeof address.sun_path);  // the configuration sees to it
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    return address;
}

FileDescriptor new_socket() {
    return FileDescriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

// Who answers at that path now; nothing when nobody does.
std::optional<std::string> holder_of(const std::filesystem::path& path) {
    const FileDescriptor probe = new_socket();
    const sockaddr_un address = address_of(path);
    const int connected = connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (connected != 0 && (errno == ECONNREFUSED || errno == ENOENT)) return std::nullopt;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid == 0) return "another process";
    return "process " + std::to_string(peer.pid);
}

Expected<Nothing> make_way(const std::filesystem::path& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return Nothing{};
    if (!S_ISSOCK(found.st_mode))
        return Unexpected{"cannot listen on " + path.string() +
                          ": there is a file of that name that is not a socket. Remove it, or choose another --socket"};
    if (const auto holder = holder_of(path))
        return Unexpected{"cannot listen on " + path.string() + ": " + *holder +
                          " answers there. Stop it, or choose another --socket"};
    return Nothing{};
}

}  // namespace

Expected<UnixSocket> UnixSocket::listen(const std::filesystem::path& path, unsigned mode) {
    const auto cannot = [&](const std::string& what) {
        return Unexpected{"cannot listen on " + path.string() + ": " + what + ": " + std::strerror(errno)};
    };
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);  // if it is still missing, the lock says so
    auto lock = FileLock::acquire(path.string() + ".lock", "the socket", "choose another --socket");
    if (!lock) return Unexpected{"cannot listen on " + path.string() + ": " + lock.error()};
    if (auto way = make_way(path); !way) return Unexpected{way.error()};

    // Under a temporary name until the mode is set; renaming replaces what a dead process left.
    UnixSocket made{path.string() + ".new", std::move(*lock), new_socket()};
    const std::filesystem::path& temporary = made.path_;
    unlink(temporary.c_str());
    const sockaddr_un address = address_of(temporary);
    if (!made.socket_ || bind(made.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return cannot("bind");
    if (chmod(temporary.c_str(), mode) != 0) return cannot("chmod");
    if (::listen(made.socket_.get(), listen_backlog) != 0) return cannot("listen");
    if (rename(temporary.c_str(), path.c_str()) != 0) return cannot("rename");
    made.path_ = path;
    return made;
}

UnixSocket::~UnixSocket() {
    if (!path_.empty()) unlink(path_.c_str());  // ours for as long as we hold the lock; empty: moved from
}

}  // namespace next_id
