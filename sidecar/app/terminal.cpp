#include "sidecar/app/terminal.h"

#include <algorithm>
#include <vector>

#include "sidecar/base/escape.h"

namespace next_id {

namespace {

constexpr std::string_view to_corner = "\x1b[H", clear_line = "\x1b[K", clear_below = "\x1b[J";

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        lines.push_back(escape_text(line));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return lines;
}

// The first characters of UTF-8.
std::string_view cut(std::string_view line, std::size_t characters) {
    const auto begins_one = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
    std::size_t end = 0;
    for (; end < line.size(); ++end)
        if (begins_one(line[end]) && characters-- == 0) break;
    return line.substr(0, end);
}

}  // namespace

std::string harmless(std::string_view text) {
    std::string out;
    for (const std::string& line : lines_of(text)) (out += line) += '\n';
    return out;
}

std::string drawn(std::string_view text, TerminalSize size) {
    std::vector<std::string> lines = lines_of(text);
    if (lines.size() >= size.rows && size.rows > 1) {  // the last row stays empty: a line end there would scroll
        const std::size_t shown = size.rows - 2;
        const std::size_t more = lines.size() - shown;
        lines.resize(shown);
        lines.push_back("... " + std::to_string(more) + " more lines: make the window higher");
    }
    std::string out{to_corner};
    for (const std::string& line : lines) ((out += cut(line, size.columns)) += clear_line) += "\r\n";
    return out += clear_below;
}

}  // namespace next_id
