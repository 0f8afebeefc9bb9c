#include "sidecar/api/id_service.h"

#include <algorithm>
#include <limits>

namespace next_id {

namespace {

constexpr std::uint32_t retry_after_s = 1;

constexpr const char* token_wanted =
    "this service wants a token: send Authorization: Bearer TOKEN, or X-Api-Token: TOKEN";
constexpr std::string_view too_fast =
    "this client has used up what it may ask for; Retry-After says in how many seconds there is enough again";
constexpr const char* dry_msg = "query seq failed";
constexpr const char* dry_error = "the window has too few IDs, and its refill did not come in time";

}  // namespace

Trouble why_dry(const Supply& supply) {
    Trouble trouble = supply.trouble();
    if (trouble.msg.empty()) trouble.msg = dry_msg;
    if (trouble.error.empty()) trouble.error = dry_error;
    return trouble;
}

IdService::IdService(std::vector<Supply*> supplies, Catalog catalog, RateLimiter* limiter)
    : supplies_{std::move(supplies)},
      catalog_{std::move(catalog)},
      limiter_{limiter},
      counters_{std::make_unique<ServeCounters>(supplies_.size())} {}

Expected<IdRequest, Refusal> IdService::read(const HttpRequest& request, const Caller& caller) const {
    if (caller.token_needed && !(tokens_ && tokens_->admit(request))) return Unexpected{Refusal{401, token_wanted, {}}};
    return read_id_request(request, catalog_);
}

std::optional<ParkedRequest> IdService::answer(const HttpRequest& request, const Caller& caller, bool close,
                                               std::string& out) {
    ResponseHead head{
        .close = close, .http_1_0 = request.http_1_0, .head_only = request.method == HttpRequest::Method::head};
    const auto wanted = read(request, caller);
    if (limiter_ != nullptr) {
        const std::uint64_t ids = wanted && !head.head_only ? wanted->count : 1;
        const Duration wait = limiter_->take(caller.client, ids, caller.now);
        if (wait > Duration::zero()) return answer_too_many(head, caller.listener, wait, out), std::nullopt;
    }
    if (!wanted) {
        const Refusal& refusal = wanted.error();
        head.status = refusal.status;
        head.allow = refusal.allow;
        head.www_authenticate = refusal.status == 401;
        append_error_response(head, caller.listener, msg_of(refusal.status), refusal.error, out);
        return std::nullopt;
    }
    head.text = wanted->format.text;
    if (head.head_only) {
        append_response(out, head, {});
        counters_->requests(caller.listener).answered(head.status);
        return std::nullopt;
    }
    if (take(*wanted, head, out)) {
        counters_->requests(caller.listener).gave(wanted->sequence, wanted->count);
        return std::nullopt;
    }
    return ParkedRequest{*wanted, head, caller.listener};
}

bool IdService::take(const IdRequest& wanted, const ResponseHead& head, std::string& out) {
    Supply& supply = *supplies_[wanted.sequence];
    if (catalog_.strict_order || !supply.waiting().empty()) return false;  // those who wait came first
    Range one;
    std::span<Range> room{&one, 1};
    if (wanted.count > 1) {
        if (ranges_.empty()) ranges_.resize(supply.window().slot_count());
        room = ranges_;
    }
    const Taken taken = supply.window().take(wanted.count, room);
    if (taken.wake) supply.ring();
    if (taken.result != TakeResult::taken) return false;
    const bool common =
        wanted.format.layout == Layout::single && !wanted.format.strings && !head.text && !head.close && !head.http_1_0;
    if (common) {
        append_id_response(out, one.first);
    } else {
        body_.clear();
        append_ids(body_, room.first(taken.ranges), wanted.format);
        append_response(out, head, body_);
    }
    return true;
}

void IdService::answer_too_many(ResponseHead head, ListenerName listener, Duration wait, std::string& out) {
    const std::int64_t seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
    head.status = 429;
    head.retry_after_seconds =
        static_cast<std::uint32_t>(std::min<std::int64_t>(seconds, std::numeric_limits<std::uint32_t>::max()));
    append_error_response(head, listener, msg_of(head.status), too_fast, out);
}

void IdService::answer_taken(const ParkedRequest& parked, std::span<const Range> ranges, std::string& out) {
    body_.clear();
    append_ids(body_, ranges, parked.wanted.format);
    append_response(out, parked.head, body_);
    counters_->requests(parked.listener).gave(parked.wanted.sequence, parked.wanted.count);
}

void IdService::answer_dry(const ParkedRequest& parked, std::string& out) {
    const Trouble trouble = why_dry(supply_of(parked));
    answer_unavailable(parked, trouble.msg, trouble.error, out);
}

void IdService::answer_refused(const ParkedRequest& parked, std::string& out) {
    answer_unavailable(parked, dry_msg, "the window cannot hold that many IDs in so many ranges: ask for fewer", out);
}

void IdService::answer_crowded(const ParkedRequest& parked, std::string& out) {
    answer_unavailable(parked, dry_msg, "too many requests wait for IDs already", out);
}

void IdService::answer_unavailable(const ParkedRequest& parked, std::string_view msg, std::string_view error,
                                   std::string& out) {
    ResponseHead head = parked.head;
    head.status = 503;
    head.retry_after_seconds = retry_after_s;
    append_error_response(head, parked.listener, msg, error, out);
}

void IdService::append_error_response(ResponseHead head, ListenerName listener, std::string_view msg,
                                      std::string_view error, std::string& out) {
    head.text = false;
    body_.clear();
    append_error(body_, head.status, msg, error);
    counters_->requests(listener).answered(head.status);
    append_response(out, head, body_);
}

}  // namespace next_id
