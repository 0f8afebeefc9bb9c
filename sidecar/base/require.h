// An assertion that stays on in release: for what only a mistake in this program can bring about. A wrong answer would
// be worse than none, so the process ends. Never for input from users, network, files or PostgreSQL.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace next_id {

inline void require(bool holds, std::source_location at = std::source_location::current()) {
    if (holds) [[likely]]
        return;
    std::fprintf(stderr, "next-id: a fault in the program itself: %s:%u: %s\n", at.file_name(), unsigned(at.line()),
                 at.function_name());
    std::abort();
}

}  // namespace next_id
