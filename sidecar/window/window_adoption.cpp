// Half of WindowMapping: what decides whether the window of an earlier sidecar is taken over.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "sidecar/window/window_mapping.h"

namespace next_id {
namespace {

using Header = Window<>::Header;

bool is_ours_to_close(int file, const struct stat& status) {
    // Read, not mapped: where a file has a hole, a mapped read needs memory that may not be there.
    std::uint64_t magic = 0;
    return std::size_t(status.st_size) >= sizeof(Header) && ::pread(file, &magic, sizeof magic, 0) == sizeof magic &&
           magic == Window<>::magic;
}

std::string not_a_file_of_ours(const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return "it is not a regular file";
    if (status.st_uid != ::geteuid())
        return "it belongs to user " + std::to_string(status.st_uid) + ", not to " + std::to_string(::geteuid());
    return {};
}

// Empty, or why this window may not be adopted, by its file and the plain words of its header.
std::string obstacle(const Header& header, const WindowOrigin& origin, int file, const struct stat& status,
                     std::uint64_t slot_count, const WindowOwner& owner,
                     const std::optional<WindowMapping::Sharing>& sharing) {
    if (sharing && (status.st_mode & 0777) != sharing->mode) return "its mode is another than --window-share-mode";
    if (header.slot_count != slot_count)
        return "it has " + std::to_string(header.slot_count) + " slots, not " + std::to_string(slot_count);
    if (std::size_t(status.st_size) != Window<>::size_of_file(slot_count))
        return "it has " + std::to_string(status.st_size) + " bytes, not " +
               std::to_string(Window<>::size_of_file(slot_count));
    if (auto differs = difference(origin, owner); !differs.empty()) return differs;
    if (const std::string where = file_system_that_keeps(file); !where.empty())
        return "it lies on " + where + ", not on a tmpfs";
    if (origin.device != status.st_dev || origin.inode != status.st_ino) return "it is a copy of another file";
    if (status.st_nlink != 1) return "its file has another name as well";
    if (!mark_is_sound(origin)) return "its mark is not sound";
    return {};
}

}  // namespace

void WindowMapping::Found::keep_what_is_known(const WindowOrigin& origin) {
    if (!mark_is_sound(origin)) return;
    source_digest = read_source_digest(origin);
    identity = read_identity(origin);
    mark = read_mark(origin);
}

Expected<WindowMapping::Found> WindowMapping::adopt(const std::filesystem::path& name, std::uint64_t slot_count,
                                                    const WindowOwner& owner, std::optional<Sharing> sharing) {
    const auto not_adopted = [&](std::string why, bool existed = true) {
        Found found{nullptr, std::move(why), existed, {}, {}, {}};
        if (sharing) found.keep_what_is_known(sharing->origin);
        return found;
    };
    FileDescriptor file{::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (!file && errno == ENOENT) return not_adopted("no window was there", false);
    if (!file && errno == ELOOP) return not_adopted("it is a symbolic link");
    if (!file) return not_adopted(std::string{"it cannot be opened ("} + std::strerror(errno) + ")");
    struct stat status;
    if (::fstat(file.get(), &status) != 0) return not_adopted("its status cannot be read");
    if (auto why = not_a_file_of_ours(status); !why.empty()) return not_adopted(why);
    if (!is_ours_to_close(file.get(), status)) return not_adopted("it is not a window");
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
        return Unexpected{
            "another process publishes into " + name.string() +
            ", though the lock file beside it is free: someone removed that file; stop the other process"};

    const int descriptor = file.get();
    auto mapped = map(std::move(file), std::size_t(status.st_size), sharing);
    if (!mapped) return not_adopted(mapped.error());
    WindowMapping& mapping = **mapped;
    Header& header = mapping.header();
    Found found = not_adopted({});
    if (header.version != Window<>::version) {
        found.reason =
            "its layout is version " + std::to_string(header.version) + ", not " + std::to_string(Window<>::version);
    } else {
        found.keep_what_is_known(mapping.origin());
        found.reason = obstacle(header, mapping.origin(), descriptor, status, slot_count, owner, sharing);
    }
    if (found.reason.empty()) {
        mapping.window_ = Window<>::in(mapping.bytes_);
        if (!mapping.window_)
            found.reason = "its header is not sound";
        else if (::posix_fallocate(descriptor, 0, status.st_size) != 0)
            found.reason = "it has holes that cannot be filled";
        else if (mapping.window_->closed())
            found.reason = "it was closed";
        else if (!mapping.window_->sound())
            found.reason = "its counters and ranges are not sound";
    }
    if (found.reason.empty())
        found.window = std::move(*mapped);
    else
        Window<>::retire(header);
    return found;
}

std::string current_boot_id() {
    std::string boot_id;
    std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, boot_id);
    return boot_id;
}

std::string file_system_that_keeps(int file) {
    struct statfs status;
    if (::fstatfs(file, &status) != 0) return "an unknown file system";
    switch (std::uint64_t(status.f_type)) {
        case TMPFS_MAGIC:
        case RAMFS_MAGIC:
            return {};
        case EXT4_SUPER_MAGIC:
            return "ext4";
        case XFS_SUPER_MAGIC:
            return "xfs";
        case BTRFS_SUPER_MAGIC:
            return "btrfs";
        case OVERLAYFS_SUPER_MAGIC:
            return "overlayfs";
        default: {
            char number[32];
            std::snprintf(number, sizeof number, "file system 0x%llx", static_cast<unsigned long long>(status.f_type));
            return number;
        }
    }
}

}  // namespace next_id
