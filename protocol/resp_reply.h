// Replies in RESP -> bytes, appended to the output of a connection. What only version 3 has is written as Redis writes
// it for clients of version 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace next_id {

enum class RespVersion : std::uint8_t { resp2 = 2, resp3 = 3 };

class RespReply {
 public:
    RespReply(RespVersion version, std::string& out) : out_{out}, version_{version} {}

    void speak(RespVersion version) { version_ = version; }  // from now on

    void integer(std::int64_t number) { line(':', number); }
    void simple(std::string_view text);  // a word of ours: "OK"
    // `code` is the word by which programs tell errors apart, a literal: "ERR". The text may hold any bytes: those that
    // would end the line become blanks.
    void error(std::string_view code, std::string_view text);
    std::string_view error_code() const { return error_code_; }  // of the error that was written; empty: none was
    void bulk(std::string_view text);                            // any bytes
    void text(std::string_view text);                            // the same, for people to read: a verbatim string
    void null();

    // What follows are so many elements, or so many keys each with its value.
    void array(std::size_t elements) { line('*', static_cast<std::int64_t>(elements)); }
    void map(std::size_t keys);
    void set(std::size_t elements);

 private:
    bool resp3() const { return version_ == RespVersion::resp3; }
    void line(char type, std::int64_t number);

    std::string& out_;
    RespVersion version_;
    std::string_view error_code_;
};

}  // namespace next_id
