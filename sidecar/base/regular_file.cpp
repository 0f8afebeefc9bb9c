#include "sidecar/base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sidecar/base/escape.h"
#include "sidecar/base/file_descriptor.h"

namespace next_id {

Expected<std::string> read_regular_file(const std::string& path, std::size_t bytes_max) {
    const auto cannot = [&](const std::string& why) { return Unexpected{escape_text(path) + ": " + why}; };
    // Not blocking: of a pipe nobody may ever open the other end.
    const FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat found {};
    if (!file || fstat(file.get(), &found) != 0) return cannot(std::strerror(errno));
    if (!S_ISREG(found.st_mode)) return cannot("it is no regular file");
    std::string bytes(bytes_max + 1, '\0');
    std::size_t size = 0;
    while (size < bytes.size()) {
        const ssize_t more = ::read(file.get(), bytes.data() + size, bytes.size() - size);
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return cannot(std::strerror(errno));
        if (more == 0) break;
        size += static_cast<std::size_t>(more);
    }
    if (size > bytes_max) return cannot("it is longer than the " + std::to_string(bytes_max) + " bytes allowed");
    bytes.resize(size);
    return bytes;
}

}  // namespace next_id
