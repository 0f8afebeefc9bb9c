// What a request to /next-id asks for, or why it is refused: routing, method, parameters. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/answers.h"
#include "protocol/http_request.h"
#include "sidecar/base/expected.h"

namespace next_id {

inline constexpr std::uint64_t count_ids_max = 10'000;        // in one answer that lists IDs
inline constexpr std::uint64_t count_ranges_max = 1'000'000;  // in one answer that lists ranges

struct IdRequest {
    std::size_t sequence = 0;  // its place among the configured ones
    std::uint64_t count = 1;
    Format format;
};

struct Refusal {
    int status = 400;
    std::string error;
    std::string_view allow;  // of 405
};

// What the service offers.
struct Catalog {
    std::vector<std::string> sequences;  // the bare path is the first one; not empty
    std::uint64_t count_max = 0;         // IDs that any request may ask for: as many as there can be at once
    bool strict_order = false;           // no request is answered from what was reserved before it came: all wait
};

Expected<IdRequest, Refusal> read_id_request(const HttpRequest& request, const Catalog& catalog);

// The place of a sequence among the configured ones. The error says which there are.
Expected<std::size_t> find_sequence(std::string_view name, const Catalog& catalog);

// What a client sent, for an error: in quotes, and cut off.
std::string quoted(std::string_view text);

}  // namespace next_id
