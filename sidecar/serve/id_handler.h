// Answers requests for IDs on one serve thread, and keeps those that wait for a dry window until their IDs, or word
// that there are none, are delivered. On its thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <variant>

#include "protocol/range.h"
#include "sidecar/api/id_service.h"
#include "sidecar/api/resp_service.h"
#include "sidecar/base/clock.h"
#include "sidecar/serve/http_handler.h"
#include "sidecar/serve/resp_handler.h"
#include "sidecar/window/waiting_list.h"

namespace next_id {

class IdHandler final : public HttpHandler, public RespHandler {
 public:
    // `thread`: the number under which the waiting lists know this thread.
    IdHandler(IdService service, unsigned thread, Duration wait_max);

    bool handle(const HttpRequest& request, bool close, Connection& connection, std::string& out) override;
    bool handle(RespCommand command, RespClient& client, bool& last, Connection& connection, std::string& out) override;
    void forget(Connection& connection) override;
    RequestCounters* counters_of(ListenerName listener) override { return &http_.counters().requests(listener); }

    void set_tokens(const std::shared_ptr<const Tokens>& tokens);

    // Any thread may read them.
    const ServeCounters& counters() const { return http_.counters(); }

    // The end of a wait. `request` is the number that the waiting list was given; it may be forgotten by now.
    void deliver(std::uint64_t request, WaitResult result, std::span<const Range> ranges);

 private:
    struct Parked {
        std::variant<ParkedRequest, ParkedCommand> request;
        Connection* connection;
        WaitingList::Id waiter;
        Instant since;
    };

    IdService& service_of(const ParkedRequest&) { return http_; }
    RespService& service_of(const ParkedCommand&) { return resp_; }
    template <class Request>
    bool park(const Request& request, Connection& connection, std::string& out);

    IdService http_;
    RespService resp_;
    const unsigned thread_;
    const Duration wait_max_;
    std::uint64_t next_request_ = 0;
    std::unordered_map<std::uint64_t, Parked> parked_;
};

}  // namespace next_id
