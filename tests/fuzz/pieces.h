// What a client sends, cut up as a network may cut it.
#pragma once

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

namespace next_id::test {

inline std::vector<std::string_view> pieces_of(std::string_view bytes, unsigned cuts, std::minstd_rand& random) {
    std::vector<std::string_view> pieces;
    for (; cuts != 0 && bytes.size() > 1; --cuts) {
        const std::size_t size =
            1 + random() % std::min<std::size_t>(bytes.size() - 1, 2 * bytes.size() / (cuts + 1) + 1);
        pieces.push_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    pieces.push_back(bytes);
    return pieces;
}

}  // namespace next_id::test
