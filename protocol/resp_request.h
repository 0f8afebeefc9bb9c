// Bytes of a connection -> commands in RESP, the protocol of Redis: arrays of bulk strings (*1 CR LF $4 CR LF PING CR
// LF). Inline commands, the lines that Redis takes from a telnet too, are no commands here: a request of HTTP would be
// one. A parser belongs to one connection and one thread; what it finds depends on the bytes alone, never on how they
// were cut into pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace next_id {

inline constexpr char resp_first_byte = '*';  // of every command, and of no request of HTTP
inline constexpr std::size_t resp_arguments_max = 64;
inline constexpr std::size_t resp_command_bytes_max_default = 8192;

// The name of a command and its arguments, as sent. Never empty.
using RespCommand = std::span<const std::string_view>;

class RespParser {
 public:
    enum class Result : std::uint8_t {
        need_more,  // all bytes are consumed
        command,    // `consumed` bytes are; the rest belongs to the next command
        error,      // for good: every further call is an error too; nothing is consumed
    };

    explicit RespParser(std::size_t command_bytes_max = resp_command_bytes_max_default)
        : command_bytes_max_{command_bytes_max} {}
    RespParser(const RespParser&) = delete;
    RespParser& operator=(const RespParser&) = delete;

    // Reads from the front of `bytes` until one command is whole. The views in command() live until the next call, or
    // as long as `bytes`, whichever is shorter. A command that is the same as the last one, byte for byte, is not
    // parsed again. An empty array is no command: it is passed over.
    Result parse(std::string_view bytes, std::size_t& consumed);

    RespCommand command() const { return command_; }
    const std::string& error() const { return error_; }  // a sentence, as Redis begins it: "Protocol error: ..."

    // True iff bytes of an unfinished command are held.
    bool mid_command() const { return state_ == State::reading && !held_.empty(); }

 private:
    enum class State : std::uint8_t { reading, complete, failed };

    Result read_front(std::string_view bytes, std::size_t& size);
    void keep(std::string_view whole);
    Result fail(const std::string& what);

    const std::size_t command_bytes_max_;
    State state_ = State::reading;
    std::string held_;  // the command from its first byte, when it did not come whole; then the last one
    std::vector<std::string_view> command_;
    std::string error_;
};

}  // namespace next_id
