#include "protocol/resp_request.h"

#include <algorithm>

namespace next_id {

namespace {

constexpr std::size_t repeat_bytes_max = 512;  // a command that is longer is parsed anew each time
constexpr std::size_t digits_max = 9;          // of a number: far more than any limit needs, and no overflow
constexpr std::size_t line_bytes_max = 1 + 1 + digits_max + 2;
constexpr std::string_view line_end = "\r\n";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string shown(char c) {
    if (c >= ' ' && c <= '~') return {'\'', c, '\''};
    return "byte " + std::to_string(static_cast<unsigned char>(c));
}

struct Line {
    enum class State : std::uint8_t { whole, unfinished, wrong };
    State state = State::wrong;
    std::int32_t number = 0;
    std::size_t bytes = 0;
};

// What begins with a type and goes on with a whole number and CR LF. Strictly: a zero in front, a plus or a bare LF are
// wrong.
Line read_line(std::string_view bytes) {
    const bool negative = bytes.size() > 1 && bytes[1] == '-';
    const std::size_t first = negative ? 2 : 1;
    std::size_t at = first;
    Line line;
    for (; at < bytes.size() && is_digit(bytes[at]); ++at) {
        if (at - first == digits_max || (at > first && bytes[first] == '0')) return line;
        line.number = line.number * 10 + (bytes[at] - '0');
    }
    if (negative) line.number = -line.number;
    const std::string_view rest = bytes.substr(std::min(at, bytes.size()));
    if (at == first && !rest.empty()) return line;
    if (rest.size() < line_end.size() && line_end.starts_with(rest))
        line.state = Line::State::unfinished;
    else if (rest.starts_with(line_end))
        line = {Line::State::whole, line.number, at + line_end.size()};
    return line;
}

}  // namespace

RespParser::Result RespParser::parse(std::string_view bytes, std::size_t& consumed) {
    consumed = 0;
    if (state_ == State::failed) return Result::error;
    if (bytes.empty()) return Result::need_more;
    if (state_ == State::complete) {
        // Nearly every client sends the same bytes again and again over its connection.
        if (!held_.empty() && bytes.starts_with(held_)) {
            consumed = held_.size();
            return Result::command;
        }
        held_.clear();
        state_ = State::reading;
    }
    for (std::string_view rest = bytes; !rest.empty();) {
        const std::size_t before = held_.size();
        if (before != 0) held_.append(rest.substr(0, command_bytes_max_ + line_bytes_max - before));
        const std::string_view front = before != 0 ? std::string_view{held_} : rest;
        std::size_t size = 0;
        const Result result = read_front(front, size);
        if (result == Result::error) return result;
        if (result == Result::need_more) {
            if (before == 0) held_ = rest;
            break;
        }
        rest.remove_prefix(size - before);
        if (!command_.empty()) {
            keep(front.substr(0, size));
            consumed = bytes.size() - rest.size();
            return Result::command;
        }
        held_.clear();
    }
    consumed = bytes.size();
    return Result::need_more;
}

// Reads the array that `bytes` begin with into command_; it has `size` bytes. What is wrong is found at the same byte,
// however many follow it.
RespParser::Result RespParser::read_front(std::string_view bytes, std::size_t& size) {
    if (bytes.front() != resp_first_byte)
        return fail("expected '*', got " + shown(bytes.front()) + "; send commands as arrays of bulk strings");
    const Line head = read_line(bytes);
    if (head.state == Line::State::unfinished) return Result::need_more;
    if (head.state == Line::State::wrong) return fail("invalid multibulk length");
    const auto count = static_cast<std::size_t>(std::max(head.number, 0));
    if (count > resp_arguments_max)
        return fail("invalid multibulk length: a command has at most " + std::to_string(resp_arguments_max) +
                    " arguments");
    command_.clear();
    size = head.bytes;
    while (command_.size() < count) {
        const std::string_view rest = bytes.substr(size);
        if (rest.empty()) return Result::need_more;
        if (rest.front() != '$') return fail("expected '$', got " + shown(rest.front()));
        const Line line = read_line(rest);
        if (line.state == Line::State::unfinished) return Result::need_more;
        if (line.state == Line::State::wrong || line.number < 0) return fail("invalid bulk length");
        const auto length = static_cast<std::size_t>(line.number);
        if (size + line.bytes + length + line_end.size() > command_bytes_max_)
            return fail("invalid bulk length: a command has at most " + std::to_string(command_bytes_max_) + " bytes");
        const std::string_view end = rest.substr(std::min(line.bytes + length, rest.size()), line_end.size());
        if (!line_end.starts_with(end)) return fail("expected CR LF behind an argument");
        if (end.size() < line_end.size()) return Result::need_more;
        command_.push_back(rest.substr(line.bytes, length));
        size += line.bytes + length + line_end.size();
    }
    return Result::command;
}

// `whole` is what command_ points into: the caller's bytes, or held_.
void RespParser::keep(std::string_view whole) {
    state_ = State::complete;
    if (whole.data() == held_.data()) return held_.resize(whole.size());
    if (whole.size() > repeat_bytes_max) return;
    held_.assign(whole);
    for (std::string_view& argument : command_)
        argument =
            std::string_view{held_}.substr(static_cast<std::size_t>(argument.data() - whole.data()), argument.size());
}

RespParser::Result RespParser::fail(const std::string& what) {
    state_ = State::failed;
    held_ = {};
    error_ = "Protocol error: " + what;
    return Result::error;
}

}  // namespace next_id
