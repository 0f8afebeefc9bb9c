#include "sidecar/refill/sequence_refill.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidecar/base/require.h"
#include "sidecar/refill/guard.h"

namespace next_id {

namespace {

constexpr std::uint64_t values_timeout_min = 100;             // a statement is not halved below this
constexpr std::uint64_t near_end_share = 10;                  // warned when less than a tenth of the sequence is left
constexpr std::string_view timed_out[] = {"55P03", "57014"};  // lock_not_available, query_canceled (statement_timeout)
constexpr std::string_view exhausted = "2200H";               // sequence_generator_limit_exceeded

}  // namespace

SequenceRefill::SequenceRefill(Supply& supply, const Settings& settings, Report report, Dice dice)
    : supply_{supply},
      settings_{settings},
      report_{std::move(report)},
      dice_{std::move(dice)},
      policy_{settings.policy},
      backoff_{settings.policy.reserve},
      received_{supply.window().left()},
      filled_once_{received_ != 0} {
    if (is_strict() && received_ != 0)
        discard(RefillTally::Discarded::strict_order,
                "strict order gives out no ID that was reserved before its request");
}

SequenceRefill::Step SequenceRefill::next_step(Instant now) {
    values_asked_ = 0;
    if (now < not_before_) return {};
    if (state_ != RefillState::reserving) return {Step::Kind::inspect};
    if (supply_.window().closed()) return {};
    const std::uint64_t ids = wanted();
    if (ids == 0) return {};
    asked_at_ = now;
    if (!verified_) return {Step::Kind::inspect};
    asked_for_ = supply_.waiting().newest();
    values_asked_ = values_for(ids);
    return {Step::Kind::reserve, values_asked_};
}

std::uint64_t SequenceRefill::wanted() {
    const std::uint64_t parked = supply_.waiting().demand();
    return is_strict() ? parked : policy_.wanted(left(), parked, dice_());
}

Instant SequenceRefill::next_step_at(Instant now) const {
    if (now < not_before_) return not_before_;
    if (state_ != RefillState::reserving) return now;
    if (is_strict()) return asked_at_ + settings_.linger > now ? asked_at_ + settings_.linger : never;
    const std::uint64_t level = policy_.refill_level();
    const std::uint64_t above = left() > level ? left() - level : 0;
    if (above == 0) return now;
    const double wait_s = static_cast<double>(above) / policy_.demand_per_second();  // infinite without demand
    constexpr double longest_s = 3600;
    return now + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(wait_s, longest_s)));
}

// A failed statement burns all that it took, so near the end of the sequence no more is asked for than what is there.
std::uint64_t SequenceRefill::values_for(std::uint64_t ids) const {
    const std::uint64_t block =
        settings_.mode == Increment::block ? static_cast<std::uint64_t>(std::max<std::int64_t>(increment_, 1)) : 1;
    const std::uint64_t values = ids / block + (ids % block != 0);
    return std::clamp<std::uint64_t>(values, 1, std::max<std::uint64_t>(std::min(values_max_, values_left_), 1));
}

void SequenceRefill::on_inspected(Instant now, const InspectAnswer& answer) {
    if (!check_identity(now, answer)) return;
    const Mark mark = supply_.window().mark();
    if (!mark.latched && latch_if_it_went_back(now, how_it_went_back(mark, answer), answer.parameters)) return;
    if (!check_parameters(now, answer.parameters)) return;
    if (answer.last_value)
        note_sequence_end(answer.parameters, *answer.last_value);
    else
        values_left_ = 1;  // where it starts cannot be seen: its first value will tell

    if (mark.latched && !is_resumed(now, answer)) return;
    if (state_ != RefillState::reserving) {
        own_trouble_ = {};
        supply_.set_trouble({});
    }
    state_ = RefillState::reserving;
    verified_ = true;
    problem_.clear();
    not_before_ = now;
    tick(now);
}

void SequenceRefill::on_reserved(Instant now, const ReserveAnswer& answer) {
    tally_.durations.observe(now - asked_at_);
    tally_.ended(take_reserved(now, answer) ? RefillTally::Result::ok : RefillTally::Result::refused);
}

// True iff its IDs were published.
bool SequenceRefill::take_reserved(Instant now, const ReserveAnswer& answer) {
    if (!check_identity(now, answer)) return false;
    const Mark mark = supply_.window().mark();
    if (latch_if_it_went_back(now, how_it_went_back(mark, answer, values_asked_), answer.parameters)) return false;
    if (!check_parameters(now, answer.parameters)) return false;
    if (answer.runs.empty()) {
        statement_failed(now, {}, "nothing was reserved");
        return false;
    }
    auto ranges = owned_ranges(answer, settings_.mode);
    if (!ranges) return statement_failed(now, {}, ranges.error()), false;
    const auto advanced = advance_mark(mark, answer, *ranges);
    if (!advanced) return latch(now, advanced.error(), answer.parameters), false;

    supply_.window().set_mark(*advanced);
    // Behind its own values, say.
    if (latch_if_it_went_back(now, how_it_went_back(*advanced, answer, values_asked_), answer.parameters)) return false;
    if (filled_once_ && !supply_.waiting().empty() && backoff_.untried()) policy_.found_dry();
    backoff_.reset();
    not_before_ = now;
    values_max_ = std::min(2 * values_max_, statement_values_max);
    note_sequence_end(answer.parameters, *answer.last_value);
    own_trouble_ = {};
    supply_.set_trouble({});
    publish(std::move(*ranges));
    refilled_at_ = now;
    if (is_strict()) serve_strictly();
    tick(now);
    filled_once_ = filled_once_ || left() != 0;
    return true;
}

void SequenceRefill::on_failed(Instant now, std::string_view sqlstate, const std::string& error) {
    if (values_asked_ != 0) {
        tally_.durations.observe(now - asked_at_);
        tally_.ended(RefillTally::Result::failed);
    }
    statement_failed(now, sqlstate, error);
}

void SequenceRefill::on_lost() {
    if (values_asked_ != 0) tally_.ended(RefillTally::Result::lost);
}

void SequenceRefill::statement_failed(Instant now, std::string_view sqlstate, const std::string& error) {
    if (values_asked_ != 0 && std::ranges::find(timed_out, sqlstate) != std::end(timed_out))
        values_max_ = std::max(std::min(values_max_, values_asked_) / 2, values_timeout_min);
    if (sqlstate == exhausted) values_left_ = 1;
    verified_ = false;
    fail(now, error);
}

void SequenceRefill::on_trouble(const Trouble& trouble) {
    supply_.set_trouble(trouble.msg.empty() || !problem_.empty() ? own_trouble_ : trouble);
}

void SequenceRefill::tick(Instant now) {
    if (supply_.window().closed()) replace_closed(now);
    publish_pending();
    if (!is_strict()) serve_waiting();
    policy_.observe(now, issued());
    // To wake when a refill is due, and when there is room for what is pending.
    const auto level = [this] {
        const std::uint64_t refill_level = policy_.refill_level();
        if (pending_.empty()) return refill_level;
        return std::max(supply_.window().left() / 2, refill_level - std::min(refill_level, pending_ids_));
    };
    while (supply_.window().wake_when_left(level()) && !pending_.empty() && !supply_.window().full()) publish_pending();
}

std::uint64_t SequenceRefill::issued() const {
    return received_ - left();
}

double SequenceRefill::seconds_left() const {
    const double demand = policy_.demand_per_second();
    return demand > 0 ? static_cast<double>(left()) / demand : std::numeric_limits<double>::infinity();
}

// A sequence that takes the place of the one that gave the window, by DROP and CREATE, by a restore or by an upgrade,
// is latched wherever it stands: beyond this sidecar's mark it may be for what others took before they noticed, and so
// within theirs. Other settings that lead to another database do so on purpose: IDs of two databases have nothing to do
// with each other, and the mark begins anew.
template <class Answer>
bool SequenceRefill::check_identity(Instant now, const Answer& answer) {
    WindowFile& window = supply_.window();
    const SourceIdentity& identity = answer.identity;
    const SourceIdentity known = window.identity();
    const bool other_settings = window.source_changed();
    if (known == identity && !other_settings) return true;
    const Mark mark = window.mark();
    const bool replaced = known != SourceIdentity{} && known != identity && mark.direction != 0;
    const bool same_database =
        known.system_identifier == identity.system_identifier && known.database_oid == identity.database_oid;
    if (replaced && (same_database || !other_settings)) {
        window.set_mark(moved_to(mark, answer.parameters, answer.last_value));
        latch(now,
              !same_database   ? "another database answers under the same settings"
              : other_settings ? "the settings of now lead to another sequence of the same database"
                               : "it was dropped and created again",
              answer.parameters);
        window.set_identity(identity);  // last: who dies before that has to find it replaced again
        return false;
    }
    if (replaced) {
        report_(Severity::warning,
                "the settings of now lead to another database. If it is a copy of the old one, its owner has to move "
                "the sequence past the furthest ID of all sidecars (this one's: " +
                    std::to_string(furthest_of(mark, mark.direction)) +
                    ", which is forgotten now) with sql/resume_past.sql");
        window.forget_mark();
    }
    window.set_identity(identity);
    return true;
}

bool SequenceRefill::check_parameters(Instant now, const SequenceParameters& parameters) {
    increment_ = parameters.increment;
    std::string refusal = refusal_of(parameters, settings_.mode);
    if (refusal.empty() && is_strict() && parameters.cache != 1)
        refusal = "the sequence has CACHE " + std::to_string(parameters.cache) +
                  ", with which strict order cannot be kept: ALTER SEQUENCE ... CACHE 1";
    if (refusal.empty()) return true;
    if (state_ != RefillState::refused || problem_ != refusal) report_(Severity::error, "sequence refused: " + refusal);
    state_ = RefillState::refused;
    problem_ = refusal;
    fail(now, refusal);
    return false;
}

// Asked before anything about the sequence is refused: while it descended, or after the end of a cycle, it went back
// for every sidecar, and must not be used again as it stands when the refusal is cured.
bool SequenceRefill::latch_if_it_went_back(Instant now, const std::string& how, const SequenceParameters& parameters) {
    if (!how.empty()) latch(now, how, parameters);
    return !how.empty();
}

// Another nextval would move the sequence on, into IDs that another sidecar holds. And what is left in our window is
// what the sequence is about to give to others, so it goes too.
void SequenceRefill::latch(Instant now, const std::string& how, const SequenceParameters& parameters) {
    Mark mark = supply_.window().mark();
    mark.latched = true;
    ++tally_.latched;
    supply_.window().set_mark(mark);
    const std::string furthest =
        mark.direction == 0 ? "none" : std::to_string(furthest_of(mark, direction_of(parameters)));
    state_ = RefillState::latched;
    problem_ = "the sequence went back: " + how +
               ". Nothing is reserved until its owner has moved it past the furthest ID of all sidecars (this one's: " +
               furthest + ") with sql/resume_past.sql: psql -v sequence='" + supply_.sequence() +
               "' -v past=ID -f sql/resume_past.sql";
    report_(Severity::error, problem_);
    discard(RefillTally::Discarded::went_back, "the sequence went back");
    fail(now, problem_);
}

// True iff an operator has moved the sequence past the mark.
bool SequenceRefill::is_resumed(Instant now, const InspectAnswer& answer) {
    WindowFile& window = supply_.window();
    const Mark mark = window.mark();
    const auto past = resume_past(answer.comment);
    if (past && clears_mark(mark, *past, answer)) {
        resume(answer, *past);
        return true;
    }
    const Mark moved = past ? past_comment(mark, *past, answer) : mark;
    window.set_mark(moved);
    if (moved.last_value != mark.last_value)
        latch(now, "it had been moved past " + std::to_string(*past) + " before", answer.parameters);
    else if (state_ != RefillState::latched)
        latch(now, "as was seen before", answer.parameters);
    else
        not_before_ = now + backoff_.next(dice_());
    return false;
}

void SequenceRefill::resume(const InspectAnswer& answer, std::int64_t past) {
    Mark mark = supply_.window().mark();
    mark.latched = false;
    if (mark.direction != 0) mark.direction = direction_of(answer.parameters);
    if (answer.last_value)
        mark.last_value = *answer.last_value;
    else
        mark = {};  // not even its first value lies within it
    supply_.window().set_mark(mark);
    report_(Severity::info, "resumed: an operator moved the sequence past " + std::to_string(past));
}

void SequenceRefill::publish(std::vector<Range> ranges) {
    for (const Range& range : ranges) {
        received_ += range.count;
        tally_.reserved_ids += range.count;
        pending_ids_ += range.count;
        pending_.push_back(range);
    }
    publish_pending();
}

void SequenceRefill::publish_pending() {
    while (!pending_.empty()) {
        Range& range = pending_.front();
        // Else who dies now, and starts again, would not know that it held them when the sequence goes back.
        require(covers(supply_.window().mark(), range));
        const std::uint64_t published = supply_.window().publish(range);
        if (published == 0) return;
        pending_ids_ -= published;
        if (published == range.count) {
            pending_.pop_front();
        } else {
            range.first = static_cast<std::int64_t>(static_cast<std::uint64_t>(range.first) +
                                                    published * static_cast<std::uint64_t>(range.step));
            range.count -= published;
        }
    }
}

void SequenceRefill::discard(RefillTally::Discarded reason, const std::string& why) {
    const std::uint64_t left_before = left();
    const auto thrown_away = supply_.window().discard();
    // What others took meanwhile was taken; what is gone now was thrown away. (When the window's replacement fails, its
    // count is not known.)
    const std::uint64_t gone = thrown_away ? *thrown_away + pending_ids_ : left_before;
    pending_.clear();
    pending_ids_ = 0;
    received_ -= std::min(received_, gone);
    tally_.discard(reason, gone);
    report_(Severity::warning, "window discarded, " + std::to_string(gone) + " IDs thrown away: " + why);
    if (!thrown_away) report_(Severity::error, thrown_away.error());
}

// Its replacement failed when it was discarded, and what was left in it is counted. No IDs are asked for until one can
// be made, for there is no place for them.
void SequenceRefill::replace_closed(Instant now) {
    if (const auto replaced = supply_.window().discard(); !replaced) return fail(now, replaced.error());
    report_(Severity::info, "the discarded window has been replaced");
    not_before_ = now;
}

void SequenceRefill::serve_waiting() {
    if (supply_.waiting().empty()) return;
    if (scratch_.empty()) scratch_.resize(supply_.window().slot_count());
    supply_.waiting().serve(supply_.window(), scratch_, supply_.deliver());
}

// Only those who waited before the statement was sent; what they leave came too early for those after them.
void SequenceRefill::serve_strictly() {
    if (scratch_.empty()) scratch_.resize(supply_.window().slot_count());
    do {
        supply_.waiting().serve(supply_.window(), scratch_, supply_.deliver(), asked_for_);
        throw_away_rest();
        publish_pending();
    } while (supply_.window().left() != 0);
}

void SequenceRefill::throw_away_rest() {
    while (const std::uint64_t rest = supply_.window().left()) {
        const Taken taken = supply_.window().take(rest, scratch_, true);
        if (taken.result != TakeResult::taken) return;
        received_ -= taken.count;
        tally_.discard(RefillTally::Discarded::strict_order, taken.count);
    }
}

void SequenceRefill::fail(Instant now, const std::string& error) {
    own_trouble_ = {"query seq failed", error};
    supply_.set_trouble(own_trouble_);
    not_before_ = now + backoff_.next(dice_());
}

void SequenceRefill::note_sequence_end(const SequenceParameters& parameters, std::int64_t last_value) {
    values_left_ = values_left(parameters, last_value);
    const std::uint64_t values =
        values_left(parameters, parameters.increment > 0 ? parameters.minimum : parameters.maximum);
    used_share_ = values == 0 ? 1 : 1 - static_cast<double>(values_left_) / static_cast<double>(values);
    const bool near_end = values_left_ < values / near_end_share;
    if (near_end && !near_end_reported_)
        report_(Severity::warning,
                "the sequence nears its end: " + std::to_string(values_left_) + " values are left before " +
                    std::to_string(parameters.increment > 0 ? parameters.maximum : parameters.minimum));
    near_end_reported_ = near_end;
}

}  // namespace next_id
