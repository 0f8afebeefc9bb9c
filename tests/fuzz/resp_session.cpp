// However the bytes of a client of RESP are cut: the same replies, one for each command, in their order, each
// well-formed, and in them just the IDs that left the window, but for the short runs that INCRBY passes over. And the
// parser's short cut for a repeated command changes nothing.
#include <random>

#include "protocol/ascii.h"
#include "tests/fuzz/id_server.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"
#include "tests/protocol/resp_outcome.h"
#include "tests/protocol/resp_replies.h"

namespace next_id::test {
namespace {

using Words = std::vector<std::string>;

RespOutcome parse(std::string_view bytes, std::minstd_rand& random) {
    const RespOutcome whole = resp_in_pieces(bytes, {});
    promised(resp_byte_by_byte(bytes).details == whole.details, "a command means the same byte by byte");
    for (int i = 0; i < 4 && bytes.size() > 1; ++i) {
        const std::size_t cut = 1 + random() % (bytes.size() - 1);
        promised(resp_in_pieces(bytes, {cut}).details == whole.details, "a command means the same when cut at ",
                 std::to_string(cut));
    }
    return whole;
}

bool is_command(const Words& words, std::string_view name) {
    return equals_ignoring_case(words[0], name);
}

// True iff the reply is another each time: the clock's, or the number of the connection.
bool varies(const Words& words) {
    return is_command(words, "time") || is_command(words, "client") || is_command(words, "hello");
}

// What the exchange said, without what varies.
std::vector<std::string> steady(const Exchange& exchange, const std::vector<Words>& commands) {
    std::string rest;
    std::vector<std::string> replies = replies_in(exchange.received, &rest);
    promised(rest.empty(), "replies are well-formed: ", exchange.received);
    for (std::size_t i = 0; i < replies.size() && i < commands.size(); ++i)
        if (varies(commands[i])) replies[i].clear();
    return replies;
}

std::uint64_t count_of(const Words& words) {
    return is_command(words, "incrby") ? std::stoull(words[2]) : 1;
}

// The IDs that the replies give are what left the window, in its order, and nothing but short runs lies between.
void check_ids(const std::vector<Words>& commands, const std::vector<std::string>& replies,
               const std::vector<std::int64_t>& taken) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < replies.size() && i < commands.size(); ++i) {
        const bool takes = is_command(commands[i], "incr") || is_command(commands[i], "incrby");
        const auto last = takes ? number_in(replies[i]) : std::nullopt;
        if (!last) continue;
        const std::uint64_t count = count_of(commands[i]);
        const std::size_t first_at = at;
        while (at < taken.size() && taken[at] != *last) ++at;
        promised(at < taken.size(), "an ID that is given has left the window");
        ++at;
        promised(at - first_at >= count, "as many IDs leave the window as are given");
        promised(at - first_at - count <= (count > 1 ? count : 0), "no more are passed over than are given");
        for (std::uint64_t back = 0; back < count; ++back)
            promised(taken[at - 1 - back] == *last - static_cast<std::int64_t>(back), "what is given is consecutive");
    }
    promised(at == taken.size(), "nothing else leaves the window");
}

}  // namespace

void fuzz_resp_session(std::string_view bytes) {
    static IdServer server;
    if (bytes.empty()) return;
    const auto refills = static_cast<Refills>(static_cast<unsigned char>(bytes.front()) % 4);
    bytes.remove_prefix(1);
    std::minstd_rand random{static_cast<unsigned>(std::hash<std::string_view>{}(bytes))};

    const RespOutcome parsed = parse(bytes, random);
    const auto speak = [&](const std::vector<std::string_view>& pieces) {
        return server.exchange(pieces, refills, ListenerName::resp);
    };
    const Exchange whole = speak({bytes});
    const std::vector<std::string> replies = steady(whole, parsed.commands);
    for (const unsigned cuts : {1U, 3U, 8U}) {
        const Exchange cut = speak(pieces_of(bytes, cuts, random));
        promised(steady(cut, parsed.commands) == replies && cut.taken == whole.taken && cut.closed == whole.closed,
                 "a client gets the same however its bytes are cut");
    }

    std::size_t answered = 0;
    bool open = true;
    for (; answered < parsed.commands.size() && open; ++answered) open = !is_command(parsed.commands[answered], "quit");
    if (open && !parsed.error.empty()) {
        promised(answered < replies.size() && replies[answered] == "-ERR " + parsed.error + "\r\n",
                 "an error is answered");
        ++answered;
        open = false;
    }
    promised(replies.size() == answered, "each command is answered, and nothing else");
    promised(whole.closed == !open, "the connection ends when it was said to end");
    check_ids(parsed.commands, replies, whole.taken);
}

}  // namespace next_id::test
