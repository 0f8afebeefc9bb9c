#include "sidecar/window/window_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace next_id {
namespace {

template <std::size_t size>
std::string_view text_in(const char (&field)[size]) {
    return {field, ::strnlen(field, size)};
}

template <std::size_t size>
void write_text(char (&field)[size], const std::string& text) {
    if (text_in(field) == text) return;  // a death in the middle would leave something else
    std::fill(std::begin(field), std::end(field), '\0');
    std::copy_n(text.data(), std::min(text.size(), size), field);
}

template <std::size_t size>
std::string too_long(const char (&)[size], const std::string& text, const char* name) {
    if (text.size() <= size && text.find('\0') == std::string::npos) return {};
    return std::string{"the "} + name + " is not a text of at most " + std::to_string(size) + " bytes (it has " +
           std::to_string(text.size()) + ")";
}

}  // namespace

std::string too_long_for_header(const WindowOwner& owner) {
    const WindowOrigin sizes{};
    if (auto error = too_long(sizes.source_digest, owner.source_digest, "digest of the source"); !error.empty())
        return error;
    if (auto error = too_long(sizes.pod_uid, owner.pod_uid, "pod's UID (POD_UID)"); !error.empty()) return error;
    return too_long(sizes.boot_id, owner.boot_id, "boot id");
}

void write_owner(WindowOrigin& origin, const WindowOwner& owner) {
    write_text(origin.source_digest, owner.source_digest);
    write_text(origin.pod_uid, owner.pod_uid);
    write_text(origin.boot_id, owner.boot_id);
}

std::string read_source_digest(const WindowOrigin& origin) {
    return std::string{text_in(origin.source_digest)};
}

bool same_source(const WindowOrigin& origin, const WindowOwner& owner) {
    return text_in(origin.source_digest) == owner.source_digest;
}

std::string difference(const WindowOrigin& origin, const WindowOwner& owner) {
    if (!same_source(origin, owner))
        return "it was filled under other settings of host, port, database, user, service or options";
    if (text_in(origin.pod_uid) != owner.pod_uid) return "it belongs to another pod";
    if (owner.boot_id.empty()) return "it cannot be told whether the machine was booted since";
    if (text_in(origin.boot_id) != owner.boot_id) return "it is from before the machine was booted";
    return {};
}

SourceIdentity read_identity(const WindowOrigin& origin) {
    const std::uint64_t system_identifier = origin.system_identifier.load(std::memory_order_acquire);
    if (system_identifier == 0) return {};
    const std::uint64_t oids = origin.oids.load(std::memory_order_relaxed);
    return {system_identifier, std::uint32_t(oids >> 32), std::uint32_t(oids)};
}

// The system identifier last: without it, the identity is not known yet. One that was changed halfway matches neither.
void write_identity(WindowOrigin& origin, const SourceIdentity& identity) {
    origin.oids.store(std::uint64_t{identity.database_oid} << 32 | identity.sequence_oid, std::memory_order_release);
    origin.system_identifier.store(identity.system_identifier, std::memory_order_release);
}

Mark read_mark(const WindowOrigin& origin) {
    const auto direction = std::int64_t(origin.mark_direction.load(std::memory_order_acquire));
    const bool latched = origin.latched.load(std::memory_order_relaxed) != 0;
    if (direction == 0) return {.latched = latched};
    return {direction < 0 ? -1 : 1, std::int64_t(origin.mark_lowest.load(std::memory_order_relaxed)),
            std::int64_t(origin.mark_highest.load(std::memory_order_relaxed)),
            std::int64_t(origin.mark_last_value.load(std::memory_order_relaxed)), latched};
}

// The direction first when a mark ends, last when it begins. Release, so that the compiler keeps this order.
void write_mark(WindowOrigin& origin, const Mark& mark) {
    if (mark.latched) origin.latched.store(1, std::memory_order_release);
    if (mark.direction == 0) origin.mark_direction.store(0, std::memory_order_release);
    origin.mark_lowest.store(std::uint64_t(mark.lowest), std::memory_order_release);
    origin.mark_highest.store(std::uint64_t(mark.highest), std::memory_order_release);
    origin.mark_last_value.store(std::uint64_t(mark.last_value), std::memory_order_release);
    origin.mark_direction.store(std::uint64_t(std::int64_t{mark.direction}), std::memory_order_release);
    if (!mark.latched) origin.latched.store(0, std::memory_order_release);
}

bool mark_is_sound(const WindowOrigin& origin) {
    const auto direction = std::int64_t(origin.mark_direction.load(std::memory_order_acquire));
    if (direction == 0) return true;
    const Mark mark = read_mark(origin);
    return (direction == 1 || direction == -1) && mark.lowest <= mark.highest;
}

}  // namespace next_id
