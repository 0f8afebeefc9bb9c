// Whose window it is, and the furthest that was ever reserved for it: the last part of a window's header, written by
// the sidecar only. A client that maps the window has no use for it; a sidecar compares it before it adopts the window
// of another, and keeps the mark.
#pragma once

#include <atomic>
#include <cstdint>

namespace next_id {

struct WindowOrigin {
    using Word = std::atomic<std::uint64_t>;

    // Written before the file gets its name, and never again; but for the digest, which is that of earlier settings
    // until PostgreSQL has told whether those of now name the same sequence.
    std::uint64_t device, inode;                        // of the file itself: a copy of the bytes is another file
    char boot_id[64], pod_uid[64], source_digest[128];  // text, filled up with zeros

    // Written while the window is in use, word by word, before the IDs that they cover are published: a death between
    // two words leaves a mark that covers more than was published, never less.
    Word system_identifier, oids;  // as PostgreSQL tells them; oids: database << 32 | sequence; 0: not known yet
    Word mark_direction, mark_lowest, mark_highest, mark_last_value;  // direction 0: no mark yet
    Word latched;  // 1: the sequence went back, and nothing is reserved until an operator has moved it past the mark
};

static_assert(sizeof(WindowOrigin) == 328, "the layout of a window file: a change needs a new version");

}  // namespace next_id
