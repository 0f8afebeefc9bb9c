#include "sidecar/base/watched_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sidecar/base/escape.h"
#include "sidecar/base/file_descriptor.h"

namespace next_id {

namespace {

// File systems stamp times as coarsely as this, so a file that has just changed may change again and look the same.
constexpr std::time_t stamp_s = 2;

}  // namespace

bool WatchedFile::refresh() {
    const Seen now = look();
    if (settled_ && now == seen_) return false;
    seen_ = now;
    settled_ = std::time(nullptr) - now.changed_s > stamp_s;
    Expected<std::string> content = read();
    const bool same = content.has_value() == content_.has_value() &&
                      (content ? *content == *content_ : content.error() == content_.error());
    content_ = std::move(content);
    return !same;
}

WatchedFile::Seen WatchedFile::look() const {
    struct stat found {};
    if (stat(path_.c_str(), &found) != 0) return {.error = errno};
    return {0,
            found.st_dev,
            found.st_ino,
            found.st_size,
            found.st_mtim.tv_sec,
            found.st_mtim.tv_nsec,
            found.st_ctim.tv_sec,
            found.st_ctim.tv_nsec};
}

Expected<std::string> WatchedFile::read() const {
    const auto cannot = [this](const std::string& why) { return Unexpected{escape_text(path_) + ": " + why}; };
    // Not blocking: of a pipe nobody may ever open the other end.
    const FileDescriptor file{open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat found {};
    if (!file || fstat(file.get(), &found) != 0) return cannot(std::strerror(errno));
    if (!S_ISREG(found.st_mode)) return cannot("it is no regular file");
    std::string bytes(bytes_max_ + 1, '\0');
    std::size_t size = 0;
    while (size < bytes.size()) {
        const ssize_t more = ::read(file.get(), bytes.data() + size, bytes.size() - size);
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return cannot(std::strerror(errno));
        if (more == 0) break;
        size += static_cast<std::size_t>(more);
    }
    if (size > bytes_max_) return cannot("it is longer than the " + std::to_string(bytes_max_) + " bytes allowed");
    bytes.resize(size);
    return bytes;
}

}  // namespace next_id
