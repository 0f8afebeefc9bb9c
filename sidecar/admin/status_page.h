// Who gets which form of /status, and the page that browsers get: one file, compiled in, that holds no data and asks
// for it as JSON. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/status_report.h"

namespace next_id {

struct StatusRequest {
    enum class Form : std::uint8_t { json, text, html };
    Form form = Form::json;
    bool ids_as_strings = false;
    std::optional<std::uint64_t> history_from;  // with the history, from this point on

    StatusJson json() const { return {.ids_as_strings = ids_as_strings, .with_history = history_from.has_value()}; }
};

// `format=` json, string (JSON with IDs as strings), text or html; without it, HTML for who prefers that, and else
// JSON. `since=N` adds the history. What is not understood is overlooked.
StatusRequest read_status_request(std::string_view query, std::string_view accept);

inline constexpr std::string_view html_type = "text/html; charset=utf-8";

// `token_wanted`: the page asks for one at once, instead of trying without.
std::string status_page(bool token_wanted);

// Each with its CR LF: nothing but the page's own style and script is used, and no other page may show it.
std::string_view status_page_headers();

}  // namespace next_id
