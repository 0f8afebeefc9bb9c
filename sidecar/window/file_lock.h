// The right to publish into a window: a file beside it, locked from the start of a sidecar to its end. The file is
// never unlinked (two processes could each hold a lock on a file of that name), and names its holder for the one that
// comes second. The kernel drops the lock when its holder dies, however it dies.
#pragma once

#include <filesystem>

#include "sidecar/base/expected.h"
#include "sidecar/window/file_descriptor.h"

namespace next_id {

class FileLock {
 public:
    // Does not wait. The error says who holds it.
    static Expected<FileLock> acquire(const std::filesystem::path& path);

 private:
    explicit FileLock(FileDescriptor file) : file_{std::move(file)} {}

    FileDescriptor file_;
};

}  // namespace next_id
