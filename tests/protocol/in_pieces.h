// Feeds a parser its bytes cut into pieces as the caller likes, for tests that hold what it makes of them against what
// it makes of the same bytes in other pieces.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "tests/support/promised.h"

namespace next_id {

using test::promised;

// Each piece between the cuts lies in memory of just its size, which is gone when the next one comes. `told` hears what
// the parser makes of each call: the result, how many bytes it consumed, and where in all of them it stands. It returns
// false when that was the end. Throws when the parser does not keep to its contract.
template <class Parser, class Told>
void parse_pieces(Parser& parser, std::string_view bytes, const std::vector<std::size_t>& cuts, Told told) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t end = i < cuts.size() ? cuts[i] : bytes.size();
        const std::vector<char> piece(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(end));
        std::string_view rest{piece.data(), piece.size()};
        while (!rest.empty()) {
            std::size_t consumed = 0;
            const auto result = parser.parse(rest, consumed);
            promised(consumed <= rest.size(), "no more is consumed than there is");
            rest.remove_prefix(consumed);
            if (result == Parser::Result::need_more) promised(rest.empty(), "all is consumed when more is needed");
            if (!told(result, consumed, end - rest.size())) return;
        }
        begin = end;
    }
}

// In pieces of one byte nothing can be taken for a repetition of what came last: each is parsed.
inline std::vector<std::size_t> cut_everywhere(std::string_view bytes) {
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i < bytes.size(); ++i) cuts.push_back(i);
    return cuts;
}

}  // namespace next_id
