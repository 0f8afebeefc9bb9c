// Whose a shared window is, and the mark of the guard, in a file of their own: clients can write the window, but not
// this. In the state directory, beside the lock. Owned by WindowFile; the publisher's thread.
#pragma once

#include <filesystem>
#include <memory>

#include "protocol/window_origin.h"
#include "sidecar/base/expected.h"

namespace next_id {

class OriginFile {
 public:
    // Made of zeros, which say nothing, if there is none of this layout. The caller holds the window's lock.
    static Expected<std::unique_ptr<OriginFile>> open(const std::filesystem::path& path);

    ~OriginFile();
    OriginFile(const OriginFile&) = delete;
    OriginFile& operator=(const OriginFile&) = delete;

    WindowOrigin& origin() { return contents_->origin; }

 private:
    struct Contents {
        std::uint64_t magic, version;
        WindowOrigin origin;
    };
    static constexpr std::uint64_t magic = 0x6e69'6769'726f'2d69;  // "i-origin" on a little-endian machine
    static constexpr std::uint64_t version = 1;

    explicit OriginFile(Contents* contents) : contents_{contents} {}

    Contents* contents_;
};

}  // namespace next_id
