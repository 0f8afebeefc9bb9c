// Answers requests for IDs on one serve thread, and keeps those that wait for a dry window until their IDs, or word
// that there are none, are delivered. On its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/range.h"
#include "sidecar/api/id_service.h"
#include "sidecar/base/clock.h"
#include "sidecar/serve/http_handler.h"
#include "sidecar/window/waiting_list.h"

namespace next_id {

class IdHandler final : public HttpHandler {
 public:
    // `thread`: the number under which the waiting lists know this thread.
    IdHandler(IdService service, unsigned thread, Duration wait_max)
        : service_{std::move(service)}, thread_{thread}, wait_max_{wait_max} {}

    bool handle(const HttpRequest& request, bool close, HttpConnection& connection, std::string& out) override;
    void forget(HttpConnection& connection) override;
    RequestCounters* counters_of(ListenerName listener) override { return &service_.counters().requests(listener); }

    void set_tokens(std::shared_ptr<const Tokens> tokens) { service_.set_tokens(std::move(tokens)); }

    // Any thread may read them.
    const ServeCounters& counters() const { return service_.counters(); }

    // The end of a wait. `request` is the number that the waiting list was given; it may be forgotten by now.
    void deliver(std::uint64_t request, WaitResult result, std::span<const Range> ranges);

 private:
    struct Parked {
        ParkedRequest request;
        HttpConnection* connection;
        WaitingList::Id waiter;
        Instant since;
    };

    IdService service_;
    const unsigned thread_;
    const Duration wait_max_;
    std::uint64_t next_request_ = 0;
    std::unordered_map<std::uint64_t, Parked> parked_;
};

}  // namespace next_id
