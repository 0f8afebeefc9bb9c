// The tokens that open the service: read from the text of a token file, compared in constant time. Pure; immutable once
// made, so any thread may ask.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "protocol/http_request.h"
#include "sidecar/base/expected.h"

namespace next_id {

inline constexpr std::size_t token_bytes_max = 256;
inline constexpr std::size_t tokens_max = 64;
inline constexpr std::size_t token_file_bytes_max = 64 * 1024;

class Tokens {
 public:
    // One token a line; # begins a line of comment. The error is the end of a sentence, and repeats nothing of the
    // text.
    static Expected<Tokens> parse(std::string_view text);

    // True iff it shows one of them: Authorization: Bearer T, or X-Api-Token: T.
    bool admit(const HttpRequest& request) const;
    bool admit(std::string_view token) const { return has(token); }

    std::size_t size() const { return tokens_.size(); }
    std::string_view first() const { return {tokens_.front().bytes.data(), tokens_.front().size}; }

 private:
    struct Token {
        std::array<char, token_bytes_max> bytes{};  // zeros behind it
        std::size_t size = 0;
    };

    static Token padded(std::string_view text);
    bool has(std::string_view text) const;

    std::vector<Token> tokens_;  // not empty
};

}  // namespace next_id
