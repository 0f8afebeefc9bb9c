// The right to publish into a window, or to listen on a socket: a file beside it, locked from the start of a sidecar to
// its end. The file is never unlinked (two processes could each hold a lock on a file of that name), and names its
// holder for the one that comes second. The kernel drops the lock when its holder dies, however it dies.
#pragma once

#include <filesystem>
#include <string_view>

#include "sidecar/base/expected.h"
#include "sidecar/base/file_descriptor.h"

namespace next_id {

class FileLock {
 public:
    // Does not wait. The error says who holds it: `what` it guards is in use, and how another sidecar gets one of its
    // own (`advice`).
    static Expected<FileLock> acquire(const std::filesystem::path& path, std::string_view what,
                                      std::string_view advice);

 private:
    explicit FileLock(FileDescriptor file) : file_{std::move(file)} {}

    FileDescriptor file_;
};

}  // namespace next_id
