#include "protocol/client/mapped_window.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "protocol/client/uncancelled.h"

namespace next_id::client {
namespace {

using std::chrono::steady_clock;

// How soon a window is looked for again: where there is none, and where one was closed and is about to be replaced.
constexpr std::chrono::milliseconds look_again{1000}, look_again_soon{10};

// Empty unless it is a window that may be taken from. On a tmpfs it cannot be of an earlier boot, or come out of a
// backup; and its header knows its inode, so it is no copy of another.
std::span<std::byte> mapped(int file, const struct stat& status) {
    struct statfs file_system;
    const auto size = std::size_t(status.st_size);
    if (!S_ISREG(status.st_mode) || size < sizeof(Window<>::Header) || ::fstatfs(file, &file_system) != 0 ||
        file_system.f_type != TMPFS_MAGIC)
        return {};
    void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return {};
    const WindowOrigin& origin = static_cast<const Window<>::Header*>(at)->origin;
    if (origin.device == status.st_dev && origin.inode == status.st_ino) return {static_cast<std::byte*>(at), size};
    ::munmap(at, size);
    return {};
}

}  // namespace

// After a take that brought nothing. A window that is closed has a successor, and so has a dry one whose name leads
// elsewhere by now.
Taken MappedWindow::take_again(std::uint64_t n, std::span<Range> out, bool some_will_do) {
    const Uncancelled meanwhile;
    if (window_ && (window_->closed() || was_replaced())) {
        unmap();
        map_not_before_ = {};
    }
    if (!window_ && steady_clock::now() >= map_not_before_) map();
    if (!window_) return {};
    const Taken taken = window_->take(n, out, some_will_do);
    return taken.result == TakeResult::closed ? Taken{} : taken;
}

bool MappedWindow::was_replaced() const {
    struct stat status;
    return ::stat(path_.c_str(), &status) != 0 || status.st_dev != device_ || status.st_ino != inode_;
}

void MappedWindow::map() {
    map_not_before_ = steady_clock::now() + look_again;
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    struct stat status {};
    if (::fstat(file, &status) == 0) bytes_ = mapped(file, status);
    ::close(file);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    window_ = Window<>::in(bytes_);
    if (window_ && window_->closed()) map_not_before_ = steady_clock::now() + look_again_soon;
    if (!window_ || window_->closed() || !window_->sound()) unmap();
}

void MappedWindow::unmap() {
    window_.reset();
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
    bytes_ = {};
}

}  // namespace next_id::client
