#include "sidecar/admin/status_page.h"

#include <charconv>

#include "sidecar/admin/status_page_text.h"
#include "sidecar/api/accept.h"
#include "sidecar/api/target.h"

namespace next_id {

namespace {

constexpr std::string_view before_token_wanted = "data-token=\"";

std::optional<std::uint64_t> parse_point(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// As a Content-Security-Policy wants it: the digest's bytes in base64.
std::string csp_hash(std::string_view hex) {
    static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string base64;
    unsigned bits = 0, held = 0;
    for (const char c : hex) {
        held = held << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
        for (bits += 4; bits >= 6; bits -= 6) base64 += digits[held >> (bits - 6) & 63];
    }
    if (bits != 0) base64 += digits[held << (6 - bits) & 63];
    while (base64.size() % 4 != 0) base64 += '=';
    return "'sha256-" + base64 + "'";
}

}  // namespace

StatusRequest read_status_request(std::string_view query, std::string_view accept) {
    StatusRequest wanted;
    bool chosen = false;
    for (const auto& [name, value] : split_query(query).value_or(std::vector<Parameter>{})) {
        if (name == "since") wanted.history_from = parse_point(value);
        if (name != "format") continue;
        chosen = true;
        wanted.ids_as_strings = value == "string";
        wanted.form = value == "text"   ? StatusRequest::Form::text
                      : value == "html" ? StatusRequest::Form::html
                                        : StatusRequest::Form::json;
    }
    if (!chosen && prefers_html(accept)) wanted.form = StatusRequest::Form::html;
    return wanted;
}

std::string status_page(bool token_wanted) {
    std::string page{status_page_html};
    if (token_wanted) page.insert(page.find(before_token_wanted) + before_token_wanted.size(), "wanted");
    return page;
}

std::string_view status_page_headers() {
    static const std::string headers =
        "Content-Security-Policy: default-src 'none'; style-src " + csp_hash(status_page_style_sha256) +
        "; script-src " + csp_hash(status_page_script_sha256) +
        "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n"
        "Vary: Accept\r\n";
    return headers;
}

}  // namespace next_id
