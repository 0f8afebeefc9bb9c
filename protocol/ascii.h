// Words of protocols, which are ASCII and told in any case. Whatever the locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace next_id {

constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

inline bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
    return text.size() == lower_case.size() &&
           std::equal(text.begin(), text.end(), lower_case.begin(), [](char a, char b) { return lower(a) == b; });
}

}  // namespace next_id
