// Commands of RESP to replies: what Redis would answer, where it does not break what is promised of IDs. Never waits:
// what the window cannot give at once is handed back to be parked. One for each serve thread, which alone calls it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/resp_reply.h"
#include "protocol/resp_request.h"
#include "sidecar/api/id_service.h"
#include "sidecar/api/resp_commands.h"

namespace next_id {

// What a connection has said of itself, and what it may do.
struct RespClient {
    std::uint64_t id = 0;
    RespVersion version = RespVersion::resp2;
    std::string name = {};
    std::string token = {};                               // that it has shown, and
    std::shared_ptr<const Tokens> admitted_by = nullptr;  // those among which it was found
};

// IDs that were asked for while the window was dry.
struct ParkedCommand {
    IdRequest wanted;  // its IDs are consecutive
    ListenerName listener{};
};

class RespService {
 public:
    using WallClock = std::chrono::system_clock::time_point (*)();

    // Offers what `service` offers, by the same rules, and counts where it counts. Its counters outlive this.
    RespService(IdService& service, WallClock wall_clock)
        : supplies_{service.supplies()},
          catalog_{service.catalog()},
          limiter_{service.limiter()},
          tokens_{service.tokens()},
          counters_{&service.counters()},
          wall_clock_{wall_clock} {}

    // Those that open it from now on, also to connections that have shown another before.
    void set_tokens(std::shared_ptr<const Tokens> tokens) { tokens_ = std::move(tokens); }

    // Appends the whole reply to `out`; or takes nothing, and returns what is to be parked. `last`: the client wants
    // the connection closed behind it.
    std::optional<ParkedCommand> answer(RespCommand command, RespClient& client, const Caller& caller, bool& last,
                                        std::string& out);

    // The replies to what had been parked.
    void answer_taken(const ParkedCommand& parked, std::span<const Range> ranges, std::string& out);
    void answer_dry(const ParkedCommand& parked, std::string& out);
    void answer_refused(const ParkedCommand& parked, std::string& out);  // no full window would do
    void answer_crowded(const ParkedCommand& parked, std::string& out);  // too many wait already

    Supply& supply_of(const ParkedCommand& parked) { return *supplies_[parked.wanted.sequence]; }
    static Waiter waiter_of(const ParkedCommand& parked);

 private:
    std::optional<ParkedCommand> answer_ids(RespCommand command, const Caller& caller, RespReply& reply);
    void answer_other(const RespCommandRow* row, RespCommand command, RespClient& client, const Caller& caller,
                      bool& last, RespReply& reply);
    bool take(const ParkedCommand& wanted, Range& taken);
    void answer_error(const ParkedCommand& parked, std::string_view code, std::string_view text, std::string& out);
    bool admitted(RespClient& client, const Caller& caller) const;
    bool too_fast(const Caller& caller, std::uint64_t ids, RespReply& reply);
    bool log_in(RespClient& client, const Caller& caller, std::string_view user, std::string_view token,
                RespReply& reply) const;

    void answer_unknown(RespCommand command, RespReply& reply) const;
    void answer_auth(RespCommand command, RespClient& client, const Caller& caller, RespReply& reply) const;
    void answer_hello(RespCommand command, RespClient& client, const Caller& caller, RespReply& reply) const;
    void answer_client(RespCommand command, RespClient& client, RespReply& reply) const;
    void answer_time(RespReply& reply) const;

    const std::vector<Supply*> supplies_;
    const Catalog catalog_;
    RateLimiter* const limiter_;
    std::shared_ptr<const Tokens> tokens_;
    ServeCounters* const counters_;
    const WallClock wall_clock_;
};

}  // namespace next_id
