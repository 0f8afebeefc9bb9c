#include "sidecar/api/resp_service.h"

#include <algorithm>
#include <charconv>

#include "protocol/ascii.h"
#include "sidecar/api/resp_description.h"

namespace next_id {

namespace {

constexpr std::size_t client_name_bytes_max = 256;
constexpr std::size_t shown_bytes_max = 128;  // of an unknown command, and of its arguments
constexpr std::string_view only_user = "default";

constexpr std::string_view try_again = "TRYAGAIN";
constexpr std::string_view too_fast_code = "RATELIMITED";

constexpr std::string_view not_a_number = "value is not an integer or out of range";
constexpr std::string_view wrong_token = "invalid username-password pair or user is disabled.";

// As Redis says it, since some clients compare it.
constexpr std::string_view no_token_set =
    "AUTH <password> called without any password configured for the default user. Are you sure your configuration is "
    "correct?";

std::optional<std::int64_t> to_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

void refuse(std::string_view what, std::string_view why, RespReply& reply) {
    reply.error("ERR", std::string{what} + " is refused: " + std::string{why});
}

void answer_wrong_arity(std::string_view name, RespReply& reply) {
    reply.error("ERR", "wrong number of arguments for '" + std::string{name} + "' command");
}

// Empty, or what is wrong with it. No blanks, so that lists of names stay readable.
std::string wrong_name(std::string_view what, std::string_view name) {
    if (name.size() > client_name_bytes_max)
        return std::string{what} + " is longer than " + std::to_string(client_name_bytes_max) + " bytes";
    if (std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; })) return {};
    return std::string{what} + " cannot contain spaces, newlines or special characters.";
}

// That HTTP would answer, for the counters.
int status_of(const RespReply& reply) {
    const std::string_view code = reply.error_code();
    if (code.empty()) return 200;
    if (code == "NOAUTH" || code == "WRONGPASS") return 401;
    if (code == too_fast_code) return 429;
    return code == try_again ? 503 : 400;
}

}  // namespace

std::optional<ParkedCommand> RespService::answer(RespCommand command, RespClient& client, const Caller& caller,
                                                 bool& last, std::string& out) {
    RespReply reply{client.version, out};
    const RespCommandRow* const row = find_resp_command(command.front());
    if (row != nullptr && row->takes_ids && row->takes_words(command.size()) && admitted(client, caller))
        return answer_ids(command, caller, reply);
    answer_other(row, command, client, caller, last, reply);
    counters_->requests(caller.listener).answered(status_of(reply));
    return std::nullopt;
}

void RespService::answer_other(const RespCommandRow* row, RespCommand command, RespClient& client, const Caller& caller,
                               bool& last, RespReply& reply) {
    if (too_fast(caller, 1, reply)) return;
    if (row == nullptr) return answer_unknown(command, reply);
    if (!row->takes_words(command.size())) return answer_wrong_arity(row->name, reply);
    if (row->needs_auth && !admitted(client, caller)) return reply.error("NOAUTH", "Authentication required.");
    switch (row->verb) {
        case RespVerb::incr:
        case RespVerb::incrby:
            break;
        case RespVerb::ping:
            if (command.size() > 2)
                answer_wrong_arity(row->name, reply);
            else if (command.size() == 2)
                reply.bulk(command[1]);
            else
                reply.simple("PONG");
            break;
        case RespVerb::echo:
            reply.bulk(command[1]);
            break;
        case RespVerb::hello:
            answer_hello(command, client, caller, reply);
            break;
        case RespVerb::auth:
            answer_auth(command, client, caller, reply);
            break;
        case RespVerb::select:
            if (command[1] == "0")
                reply.simple("OK");
            else
                reply.error("ERR", to_number(command[1]) ? "DB index is out of range" : not_a_number);
            break;
        case RespVerb::client:
            answer_client(command, client, reply);
            break;
        case RespVerb::command:
            append_commands(command, reply);
            break;
        case RespVerb::info:
            append_info(command, catalog_, reply);
            break;
        case RespVerb::time:
            answer_time(reply);
            break;
        case RespVerb::quit:
            last = true;
            reply.simple("OK");
            break;
        case RespVerb::reset:
            client = {.id = client.id};
            reply.simple("RESET");
            break;
    }
}

std::optional<ParkedCommand> RespService::answer_ids(RespCommand command, const Caller& caller, RespReply& reply) {
    RequestCounters& counters = counters_->requests(caller.listener);
    const auto sequence = find_sequence(command[1], catalog_);
    const auto number = command.size() == 2 ? 1 : to_number(command[2]);
    const std::uint64_t most = std::min(count_ranges_max, catalog_.count_max);
    const bool valid = sequence && number && *number >= 1 && static_cast<std::uint64_t>(*number) <= most;
    ParkedCommand parked{.listener = caller.listener};
    IdRequest& wanted = parked.wanted;
    if (valid) wanted = {.sequence = *sequence, .count = static_cast<std::uint64_t>(*number)};
    if (!too_fast(caller, wanted.count, reply)) {
        if (!sequence) {
            reply.error("ERR", sequence.error());
        } else if (!number) {
            reply.error("ERR", not_a_number);
        } else if (*number < 0) {
            refuse("INCRBY with a negative number", moves_back, reply);
        } else if (*number == 0) {
            refuse("INCRBY with 0", takes_nothing, reply);
        } else if (!valid) {
            reply.error("ERR", "INCRBY takes at most " + std::to_string(most) + " IDs at once");
        } else {
            Range taken;
            if (!take(parked, taken)) return parked;
            reply.integer(last_of(taken));
            counters.gave(wanted.sequence, wanted.count);
            return std::nullopt;
        }
    }
    counters.answered(status_of(reply));
    return std::nullopt;
}

bool RespService::take(const ParkedCommand& wanted, Range& taken) {
    Supply& supply = supply_of(wanted);
    if (catalog_.strict_order || !supply.waiting().empty()) return false;  // those who wait came first
    const Waiter waiter = waiter_of(wanted);
    const Taken outcome = waiter.consecutive ? supply.window().take_consecutive(waiter.ids, waiter.skip_max, taken)
                                             : supply.window().take(waiter.ids, {&taken, 1});
    if (outcome.wake) supply.ring();
    return outcome.result == TakeResult::taken;
}

// A run that is found may cost as many IDs again that are passed over for it, and no more.
Waiter RespService::waiter_of(const ParkedCommand& parked) {
    const std::uint64_t count = parked.wanted.count;
    return {.ids = count, .consecutive = count > 1, .skip_max = count};
}

bool RespService::too_fast(const Caller& caller, std::uint64_t ids, RespReply& reply) {
    if (limiter_ == nullptr) return false;
    const Duration wait = limiter_->take(caller.client, ids, caller.now);
    if (wait <= Duration::zero()) return false;
    reply.error(too_fast_code, "this client has used up what it may ask for; there is enough again in " +
                                   std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()) + " s");
    return true;
}

// Tokens may have been replaced since it was admitted.
bool RespService::admitted(RespClient& client, const Caller& caller) const {
    if (!caller.token_needed) return true;
    if (client.admitted_by != tokens_) {
        if (!tokens_ || !tokens_->admit(client.token)) return false;
        client.admitted_by = tokens_;
    }
    return client.admitted_by != nullptr;
}

bool RespService::log_in(RespClient& client, const Caller& caller, std::string_view user, std::string_view token,
                         RespReply& reply) const {
    if (!tokens_ && !caller.token_needed) {
        reply.error("ERR", no_token_set);
        return false;
    }
    if (user != only_user || !tokens_ || !tokens_->admit(token)) {
        reply.error("WRONGPASS", wrong_token);
        return false;
    }
    client.token = token;
    client.admitted_by = tokens_;
    return true;
}

void RespService::answer_unknown(RespCommand command, RespReply& reply) const {
    if (const std::string_view why = why_refused(command.front()); !why.empty())
        return refuse(quoted(command.front()), why, reply);
    std::string arguments;
    for (const std::string_view argument : command.subspan(1)) {
        if (arguments.size() >= shown_bytes_max) break;
        const std::size_t room = shown_bytes_max - arguments.size();
        arguments.append("'").append(argument.substr(0, room)).append("' ");
    }
    reply.error("ERR", "unknown command '" + std::string{command.front().substr(0, shown_bytes_max)} +
                           "', with args beginning with: " + arguments);
}

// AUTH token; AUTH default token
void RespService::answer_auth(RespCommand command, RespClient& client, const Caller& caller, RespReply& reply) const {
    if (command.size() > 3) return reply.error("ERR", "syntax error");
    if (log_in(client, caller, command.size() == 3 ? command[1] : only_user, command.back(), reply)) reply.simple("OK");
}

// HELLO [version [AUTH user token] [SETNAME name]]: all of it or nothing.
void RespService::answer_hello(RespCommand command, RespClient& client, const Caller& caller, RespReply& reply) const {
    RespClient greeted = client;
    RespCommand rest = command.subspan(1);
    if (!rest.empty()) {
        const auto version = to_number(rest[0]);
        if (!version) return reply.error("ERR", "Protocol version is not an integer or out of range");
        if (*version != 2 && *version != 3) return reply.error("NOPROTO", "unsupported protocol version");
        greeted.version = static_cast<RespVersion>(*version);
        rest = rest.subspan(1);
    }
    while (!rest.empty()) {
        if (equals_ignoring_case(rest[0], "auth") && rest.size() >= 3) {
            if (!log_in(greeted, caller, rest[1], rest[2], reply)) return;
            rest = rest.subspan(3);
        } else if (equals_ignoring_case(rest[0], "setname") && rest.size() >= 2) {
            if (const std::string wrong = wrong_name("Client name", rest[1]); !wrong.empty())
                return reply.error("ERR", wrong);
            greeted.name = rest[1];
            rest = rest.subspan(2);
        } else {
            return reply.error("ERR", "Syntax error in HELLO option " + quoted(rest[0]));
        }
    }
    if (!admitted(greeted, caller))
        return reply.error("NOAUTH", "HELLO is for those who have shown a token: HELLO 3 AUTH default TOKEN");
    client = std::move(greeted);
    reply.speak(client.version);
    append_hello(client.id, client.version, reply);
}

void RespService::answer_client(RespCommand command, RespClient& client, RespReply& reply) const {
    const std::string_view word = command[1];
    const auto has = [&](std::string_view name, std::size_t words) {
        return equals_ignoring_case(word, name) && command.size() == words;
    };
    if (has("id", 2)) return reply.integer(static_cast<std::int64_t>(client.id));
    if (has("getname", 2)) return client.name.empty() ? reply.null() : reply.bulk(client.name);
    if (has("setname", 3)) {
        if (const std::string wrong = wrong_name("Client name", command[2]); !wrong.empty())
            return reply.error("ERR", wrong);
        client.name = command[2];
        return reply.simple("OK");
    }
    if (has("setinfo", 4)) {  // nothing here shows it
        const std::string_view option = command[2];
        if (!equals_ignoring_case(option, "lib-name") && !equals_ignoring_case(option, "lib-ver"))
            return reply.error("ERR", "Unrecognized option " + quoted(option));
        if (const std::string wrong = wrong_name(option, command[3]); !wrong.empty()) return reply.error("ERR", wrong);
        return reply.simple("OK");
    }
    for (const std::string_view known : {"id", "getname", "setname", "setinfo"})
        if (equals_ignoring_case(word, known)) return answer_wrong_arity("client|" + std::string{known}, reply);
    reply.error("ERR", unknown_subcommand(word, "CLIENT ID, GETNAME, SETNAME and SETINFO"));
}

void RespService::answer_time(RespReply& reply) const {
    const auto now = wall_clock_().time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
    reply.array(2);
    reply.bulk(std::to_string(seconds.count()));
    reply.bulk(std::to_string(std::chrono::floor<std::chrono::microseconds>(now - seconds).count()));
}

void RespService::answer_taken(const ParkedCommand& parked, std::span<const Range> ranges, std::string& out) {
    RespReply{RespVersion::resp2, out}.integer(last_of(ranges.front()));
    counters_->requests(parked.listener).gave(parked.wanted.sequence, parked.wanted.count);
}

void RespService::answer_dry(const ParkedCommand& parked, std::string& out) {
    const Trouble trouble = why_dry(supply_of(parked));
    answer_error(parked, try_again, trouble.msg + ": " + trouble.error, out);
}

void RespService::answer_crowded(const ParkedCommand& parked, std::string& out) {
    answer_error(parked, try_again, "too many requests wait for IDs already", out);
}

void RespService::answer_refused(const ParkedCommand& parked, std::string& out) {
    answer_error(parked, "ERR",
                 "no " + std::to_string(parked.wanted.count) +
                     " consecutive IDs are within reach: others take from the sequence in between, or its step is not "
                     "1; ask for fewer, or take them one by one with INCR",
                 out);
}

void RespService::answer_error(const ParkedCommand& parked, std::string_view code, std::string_view text,
                               std::string& out) {
    RespReply reply{RespVersion::resp2, out};
    reply.error(code, text);
    counters_->requests(parked.listener).answered(status_of(reply));
}

}  // namespace next_id
