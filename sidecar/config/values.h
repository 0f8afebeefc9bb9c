// Text to value, for what a user may write: numbers, durations, addresses, modes, sequence names. Pure. The error of
// each function is the end of a sentence that begins "... takes": it says what is allowed, with an example where a form
// is to be kept.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sidecar/base/expected.h"
#include "sidecar/config/config.h"

namespace next_id {

// sun_path holds 107 bytes and a zero; the server binds under a temporary, longer name first and renames it when it is
// ready.
inline constexpr std::size_t socket_path_bytes_max = 100;
inline constexpr std::size_t sequences_max = 64;
inline constexpr std::size_t pg_identifier_bytes_max = 63;  // PostgreSQL cuts longer names off silently (NAMEDATALEN)

Expected<std::int64_t> parse_whole(std::string_view text, std::int64_t least, std::int64_t most);

// 500ms, 5s, 2m, 1h
Expected<std::chrono::milliseconds> parse_duration(std::string_view text, std::chrono::milliseconds least,
                                                   std::chrono::milliseconds most);
std::string format_duration(std::chrono::milliseconds duration);

// 127.0.0.1:8080, [::1]:8080, or none. No names: a listener that waits for DNS could not start.
Expected<std::optional<HostPort>> parse_address(std::string_view text);

constexpr std::int64_t rate_most = 1'000'000'000;  // of a --rate or a --burst
// 100/s, 600/m, 1000/h, or none.
Expected<std::optional<Rate>> parse_rate(std::string_view text);

// 0 for none.
Expected<std::int64_t> parse_whole_or_none(std::string_view text, std::int64_t least, std::int64_t most);

// 1000,1001
Expected<std::vector<std::uint32_t>> parse_uids(std::string_view text);

// An absolute path that a Unix socket can have, or none.
Expected<std::optional<std::string>> parse_socket_path(std::string_view text);
Expected<std::string> parse_directory(std::string_view text);
Expected<unsigned> parse_mode(std::string_view text);

// PG_PORT, with a hint for what Kubernetes sets for a Service that is named pg.
Expected<std::string> parse_pg_port(std::string_view text);

// a,"My Schema"."b,c",s.d: the names as given, without the space around them. Refuses two that mean the same.
Expected<std::vector<std::string>> parse_sequences(std::string_view text);

template <class T, std::size_t N>
Expected<T> parse_choice(std::string_view text, const std::array<std::pair<std::string_view, T>, N>& choices) {
    std::string allowed;
    for (const auto& [name, value] : choices) {
        if (text == name) return value;
        (allowed += allowed.empty() ? "" : ", ") += name;
    }
    return Unexpected{"one of " + allowed};
}

}  // namespace next_id
