// Replies of RESP as a client reads them: for tests that look at what a server sends.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace next_id {

// The whole reply that `bytes` begin with; empty when there is none, or it is not well-formed.
inline std::string_view first_reply(std::string_view bytes, int depth = 0) {
    const std::size_t line_end = bytes.find("\r\n");
    if (line_end == bytes.npos || line_end == 0 || depth > 8) return {};
    const char type = bytes[0];
    const std::string_view line = bytes.substr(1, line_end - 1);
    std::size_t size = line_end + 2;
    if (type == '+' || type == '-') return line.find('\n') == line.npos ? bytes.substr(0, size) : std::string_view{};
    if (type == '_') return line.empty() ? bytes.substr(0, size) : std::string_view{};
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc{} || end != line.data() + line.size()) return {};
    if (type == ':') return bytes.substr(0, size);
    if (type == '$' && number == -1) return bytes.substr(0, size);
    if (number < 0) return {};
    const auto length = static_cast<std::size_t>(number);
    if (type == '$' || type == '=') {
        if (length > bytes.size() || bytes.size() - size < length + 2 || bytes.substr(size + length, 2) != "\r\n")
            return {};
        return bytes.substr(0, size + length + 2);
    }
    if (type != '*' && type != '%' && type != '~') return {};
    for (std::size_t left = type == '%' ? 2 * length : length; left != 0; --left) {
        const std::string_view element = first_reply(bytes.substr(size), depth + 1);
        if (element.empty()) return {};
        size += element.size();
    }
    return bytes.substr(0, size);
}

// All the whole replies; what comes after them goes to `rest`.
inline std::vector<std::string> replies_in(std::string_view bytes, std::string* rest = nullptr) {
    std::vector<std::string> replies;
    for (;;) {
        const std::string_view reply = first_reply(bytes);
        if (reply.empty()) break;
        replies.emplace_back(reply);
        bytes.remove_prefix(reply.size());
    }
    if (rest != nullptr) *rest = bytes;
    return replies;
}

inline std::optional<std::int64_t> number_in(std::string_view reply) {
    std::int64_t number = 0;
    if (!reply.starts_with(':')) return std::nullopt;
    std::from_chars(reply.data() + 1, reply.data() + reply.size(), number);
    return number;
}

}  // namespace next_id
