// One window file, mapped. Made whole under a temporary name and renamed into place, so that whoever finds a file of
// the right name finds a window. Owned by WindowFile; any thread takes through it, the publisher does all else.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "protocol/window_layout.h"
#include "sidecar/base/expected.h"
#include "sidecar/base/file_descriptor.h"
#include "sidecar/window/window_source.h"

namespace next_id {

class WindowMapping {
 public:
    // What is known when a window is made, or kept when another takes its place.
    struct Contents {
        WindowOwner owner;
        SourceIdentity identity;
        Mark mark;
    };

    // What there was under a name.
    struct Found {
        std::unique_ptr<WindowMapping> window;  // null: not adopted
        std::string reason;                     // why not
        bool existed = false;
        // Kept also when the window is not. Of other settings, if that is not the owner's digest.
        std::string source_digest;  // empty: nothing is known
        SourceIdentity identity;
        Mark mark;

        // Keeps what this origin says, if it is sound.
        void keep_what_is_known(const WindowOrigin& origin);
    };

    // Of a window that clients map. They can write every byte of it, so its origin is elsewhere, and what its header
    // says of that is not read.
    struct Sharing {
        WindowOrigin& origin;  // must outlive the mapping
        unsigned mode;         // of the file
    };

    // An empty window of that name; takes the place of any other. Its bytes are allocated: no access can fail later.
    static Expected<std::unique_ptr<WindowMapping>> create(const std::filesystem::path& name, std::uint64_t slot_count,
                                                           const Contents&, std::optional<Sharing> = {});

    // Adopts the window of that name when all that can be checked without PostgreSQL matches; else closes it, so that
    // nobody who still maps it can take from it. The caller holds the lock. An error: someone else publishes into it.
    static Expected<Found> adopt(const std::filesystem::path& name, std::uint64_t slot_count, const WindowOwner&,
                                 std::optional<Sharing> = {});

    ~WindowMapping();
    WindowMapping(const WindowMapping&) = delete;
    WindowMapping& operator=(const WindowMapping&) = delete;

    Window<>& window() { return *window_; }
    WindowOrigin& origin() { return *origin_; }

    // After the window was closed: gives its memory back, but for one page that says `closed` to late takers for ever.
    void release_memory();

 private:
    WindowMapping(FileDescriptor file, std::span<std::byte> bytes, const std::optional<Sharing>& sharing)
        : file_{std::move(file)}, bytes_{bytes}, origin_{sharing ? &sharing->origin : &header().origin} {}
    static Expected<std::unique_ptr<WindowMapping>> map(FileDescriptor file, std::size_t bytes,
                                                        const std::optional<Sharing>& sharing);
    Window<>::Header& header() { return *reinterpret_cast<Window<>::Header*>(bytes_.data()); }

    FileDescriptor file_;  // locked: a second guard, should someone remove the lock file
    std::span<std::byte> bytes_;
    WindowOrigin* origin_;
    std::optional<Window<>> window_;
};

// A random text that lasts as long as the machine runs; empty when it cannot be read, and then nothing is adopted.
std::string current_boot_id();

// Empty on a tmpfs, where a file cannot outlive a boot or come out of a backup or an image; else what it lies on:
// "ext4".
std::string file_system_that_keeps(int file);

}  // namespace next_id
