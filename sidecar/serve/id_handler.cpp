#include "sidecar/serve/id_handler.h"

#include <algorithm>

#include "sidecar/serve/connection.h"

namespace next_id {

namespace {

Caller caller_of(const Connection& connection) {
    return {connection.client(), connection.entrance().token_needed, connection.now(), connection.entrance().listener};
}

}  // namespace

IdHandler::IdHandler(IdService service, unsigned thread, Duration wait_max)
    : http_{std::move(service)}, resp_{http_, std::chrono::system_clock::now}, thread_{thread}, wait_max_{wait_max} {}

void IdHandler::set_tokens(const std::shared_ptr<const Tokens>& tokens) {
    http_.set_tokens(tokens);
    resp_.set_tokens(tokens);
}

bool IdHandler::handle(const HttpRequest& request, bool close, Connection& connection, std::string& out) {
    const auto wait_for = http_.answer(request, caller_of(connection), close, out);
    return !wait_for || !park(*wait_for, connection, out);
}

bool IdHandler::handle(RespCommand command, RespClient& client, bool& last, Connection& connection, std::string& out) {
    const auto wait_for = resp_.answer(command, client, caller_of(connection), last, out);
    return !wait_for || !park(*wait_for, connection, out);
}

// False when the list has no room; then the request is answered.
template <class Request>
bool IdHandler::park(const Request& request, Connection& connection, std::string& out) {
    auto& service = service_of(request);
    Supply& supply = service.supply_of(request);
    Waiter waiter = service.waiter_of(request);
    const Instant now = Clock::now();
    waiter.deadline = now + wait_max_;
    waiter.thread = thread_;
    waiter.request = next_request_++;
    const auto place = supply.waiting().park(waiter);
    supply.ring();
    WaitCounters& counters = http_.counters().waits(request.wanted.sequence);
    if (!place) {
        counters.dry.add();
        service.answer_crowded(request, out);
        return false;
    }
    counters.waited.add();
    parked_.emplace(waiter.request, Parked{request, &connection, *place, now});
    return true;
}

void IdHandler::forget(Connection& connection) {
    const auto found =
        std::ranges::find_if(parked_, [&](const auto& entry) { return entry.second.connection == &connection; });
    if (found == parked_.end()) return;
    const Parked& parked = found->second;
    std::visit([&](const auto& request) { service_of(request).supply_of(request).waiting().cancel(parked.waiter); },
               parked.request);
    parked_.erase(found);
}

void IdHandler::deliver(std::uint64_t request, WaitResult result, std::span<const Range> ranges) {
    const auto found = parked_.find(request);
    if (found == parked_.end()) return;  // its connection is gone: the IDs are a gap
    Parked parked = std::move(found->second);
    parked_.erase(found);
    if (auto* const http = std::get_if<ParkedRequest>(&parked.request))
        http->head.close = parked.connection->closes_after_answer();
    std::string out;
    std::visit(
        [&](const auto& waited) {
            auto& service = service_of(waited);
            switch (result) {
                case WaitResult::served:
                    service.answer_taken(waited, ranges, out);
                    break;
                case WaitResult::refused:
                    service.answer_refused(waited, out);
                    break;
                case WaitResult::expired:
                case WaitResult::failed:
                    service.answer_dry(waited, out);
                    http_.counters().waits(waited.wanted.sequence).dry.add();
            }
        },
        parked.request);
    http_.counters().requests(parked.connection->entrance().listener).waited(Clock::now() - parked.since);
    parked.connection->resume(out);
}

}  // namespace next_id
