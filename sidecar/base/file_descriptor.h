// Ownership of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace next_id {

class FileDescriptor {
 public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_{fd} {}
    FileDescriptor(FileDescriptor&& from) noexcept : fd_{std::exchange(from.fd_, -1)} {}
    FileDescriptor& operator=(FileDescriptor&& from) noexcept { return std::swap(fd_, from.fd_), *this; }
    ~FileDescriptor() {
        if (fd_ >= 0) ::close(fd_);
    }

    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    explicit operator bool() const { return fd_ >= 0; }

 private:
    int fd_ = -1;
};

}  // namespace next_id
