#include "sidecar/api/resp_commands.h"

#include <algorithm>
#include <array>

#include "protocol/ascii.h"

namespace next_id {

namespace {

// A row begins with its name, and reads down. INCR is asked for most.
// clang-format off
constexpr std::array rows{
    RespCommandRow{"incr", RespVerb::incr, 2, "string", "1.0.0", "Takes one ID from the sequence that the key names.", true},
    RespCommandRow{"incrby", RespVerb::incrby, 3, "string", "1.0.0", "Takes so many consecutive IDs, and tells the last of them.", true},
    RespCommandRow{"ping", RespVerb::ping, -1, "connection", "1.0.0", "Answers PONG, or what was sent."},
    RespCommandRow{"echo", RespVerb::echo, 2, "connection", "1.0.0", "Answers what was sent."},
    RespCommandRow{"hello", RespVerb::hello, -1, "connection", "6.0.0", "Chooses the version of the protocol, and shows a token.", false, false},
    RespCommandRow{"auth", RespVerb::auth, -2, "connection", "1.0.0", "Shows a token.", false, false},
    RespCommandRow{"select", RespVerb::select, 2, "connection", "1.0.0", "Chooses a database: there is 0."},
    RespCommandRow{"client", RespVerb::client, -2, "connection", "2.4.0", "Names the connection: ID, GETNAME, SETNAME, SETINFO."},
    RespCommandRow{"command", RespVerb::command, -1, "server", "2.8.13", "Tells which commands there are: also COUNT and DOCS."},
    RespCommandRow{"info", RespVerb::info, -1, "server", "1.0.0", "Tells what this server is."},
    RespCommandRow{"time", RespVerb::time, 1, "server", "2.6.0", "Tells the time: seconds since 1970, and microseconds."},
    RespCommandRow{"quit", RespVerb::quit, -1, "connection", "1.0.0", "Closes the connection.", false, false},
    RespCommandRow{"reset", RespVerb::reset, 1, "connection", "6.2.0", "Makes the connection as it was when it began.", false, false},
};
// clang-format on

constexpr std::string_view moves_at_will =
    "it would move a sequence to where the client likes, and IDs would be given out twice";
constexpr std::string_view begins_anew = "it would make a sequence begin anew, and IDs would be given out twice";
constexpr std::string_view no_fractions = "IDs are whole numbers";

struct Refused {
    std::string_view name, why;
};

constexpr std::array refused{
    Refused{"set", moves_at_will},        Refused{"getset", moves_at_will},   Refused{"setnx", moves_at_will},
    Refused{"setex", moves_at_will},      Refused{"psetex", moves_at_will},   Refused{"mset", moves_at_will},
    Refused{"msetnx", moves_at_will},     Refused{"append", moves_at_will},   Refused{"setrange", moves_at_will},
    Refused{"setbit", moves_at_will},     Refused{"bitfield", moves_at_will}, Refused{"bitop", moves_at_will},
    Refused{"restore", moves_at_will},    Refused{"copy", moves_at_will},     Refused{"rename", moves_at_will},
    Refused{"renamenx", moves_at_will},   Refused{"decr", moves_back},        Refused{"decrby", moves_back},
    Refused{"incrbyfloat", no_fractions}, Refused{"get", takes_nothing},      Refused{"mget", takes_nothing},
    Refused{"getrange", takes_nothing},   Refused{"getex", takes_nothing},    Refused{"getdel", begins_anew},
    Refused{"del", begins_anew},          Refused{"unlink", begins_anew},     Refused{"flushdb", begins_anew},
    Refused{"flushall", begins_anew},     Refused{"expire", begins_anew},     Refused{"pexpire", begins_anew},
    Refused{"expireat", begins_anew},     Refused{"pexpireat", begins_anew},  Refused{"move", begins_anew},
    Refused{"swapdb", begins_anew},
};

}  // namespace

std::span<const RespCommandRow> resp_commands() {
    return rows;
}

const RespCommandRow* find_resp_command(std::string_view name) {
    const auto* const row = std::ranges::find_if(
        rows, [name](const RespCommandRow& candidate) { return equals_ignoring_case(name, candidate.name); });
    return row == rows.end() ? nullptr : row;
}

std::string_view why_refused(std::string_view name) {
    const auto* const found = std::ranges::find_if(
        refused, [name](const Refused& candidate) { return equals_ignoring_case(name, candidate.name); });
    return found == refused.end() ? std::string_view{} : found->why;
}

}  // namespace next_id
