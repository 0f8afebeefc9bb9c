#include "protocol/client/answer.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "protocol/ascii.h"
#include "protocol/range.h"

namespace next_id::client {
namespace {

constexpr std::size_t quoted_bytes_max = 200;
constexpr std::int64_t retry_after_s_max = 3600;

ReadAnswer broken(const char* problem) {
    return {ReadAnswer::Result::broken, {}, problem};
}

template <class T>
bool read_number(std::string_view text, T& number) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc{} && end == text.data() + text.size();
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
    return text.substr(0, text.find_last_not_of(blank) + 1);
}

// JSON as far as the answers have it.
class Scanner {
 public:
    explicit Scanner(std::string_view text) : text_{text} {}

    // Moves behind the next `word`, wherever it is.
    bool find(std::string_view word) {
        const std::size_t at = text_.find(word);
        if (at == std::string_view::npos) return false;
        text_.remove_prefix(at + word.size());
        return true;
    }
    bool skip(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    bool number(std::int64_t& number) {
        const auto [end, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
        if (problem != std::errc{}) return false;
        text_.remove_prefix(std::size_t(end - text_.data()));
        return true;
    }

 private:
    std::string_view text_;
};

// [first,last] or [first,last,step]
std::optional<IdRange> read_range(Scanner& in) {
    std::int64_t first = 0, last = 0, step = 1;
    if (!in.skip('[') || !in.number(first) || !in.skip(',') || !in.number(last)) return std::nullopt;
    if (in.skip(',') && !in.number(step)) return std::nullopt;
    if (!in.skip(']') || step == 0 || (first != last && (last > first) != (step > 0))) return std::nullopt;
    const bool ascending = step > 0;
    const std::uint64_t distance =
        ascending ? std::uint64_t(last) - std::uint64_t(first) : std::uint64_t(first) - std::uint64_t(last);
    const std::uint64_t length = ascending ? std::uint64_t(step) : 0 - std::uint64_t(step);
    if (distance % length != 0 || distance / length == ~std::uint64_t{0}) return std::nullopt;
    return IdRange{first, step, distance / length + 1};
}

std::string json_string(std::string_view body, std::string_view key) {
    std::string text;
    const std::size_t at = body.find(key);
    if (at == std::string_view::npos) return text;
    for (std::size_t i = at + key.size(); i < body.size() && body[i] != '"'; ++i) {
        if (body[i] == '\\' && i + 1 < body.size() && std::strchr("\"\\/", body[i + 1])) ++i;
        text += body[i];
    }
    return text;
}

std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    return text;
}

}  // namespace

ReadAnswer read_answer(std::string_view bytes, std::size_t body_bytes_max) {
    constexpr std::string_view front = "HTTP/1.";
    if (bytes.substr(0, front.size()) != front.substr(0, bytes.size())) return broken("it is not HTTP");
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos)
        return bytes.size() > head_bytes_max ? broken("its head does not end") : ReadAnswer{};

    std::string_view head = bytes.substr(0, end + 2);
    ReadAnswer read{ReadAnswer::Result::complete, {}, ""};
    constexpr std::size_t status_at = sizeof "HTTP/1.1 " - 1;
    const std::size_t first_line = head.find("\r\n");
    if (first_line < status_at + 3 || head[status_at - 1] != ' ' ||
        !read_number(head.substr(status_at, 3), read.answer.status) || read.answer.status < 200)
        return broken("its status is none");
    read.answer.closes = head[front.size()] == '0';

    std::optional<std::size_t> body_bytes;
    for (head.remove_prefix(first_line + 2); !head.empty();) {
        const std::size_t line_end = head.find("\r\n");
        const std::string_view line = head.substr(0, line_end);
        head.remove_prefix(line_end + 2);
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string_view name = line.substr(0, colon),
                               value = trimmed(line.substr(std::min(colon + 1, line.size())));
        std::int64_t seconds = 0;
        if (equals_ignoring_case(name, "content-length")) {
            std::size_t length = 0;
            if (body_bytes || !read_number(value, length)) return broken("its Content-Length is none");
            body_bytes = length;
        } else if (equals_ignoring_case(name, "retry-after") && read_number(value, seconds)) {
            read.answer.retry_after = std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, retry_after_s_max)};
        } else if (equals_ignoring_case(name, "connection")) {
            read.answer.closes = read.answer.closes || equals_ignoring_case(value, "close");
        }
    }
    if (!body_bytes) return broken("it has no Content-Length");
    if (*body_bytes > body_bytes_max) return broken("it is longer than what was asked for can be");
    const std::string_view body = bytes.substr(end + 4);
    if (body.size() < *body_bytes) return {};
    if (body.size() > *body_bytes) return broken("more came than was asked for");
    read.answer.body = body;
    return read;
}

std::optional<std::vector<IdRange>> read_ranges(std::string_view body, std::uint64_t count) {
    Scanner in{body};
    if (!in.skip('{') || !in.find("\"ranges\":[")) return std::nullopt;
    std::vector<IdRange> ranges;
    std::uint64_t found = 0;
    do {
        const auto range = read_range(in);
        if (!range || range->count > count - found) return std::nullopt;
        found += range->count;
        ranges.push_back(*range);
    } while (in.skip(','));
    if (!in.skip(']') || found != count) return std::nullopt;
    return ranges;
}

std::size_t ranges_bytes_max(std::uint64_t count) {
    constexpr std::size_t range_bytes_max = 3 * sizeof "-9223372036854775808" + sizeof "[,,]";
    return 256 + count * range_bytes_max;
}

std::string read_error(std::string_view body) {
    const std::string msg = json_string(body, "\"msg\":\""), error = json_string(body, "\"error\":\"");
    if (msg.empty() && error.empty()) return printable(std::string{body.substr(0, quoted_bytes_max)});
    return printable(msg + (msg.empty() || error.empty() ? "" : ": ") + error);
}

}  // namespace next_id::client
