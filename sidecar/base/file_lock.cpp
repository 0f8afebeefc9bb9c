#include "sidecar/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace next_id {
namespace {

std::string holder_of(int file) {
    char text[32] = {};
    const ssize_t length = ::pread(file, text, sizeof text - 1, 0);
    return length > 0 ? "process " + std::to_string(std::strtol(text, nullptr, 10)) : "another process";
}

// So that a second sidecar can say who was first. Without it (the disk is full) the lock holds as well.
void write_holder(int file) {
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(file, 0) != 0 || ::pwrite(file, pid.data(), pid.size(), 0) < 0) return;
}

bool still_has_its_name(int file, const std::filesystem::path& path) {
    struct stat ours, named;
    return ::fstat(file, &ours) == 0 && ::lstat(path.c_str(), &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

}  // namespace

Expected<FileLock> FileLock::acquire(const std::filesystem::path& path, std::string_view what,
                                     std::string_view advice) {
    constexpr int tries_max = 8;  // each but the first because someone removed the file at that very moment
    for (int attempt = 0; attempt < tries_max; ++attempt) {
        FileDescriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
        if (!file) {
            const std::string why = errno == ELOOP ? "it is a symbolic link; remove it" : std::strerror(errno);
            return Unexpected{"cannot open the lock file " + path.string() + ": " + why};
        }
        if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK)
                return Unexpected{std::string{what} + " is in use: " + holder_of(file.get()) + " holds " +
                                  path.string() + "; stop that sidecar, or " + std::string{advice}};
            return Unexpected{"cannot lock " + path.string() + ": " + std::strerror(errno)};
        }
        if (!still_has_its_name(file.get(), path)) continue;
        write_holder(file.get());
        return FileLock{std::move(file)};
    }
    return Unexpected{"the lock file " + path.string() + " is being removed again and again; leave it in place"};
}

}  // namespace next_id
