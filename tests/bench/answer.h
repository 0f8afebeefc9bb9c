// Cuts answers out of received bytes, for the load generator: of HTTP/1.1 status, length, body, no more; and those of
// RESP to INCR. It understands Content-Length and chunks. A server under load repeats the same head for a long time, so
// the last head is remembered and an answer that begins with it is not parsed again: the generator must cost less than
// what it measures.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace next_id::bench {

struct Answer {
    enum class State { incomplete, complete, malformed };
    State state = State::incomplete;
    int status = 0;
    std::size_t size = 0;   // bytes of head and body, to be dropped from the front
    std::string_view body;  // as received: with its chunk lines, if chunked
};

class AnswerReader {
 public:
    // The answer at the front of `bytes`. The body points into them.
    Answer read(std::string_view bytes) {
        if (bytes.starts_with(':') || bytes.starts_with('-')) return read_resp(bytes);
        if (head_.empty() || !bytes.starts_with(head_)) {
            const std::size_t blank_line = bytes.find("\r\n\r\n");
            if (blank_line == std::string_view::npos) return {};
            if (!remember(bytes.substr(0, blank_line + 4))) return malformed;
        }
        const std::string_view rest = bytes.substr(head_.size());
        std::size_t length = length_;
        if (chunked_) {
            const auto found = chunks_length(rest);
            if (!found) return malformed;
            length = *found;
        }
        if (length > rest.size()) return {};
        return {Answer::State::complete, status_, head_.size() + length, rest.substr(0, length)};
    }

 private:
    static constexpr Answer malformed{Answer::State::malformed, 0, 0, {}};

    // A number, or an error.
    static Answer read_resp(std::string_view bytes) {
        const std::size_t end = bytes.find("\r\n");
        if (end == std::string_view::npos) return {};
        return {Answer::State::complete, bytes.front() == ':' ? 200 : 500, end + 2, bytes.substr(1, end - 1)};
    }

    bool remember(std::string_view head) {
        head_.clear();
        if (!head.starts_with("HTTP/1.1 ") || !parse(head.substr(9, 3), 10, status_)) return false;
        bool has_length = false;
        chunked_ = false;
        for (std::size_t line = head.find("\r\n") + 2; line < head.size() - 2; line = head.find("\r\n", line) + 2) {
            const std::string_view field = head.substr(line, head.find("\r\n", line) - line);
            if (named(field, "content-length:")) has_length = parse(field.substr(15), 10, length_);
            if (named(field, "transfer-encoding:")) chunked_ = true;
        }
        if (!has_length && !chunked_) return false;
        head_ = head;
        return true;
    }

    // Bytes of all chunks to the end of the last one, which has no trailer fields; more than there are when some are
    // still to come; nothing when these are no chunks.
    static std::optional<std::size_t> chunks_length(std::string_view bytes) {
        std::size_t at = 0;
        while (at < bytes.size()) {
            const std::size_t line_end = bytes.find("\r\n", at);
            if (line_end == std::string_view::npos) break;
            std::size_t size = 0;
            if (!parse(bytes.substr(at, line_end - at), 16, size) || size > chunk_size_max) return std::nullopt;
            at = line_end + 2 + size + 2;
            if (size == 0) return at;
        }
        return bytes.size() + 1;
    }

    static bool named(std::string_view field, std::string_view lowercase_name) {
        if (field.size() < lowercase_name.size()) return false;
        for (std::size_t i = 0; i < lowercase_name.size(); ++i) {
            const char c = field[i];
            if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c) != lowercase_name[i]) return false;
        }
        return true;
    }

    template <class Number>
    static bool parse(std::string_view text, int base, Number& number) {
        while (text.starts_with(' ')) text.remove_prefix(1);
        const auto result = std::from_chars(text.data(), text.data() + text.size(), number, base);
        return result.ec == std::errc{} && result.ptr != text.data();
    }

    static constexpr std::size_t chunk_size_max = std::size_t{1} << 30;

    std::string head_;  // of the last answer, with its blank line; what follows was read from it
    int status_ = 0;
    std::size_t length_ = 0;
    bool chunked_ = false;
};

}  // namespace next_id::bench
