// The commands of Redis that are spoken here, in one table, and why others are not. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace next_id {

enum class RespVerb : std::uint8_t {
    incr,
    incrby,
    ping,
    echo,
    hello,
    auth,
    select,
    client,
    command,
    info,
    time,
    quit,
    reset,
};

struct RespCommandRow {
    std::string_view name;  // in lower case
    RespVerb verb;
    int arity;  // how many words it has, its name among them; negative: that many, or more
    std::string_view group, since, summary;
    bool takes_ids = false;  // from the sequence that its second word names
    bool needs_auth = true;

    bool takes_words(std::size_t words) const {
        return arity > 0 ? words == static_cast<std::size_t>(arity) : words >= static_cast<std::size_t>(-arity);
    }
};

std::span<const RespCommandRow> resp_commands();

// Names are told in any case. Null: there is no such command here.
const RespCommandRow* find_resp_command(std::string_view name);

// Of commands that would break what is promised: why they are refused. Empty: of this one nothing is known.
std::string_view why_refused(std::string_view name);

inline constexpr std::string_view moves_back = "it would move a sequence back, and IDs would be given out twice";
inline constexpr std::string_view takes_nothing =
    "what a sequence stands at is no ID that anyone may use; only INCR and INCRBY give out IDs, each of them once";

}  // namespace next_id
