#include "sidecar/api/tokens.h"

#include <algorithm>
#include <string>

#include "protocol/ascii.h"

namespace next_id {

namespace {

constexpr std::string_view bearer = "bearer ";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r";
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// What may stand in a header's value without a blank.
bool is_token(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

// The token of Authorization: Bearer T; empty when there is none.
std::string_view bearer_token(std::string_view authorization) {
    const bool is_bearer = equals_ignoring_case(authorization.substr(0, bearer.size()), bearer);
    return is_bearer ? trimmed(authorization.substr(bearer.size())) : std::string_view{};
}

}  // namespace

Expected<Tokens> Tokens::parse(std::string_view text) {
    Tokens tokens;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
        const std::string_view token = trimmed(line);
        if (token.empty() || token.front() == '#') continue;
        const auto wrong = [number](const std::string& what) {
            return Unexpected{"line " + std::to_string(number) + " " + what};
        };
        if (token.size() > token_bytes_max)
            return wrong("is longer than the " + std::to_string(token_bytes_max) + " bytes that a token may have");
        if (!is_token(token)) return wrong("has a character in it that is not visible ASCII; one token a line");
        if (tokens.size() == tokens_max)
            return wrong("is one token more than the " + std::to_string(tokens_max) + " allowed");
        tokens.tokens_.push_back(padded(token));
    }
    if (tokens.tokens_.empty()) return Unexpected{std::string{"it holds no token; write one a line"}};
    return tokens;
}

Tokens::Token Tokens::padded(std::string_view text) {
    Token token{.size = text.size()};
    std::ranges::copy(text, token.bytes.begin());
    return token;
}

bool Tokens::admit(const HttpRequest& request) const {
    return has(bearer_token(request.authorization)) || has(request.api_token);
}

// Looks at every byte of every token, whatever differs where: the time tells nothing but the length of `text`, which
// whoever sent it knows.
bool Tokens::has(std::string_view text) const {
    if (text.empty() || text.size() > token_bytes_max) return false;
    const Token shown = padded(text);
    bool found = false;
    for (const Token& token : tokens_) {
        unsigned char differs = token.size != shown.size;
        for (std::size_t i = 0; i < token_bytes_max; ++i)
            differs |= static_cast<unsigned char>(token.bytes[i] ^ shown.bytes[i]);
        found |= differs == 0;
    }
    return found;
}

}  // namespace next_id
