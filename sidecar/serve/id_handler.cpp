#include "sidecar/serve/id_handler.h"

#include <algorithm>

#include "sidecar/serve/http_connection.h"

namespace next_id {

bool IdHandler::handle(const HttpRequest& request, bool close, HttpConnection& connection, std::string& out) {
    const Caller caller{connection.client(), connection.entrance().token_needed, connection.now(),
                        connection.entrance().listener};
    auto wait_for = service_.answer(request, caller, close, out);
    if (!wait_for) return true;
    Supply& supply = service_.supply_of(*wait_for);
    const std::uint64_t number = next_request_++;
    const Instant now = Clock::now();
    const auto waiter = supply.waiting().park(
        {.ids = wait_for->wanted.count, .deadline = now + wait_max_, .thread = thread_, .request = number});
    supply.ring();
    WaitCounters& counters = service_.counters().waits(wait_for->wanted.sequence);
    if (!waiter) {
        counters.dry.add();
        service_.answer_unavailable(*wait_for, "too many requests wait for IDs already", out);
        return true;
    }
    counters.waited.add();
    parked_.emplace(number, Parked{*wait_for, &connection, *waiter, now});
    return false;
}

void IdHandler::forget(HttpConnection& connection) {
    const auto found =
        std::ranges::find_if(parked_, [&](const auto& entry) { return entry.second.connection == &connection; });
    if (found == parked_.end()) return;
    service_.supply_of(found->second.request).waiting().cancel(found->second.waiter);
    parked_.erase(found);
}

void IdHandler::deliver(std::uint64_t request, WaitResult result, std::span<const Range> ranges) {
    const auto found = parked_.find(request);
    if (found == parked_.end()) return;  // its connection is gone: the IDs are a gap
    Parked parked = std::move(found->second);
    parked_.erase(found);
    parked.request.head.close = parked.connection->closes_after_answer();
    std::string out;
    switch (result) {
        case WaitResult::served:
            service_.answer_taken(parked.request, ranges, out);
            break;
        case WaitResult::refused:
            service_.answer_unavailable(parked.request,
                                        "the window cannot hold that many IDs in so many ranges: ask for fewer", out);
            break;
        case WaitResult::expired:
        case WaitResult::failed:
            service_.answer_dry(parked.request, out);
            service_.counters().waits(parked.request.wanted.sequence).dry.add();
    }
    service_.counters().requests(parked.request.listener).waited(Clock::now() - parked.since);
    parked.connection->resume(out);
}

}  // namespace next_id
