// A failure that comes again and again (PostgreSQL is away for an hour) told in few lines: the first time at once, then
// once a minute with a count, and a closing line when it is over. Pure: whoever owns it hands in the time and logs what
// comes back. Not thread-safe.
//
//     if (auto line = connecting_.failed(why, now)) log::warn(*line);
//     if (auto line = connecting_.recovered(now)) log::info(*line);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sidecar/base/clock.h"

namespace next_id {

class RepeatedFailure {
 public:
    static constexpr Duration line_every = std::chrono::minutes{1};
    static constexpr std::size_t sentences_max =
        8;  // remembered apart; beyond it the oldest is forgotten, and would be told at once

    // The line to log now, or none. Different sentences are counted apart: hosts that are tried in turn fail each in
    // their own way.
    std::optional<std::string> failed(std::string_view sentence, Instant now);

    // The closing line, or none when nothing had failed.
    std::optional<std::string> recovered(Instant now);

 private:
    struct Seen {
        std::string sentence;
        Instant told;
        std::uint64_t untold = 0;
    };
    std::vector<Seen> seen_;
    Instant began_{};
    std::uint64_t failures_ = 0;
};

}  // namespace next_id
