// Requests for IDs to answers: reads the request, takes from the window, writes the response. Never waits: what the
// window cannot give at once is handed back to be parked. One for each serve thread, which alone calls it; it keeps
// that thread's scratch memory.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/http_request.h"
#include "protocol/http_response.h"
#include "sidecar/api/id_request.h"
#include "sidecar/api/rate_limiter.h"
#include "sidecar/api/tokens.h"
#include "sidecar/metrics/serve_counters.h"
#include "sidecar/window/supply.h"

namespace next_id {

// A request that found the window dry, with what its answer will need once it has been parked.
struct ParkedRequest {
    IdRequest wanted;
    ResponseHead head;
    ListenerName listener{};
};

// Whose request it is, when and by which listener it came.
struct Caller {
    const Client& client;
    bool token_needed = false;
    Instant now{};
    ListenerName listener{};
};

// Why a request that waited gets no IDs.
Trouble why_dry(const Supply& supply);

class IdService {
 public:
    // The supplies stand in the order of the catalog's sequences. They and the limiter, which all threads share,
    // outlive the service; null: no rate is limited.
    IdService(std::vector<Supply*> supplies, Catalog catalog, RateLimiter* limiter = nullptr);

    // What it offers, for those who offer the same otherwise.
    const std::vector<Supply*>& supplies() const { return supplies_; }
    const Catalog& catalog() const { return catalog_; }
    RateLimiter* limiter() const { return limiter_; }
    const std::shared_ptr<const Tokens>& tokens() const { return tokens_; }

    // Those that open it from now on. Until there are some, nobody comes in who needs one.
    void set_tokens(std::shared_ptr<const Tokens> tokens) { tokens_ = std::move(tokens); }

    // Appends the whole response to `out`; or takes nothing, and returns what is to be parked.
    std::optional<ParkedRequest> answer(const HttpRequest& request, const Caller& caller, bool close, std::string& out);

    // The answers to what had been parked.
    void answer_taken(const ParkedRequest& parked, std::span<const Range> ranges, std::string& out);
    void answer_dry(const ParkedRequest& parked, std::string& out);
    void answer_refused(const ParkedRequest& parked, std::string& out);  // no full window would do
    void answer_crowded(const ParkedRequest& parked, std::string& out);  // too many wait already

    // What this service counts; it counts each answer that it makes. Any thread may read them.
    ServeCounters& counters() { return *counters_; }
    const ServeCounters& counters() const { return *counters_; }

    Supply& supply_of(const ParkedRequest& parked) { return *supplies_[parked.wanted.sequence]; }
    static Waiter waiter_of(const ParkedRequest& parked) { return {.ids = parked.wanted.count}; }

 private:
    Expected<IdRequest, Refusal> read(const HttpRequest& request, const Caller& caller) const;
    // True iff IDs were taken, and so the response written.
    bool take(const IdRequest& wanted, const ResponseHead& head, std::string& out);
    void answer_too_many(ResponseHead head, ListenerName listener, Duration wait, std::string& out);
    void answer_unavailable(const ParkedRequest& parked, std::string_view msg, std::string_view error,
                            std::string& out);
    void append_error_response(ResponseHead head, ListenerName listener, std::string_view msg, std::string_view error,
                               std::string& out);

    const std::vector<Supply*> supplies_;
    const Catalog catalog_;
    RateLimiter* const limiter_;
    std::shared_ptr<const Tokens> tokens_;
    std::unique_ptr<ServeCounters> counters_;  // which stay where they are when the service moves
    std::vector<Range> ranges_;                // as many as a window can hold, made when a batch first needs it
    std::string body_;
};

}  // namespace next_id
