// A request target taken apart: path segments and query parameters, percent-decoded. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace next_id {

// Decodes %XX (and, in queries, + for a blank); nothing when a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_blank);

struct Target {
    std::string_view path;   // as sent
    std::string_view query;  // as sent, without the question mark
};
Target split_target(std::string_view target);

using Parameter = std::pair<std::string, std::string>;  // name, value

// The parameters in their order; nothing when one cannot be decoded.
std::optional<std::vector<Parameter>> split_query(std::string_view query);

}  // namespace next_id
