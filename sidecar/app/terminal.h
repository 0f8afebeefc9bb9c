// Text drawn over what a terminal showed before. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace next_id {

struct TerminalSize {
    std::size_t rows = 24, columns = 80;
};

// The text from the upper left corner on, cut to what fits (it says how many lines do not), and nothing else on the
// screen. Each character takes one column; control characters are shown as escapes.
std::string drawn(std::string_view text, TerminalSize size);

// The text without anything that a terminal would obey, but for its line ends.
std::string harmless(std::string_view text);

}  // namespace next_id
