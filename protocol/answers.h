// The bodies of answers: IDs in each of the formats, and errors. IDs are written digit by digit from 64-bit integers,
// no double touches them; the text of errors may hold any bytes and still comes out as valid JSON. The only place with
// RapidJSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "protocol/range.h"

namespace next_id {

enum class Layout : std::uint8_t {
    single,  // {"id":1}: the first ID of the first range
    ids,     // {"ids":[1,2,3]}
    ranges,  // {"count":3,"ranges":[[1,3]]}: first and last ID, and the step when it is not 1
};

struct Format {
    Layout layout = Layout::single;
    bool strings = false;  // IDs (and steps) as JSON strings, for clients whose numbers are doubles
    bool text = false;     // no JSON: one ID a line, whatever the layout
};

// Requires ranges that are well formed, and at least one.
void append_ids(std::string& body, std::span<const Range> ranges, Format format);

// {"code":503,"msg":"...","error":"..."} and a newline; `error` is left out when empty. What is not UTF-8 becomes
// U+FFFD.
void append_error(std::string& body, int code, std::string_view msg, std::string_view error);

// The msg of an error that its HTTP status explains: "not found". One of the statuses from 400 to 431, or 503.
std::string_view msg_of(int status);

}  // namespace next_id
