// Where a window's IDs come from, as its file's header remembers it: what decides whether a sidecar may adopt the
// window of one that died, and the mark of the guard. Reads and writes the header only; the publisher's thread.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/window_origin.h"

namespace next_id {

// As PostgreSQL tells it. All 0: not known yet.
struct SourceIdentity {
    std::uint64_t system_identifier = 0;
    std::uint32_t database_oid = 0, sequence_oid = 0;

    bool operator==(const SourceIdentity&) const = default;
};

// The furthest that was ever reserved from this sequence. It outlives window, increment, restarts, OIDs and clusters:
// an answer inside it means that the sequence went back, be it by a restore into another database of the same name.
struct Mark {
    int direction = 0;  // 0: none yet; 1 ascending; -1 descending
    std::int64_t lowest = 0, highest = 0, last_value = 0;
    bool latched = false;  // the sequence was seen to have gone back: no nextval until it has been moved past the mark

    bool operator==(const Mark&) const = default;
};

// What can be told without PostgreSQL; all of it must match before a window is adopted.
struct WindowOwner {
    std::string source_digest, pod_uid, boot_id;
};

// Empty, or which text is too long for the header and by how much.
std::string too_long_for_header(const WindowOwner&);
void write_owner(WindowOrigin&, const WindowOwner&);
// Empty, or the first thing that differs: "it belongs to another pod".
std::string difference(const WindowOrigin&, const WindowOwner&);
bool same_source(const WindowOrigin&, const WindowOwner&);
std::string read_source_digest(const WindowOrigin&);

SourceIdentity read_identity(const WindowOrigin&);
void write_identity(WindowOrigin&, const SourceIdentity&);

Mark read_mark(const WindowOrigin&);
void write_mark(WindowOrigin&, const Mark&);
// False only for chance bytes: whatever write_mark() leaves behind, begun or done, is sound.
bool mark_is_sound(const WindowOrigin&);

}  // namespace next_id
