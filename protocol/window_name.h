// The file name of a sequence's window, by which a client finds it that maps it.
#pragma once

#include <string>
#include <string_view>

namespace next_id {

inline constexpr char window_ending[] = ".window";

// Without its ending: characters outside [A-Za-z0-9_.-] as %XX, so that no name leaves the directory and no two share a
// file.
inline std::string file_name_of_sequence(std::string_view sequence) {
    constexpr std::string_view safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    constexpr char hex[] = "0123456789ABCDEF";
    std::string name;
    for (const char c : sequence) {
        if (safe.find(c) != std::string_view::npos)
            name += c;
        else
            name.append({'%', hex[static_cast<unsigned char>(c) >> 4], hex[c & 15]});
    }
    return name;
}

}  // namespace next_id
