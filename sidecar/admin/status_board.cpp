#include "sidecar/admin/status_board.h"

#include <cmath>

#include "sidecar/admin/diagnosis.h"
#include "sidecar/base/log.h"
#include "sidecar/base/require.h"
#include "sidecar/refill/guard.h"

namespace next_id {

namespace {

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

std::string name_of(Standing::Kind kind) {
    switch (kind) {
        case Standing::Kind::closed:
            return "closed: no refill is due";
        case Standing::Kind::connecting:
            return "connecting";
        case Standing::Kind::connected:
            return "connected";
        case Standing::Kind::away:
            return "away";
    }
    return {};
}

SequenceStatus status_of(SequenceRefill& sequence, Instant now) {
    const double seconds_left = sequence.seconds_left();
    SequenceStatus status;
    status.sequence = sequence.supply().sequence();
    status.state = refill_state_names[static_cast<std::size_t>(sequence.state())];
    status.ready = sequence.can_give();
    status.problem = sequence.problem();
    status.trouble = in_words(sequence.supply().trouble());
    status.advice = advice_for(status.trouble);
    status.ids_left = sequence.left();
    status.ids_target = sequence.policy().target();
    status.refill_level = sequence.policy().refill_level();
    status.ids_issued = sequence.issued();
    status.ids_discarded = sequence.discarded();
    status.demand_per_second = sequence.policy().demand_per_second();
    if (std::isfinite(seconds_left)) status.seconds_left = seconds_left;
    if (const auto refilled_at = sequence.refilled_at()) status.seconds_since_refill = seconds(now - *refilled_at);
    status.requests_waiting = sequence.supply().waiting().size();
    if (const auto reach = reach_of(sequence.supply().window().mark())) {
        status.lowest_reserved = reach->lowest;
        status.highest_reserved = reach->highest;
    }
    return status;
}

PostgresqlStatus status_of(const Refiller& refiller, Instant now) {
    PgEndpoint endpoint = refiller.endpoint();
    return {.state = name_of(refiller.standing().kind()),
            .seconds = seconds(now - refiller.standing().since()),
            .host = std::move(endpoint.host),
            .port = std::move(endpoint.port),
            .database = std::move(endpoint.database),
            .user = std::move(endpoint.user)};
}

std::vector<PastTrouble> past_troubles() {
    std::vector<PastTrouble> past;
    const std::vector<log::Said> warnings = log::last_warnings();
    for (auto said = warnings.rbegin(); said != warnings.rend(); ++said)
        past.push_back({.time = said->time,
                        .level = said->level == log::Level::error ? "error" : "warning",
                        .message = said->message,
                        .fields = said->fields,
                        .advice = std::string{advice_for(said->message)}});
    return past;
}

}  // namespace

StatusBoard::StatusBoard(uv_loop_t* loop, Process process, const Refiller& refiller)
    : process_{std::move(process)}, refiller_{refiller}, began_{Clock::now()}, history_{began_, totals()} {
    timer_ = make_handle<uv_timer_t>(this, [loop](uv_timer_t* handle) { return uv_timer_init(loop, handle); });
    require(timer_ != nullptr);
    const auto record = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<StatusBoard*>(handle->data))
            self->history_.record(Clock::now(), self->totals());
    };
    constexpr auto period_ms = std::chrono::duration_cast<std::chrono::milliseconds>(History::period).count();
    uv_timer_start(timer_.get(), record, period_ms, period_ms);
}

std::vector<History::Totals> StatusBoard::totals() const {
    std::vector<History::Totals> totals;
    for (const auto& sequence : refiller_.sequences())
        totals.push_back(
            {.ids_left = sequence->left(), .ids_issued = sequence->issued(), .ids_received = sequence->received()});
    return totals;
}

StatusReport StatusBoard::report(Instant now, std::optional<std::uint64_t> history_from) const {
    StatusReport report{.version = process_.version,
                        .host = process_.host,
                        .started = log::utc(process_.started),
                        .uptime_seconds = seconds(now - began_),
                        .strict_order = process_.strict_order,
                        .postgresql = status_of(refiller_, now),
                        .past_troubles = past_troubles()};
    if (history_from) {
        report.history_first = history_.first(*history_from);
        report.history_next = history_.next();
    }
    for (const auto& sequence : refiller_.sequences()) {
        report.sequences.push_back(status_of(*sequence, now));
        if (!history_from) continue;
        report.sequences.back().history = history_.points_of(report.sequences.size() - 1, *history_from);
    }
    judge(report);
    return report;
}

}  // namespace next_id
