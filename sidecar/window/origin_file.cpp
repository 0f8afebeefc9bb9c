#include "sidecar/window/origin_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "sidecar/base/file_descriptor.h"

namespace next_id {

Expected<std::unique_ptr<OriginFile>> OriginFile::open(const std::filesystem::path& path) {
    const auto failed = [&](int error) {
        return Unexpected{"cannot use the file " + path.string() + ", in which a shared window's mark is kept: " +
                          std::strerror(error) + "; give another state directory (--state-dir)"};
    };
    const FileDescriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0) return failed(errno);
    if (std::size_t(status.st_size) != sizeof(Contents) && ::ftruncate(file.get(), 0) != 0) return failed(errno);
    int error;
    do error = ::posix_fallocate(file.get(), 0, sizeof(Contents));  // no access can fail later
    while (error == EINTR);
    if (error != 0) return failed(error);
    void* const at = ::mmap(nullptr, sizeof(Contents), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) return failed(errno);
    auto* const contents = static_cast<Contents*>(at);
    if (contents->magic != magic || contents->version != version) {
        std::memset(at, 0, sizeof(Contents));
        contents->version = version;
        contents->magic = magic;
    }
    return std::unique_ptr<OriginFile>{new OriginFile{contents}};
}

OriginFile::~OriginFile() {
    ::munmap(contents_, sizeof(Contents));
}

}  // namespace next_id
