#include "sidecar/window/window_mapping.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "sidecar/base/require.h"

namespace next_id {
namespace {

using Header = Window<>::Header;

// The temporary name. One is enough, since its maker holds the lock; what a dead maker left behind is removed by the
// next.
class TemporaryName {
 public:
    explicit TemporaryName(const std::filesystem::path& name) : path_{name.string() + ".new"} {
        ::unlink(path_.c_str());
    }
    ~TemporaryName() {
        if (!renamed_) ::unlink(path_.c_str());
    }
    const char* c_str() const { return path_.c_str(); }
    bool rename_to(const std::filesystem::path& name) { return renamed_ = ::rename(c_str(), name.c_str()) == 0; }

 private:
    std::string path_;
    bool renamed_ = false;
};

int allocate(int file, std::size_t bytes) {
    int error;
    do error = ::posix_fallocate(file, 0, off_t(bytes));
    while (error == EINTR);
    return error;
}

}  // namespace

Expected<std::unique_ptr<WindowMapping>> WindowMapping::create(const std::filesystem::path& name,
                                                               std::uint64_t slot_count, const Contents& contents,
                                                               std::optional<Sharing> sharing) {
    const std::size_t bytes = Window<>::size_of_file(slot_count);
    const auto failed = [&](int error, const char* advice = "") {
        return Unexpected{"cannot make the window file " + name.string() + " (" + std::to_string(bytes) +
                          " bytes): " + std::strerror(error) + advice};
    };
    TemporaryName temporary{name};
    FileDescriptor file{::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file) return failed(errno);
    if (const int error = allocate(file.get(), bytes); error != 0)
        return failed(error, "; make room there, or give another state directory (--state-dir)");
    if (sharing && ::fchmod(file.get(), sharing->mode) != 0) return failed(errno);
    struct stat status;
    if (::fstat(file.get(), &status) != 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return failed(errno);
    auto mapping = map(std::move(file), bytes, sharing);
    if (!mapping) return mapping;

    Header& header = (*mapping)->header();  // its atomic words are zero: an empty window
    header.magic = Window<>::magic;
    header.version = Window<>::version;
    header.slot_count = slot_count;
    // A client that maps the window looks whether it is this file, too.
    header.origin.device = status.st_dev;
    header.origin.inode = status.st_ino;
    WindowOrigin& origin = (*mapping)->origin();
    origin.device = status.st_dev;
    origin.inode = status.st_ino;
    write_owner(origin, contents.owner);
    write_identity(origin, contents.identity);
    write_mark(origin, contents.mark);
    (*mapping)->window_ = Window<>::in((*mapping)->bytes_);
    require((*mapping)->window_.has_value());

    if (!temporary.rename_to(name)) return failed(errno);
    return mapping;
}

Expected<std::unique_ptr<WindowMapping>> WindowMapping::map(FileDescriptor file, std::size_t bytes,
                                                            const std::optional<Sharing>& sharing) {
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) return Unexpected{std::string{"cannot map the window file: "} + std::strerror(errno)};
    return std::unique_ptr<WindowMapping>{
        new WindowMapping{std::move(file), {static_cast<std::byte*>(at), bytes}, sharing}};
}

WindowMapping::~WindowMapping() {
    ::munmap(bytes_.data(), bytes_.size());
}

// A thread may be in the middle of a take. Before the exchange of the pages it sees the closed window, after it this
// one, closed as well: whatever it read, its swap fails. (Unmapping would kill it; keeping the file would keep its
// memory.)
void WindowMapping::release_memory() {
    void* closed = ::mmap(nullptr, bytes_.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (closed == MAP_FAILED) return;
    static_cast<Header*>(closed)->cursor.store(Window<>::retired, std::memory_order_relaxed);
    if (::mremap(closed, bytes_.size(), bytes_.size(), MREMAP_MAYMOVE | MREMAP_FIXED, bytes_.data()) == MAP_FAILED)
        ::munmap(closed, bytes_.size());
    else
        file_ = {};
}

}  // namespace next_id
