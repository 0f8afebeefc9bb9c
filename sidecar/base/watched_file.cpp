#include "sidecar/base/watched_file.h"

#include <sys/stat.h>

#include <cerrno>

#include "sidecar/base/regular_file.h"

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
    Expected<std::string> content = read_regular_file(path_, bytes_max_);
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

}  // namespace next_id
