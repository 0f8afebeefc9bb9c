// Bytes of a connection -> requests, by llhttp; nothing else includes it. A parser belongs to one connection and one
// thread. The answer depends on the bytes alone, never on how they were cut into pieces: what llhttp finds wrong it
// finds at the same byte, and all that is ours to refuse is decided when the head is whole (the limits: at the byte
// that breaks them).
#pragma once

#include <llhttp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace next_id {

// Of request line, headers and the empty line, if nothing else is said: beyond it 431. A target may have half as many,
// beyond it 414.
inline constexpr std::size_t head_bytes_max_default = 8192;

struct HttpRequest {
    enum class Method : std::uint8_t { get, head, post, other };
    Method method = Method::other;
    bool http_1_0 = false;
    bool keep_alive = false;  // as the client asked, by version and Connection header
    // Path and query as sent; of an absolute target (GET http://host/path) what follows the authority.
    std::string_view target;
    // Values of the headers we look at, without the white space around them; empty when absent. `host` is the authority
    // of an absolute target if there is one (RFC 9112, 3.2.2); `accept` is the first such header.
    std::string_view host, accept, origin, sec_fetch_site, authorization, api_token;
};

// Answer it with `status` (400, 405 for CONNECT, 413, 414 or 431) and close: where the next request begins is not
// known.
struct HttpError {
    int status = 0;
    std::string_view sentence;  // for people: what was wrong, what to do
};

class HttpParser {
 public:
    enum class Result : std::uint8_t {
        need_more,  // all bytes are consumed
        request,    // `consumed` bytes are; the rest belongs to the next request
        error,      // for good: every further call is an error too; nothing is consumed
    };

    explicit HttpParser(std::size_t head_bytes_max = head_bytes_max_default);
    HttpParser(const HttpParser&) = delete;
    HttpParser& operator=(const HttpParser&) = delete;

    // Reads from the front of `bytes` until one request is whole. The views in request() live until the next call, or
    // as long as `bytes`, whichever is shorter. A request that is the same as the last one, byte for byte, is not
    // parsed again. After a request without keep-alive anything but CR and LF is an error.
    Result parse(std::string_view bytes, std::size_t& consumed);

    const HttpRequest& request() const { return request_; }
    const HttpError& error() const { return error_; }  // lives as long as the parser

    // True iff bytes of an unfinished request are held (the empty lines that some clients send after a request do not
    // count).
    bool mid_request() const;

 private:
    enum class State : std::uint8_t { reading, complete, failed };
    enum class Field : std::uint8_t {
        host,
        accept,
        origin,
        sec_fetch_site,
        authorization,
        api_token,
        transfer_encoding,
        ignored
    };
    static constexpr std::size_t fields = static_cast<std::size_t>(Field::ignored);
    struct Span {  // offsets from the start of the request
        std::uint32_t begin = 0, end = 0;
    };
    struct Callbacks;

    bool repeats_the_last(std::string_view bytes) const;
    void begin_request();
    Result finish_request(std::size_t head_bytes);
    const HttpError* wrong_in_head(std::string_view head) const;
    const HttpError* resolve_target();
    Result fail(const HttpError& error);
    std::size_t target_bytes_max() const { return head_bytes_max_ / 2; }
    std::string_view text(Span span) const { return {start_ + span.begin, span.end - span.begin}; }
    bool seen(Field field) const { return (seen_ >> static_cast<unsigned>(field) & 1U) != 0; }

    const std::size_t head_bytes_max_;
    llhttp_t llhttp_;
    State state_ = State::reading;
    const char* start_ = nullptr;  // of the request being read: in the caller's bytes, or held_
    // The request from its first byte, when it did not come whole; then the last one; after an error, what to say of
    // it.
    std::string held_;
    Span target_, name_, value_;
    Field field_ = Field::ignored;  // whose value is being read
    std::array<Span, fields> values_;
    unsigned seen_ = 0;      // one bit for each Field
    unsigned repeated_ = 0;  // the same
    bool has_body_ = false;
    bool keep_alive_ = false;
    HttpRequest request_;
    HttpError error_;
};

}  // namespace next_id
