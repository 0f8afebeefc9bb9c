// Bytes of unknown origin made fit for a log line or a terminal: no line breaks, no control sequences, nothing that is
// not UTF-8. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace next_id {

// For people: line breaks as \n, other control characters and bytes that are not UTF-8 as \x1b. A backslash stays as it
// is.
std::string escape_text(std::string_view bytes);

// The inside of a JSON string. Bytes that are not UTF-8 become U+FFFD, since JSON has no way to say them.
std::string escape_json(std::string_view bytes);

}  // namespace next_id
