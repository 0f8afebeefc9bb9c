#include "sidecar/refill/refill.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "sidecar/base/log.h"
#include "sidecar/refill/answer_reader.h"
#include "sql/statements.h"

namespace next_id {

namespace {

constexpr Duration look_every =
    std::chrono::seconds{1};  // demand is measured that often; and a backstop, should a wake-up get lost

log::Level level_of(SequenceRefill::Severity severity) {
    switch (severity) {
        case SequenceRefill::Severity::info:
            return log::Level::info;
        case SequenceRefill::Severity::warning:
            return log::Level::warn;
        case SequenceRefill::Severity::error:
            return log::Level::error;
    }
    return log::Level::error;
}

// Well below the deadline of the statement, so that a lock on the sequence ends in an answer.
std::string lock_timeout_of(Duration query_timeout) {
    const auto half = std::chrono::duration_cast<std::chrono::milliseconds>(query_timeout) / 2;
    return std::to_string(std::max<std::int64_t>(half.count(), 1)) + "ms";
}

}  // namespace

Refill::Refill(Database& database, const Settings& settings, const std::vector<Supply*>& supplies,
               SequenceRefill::Dice dice)
    : database_{database},
      settings_{settings},
      lock_timeout_{lock_timeout_of(settings.query_timeout)},
      dice_{std::move(dice)},
      failures_(supplies.size()),
      backoff_{settings.sequence.policy.reserve} {
    for (Supply* supply : supplies) {
        const auto report = [supply](SequenceRefill::Severity severity, const std::string& message) {
            log::write(level_of(severity), message, {{"sequence", supply->sequence()}});
        };
        sequences_.push_back(std::make_unique<SequenceRefill>(*supply, settings.sequence, report, dice_));
    }
}

Instant Refill::drive(Instant now) {
    for (const auto& sequence : sequences_) {
        sequence->tick(now);
        sequence->supply().waiting().expire(now, sequence->supply().deliver());
    }
    Instant again = now + look_every;
    switch (database_.state()) {
        case PgState::idle:
            if (send_next(now)) break;
            again = std::min(again, next_step_at(now));
            if (next_step_at(now) - now > settings_.idle_close) database_.close();
            break;
        case PgState::closed:
        case PgState::broken:
            // What broke is made again also when nothing is to be reserved: else a trouble that is long over would be
            // told until then.
            if (now < connect_not_before_)
                again = std::min(again, connect_not_before_);
            else if (database_.state() == PgState::broken || any_step(now))
                connect();
            else
                again = std::min(again, next_step_at(now));
            break;
        case PgState::resolving:
        case PgState::connecting:
        case PgState::busy:
            break;
    }
    for (const auto& sequence : sequences_) again = std::min(again, sequence->supply().waiting().next_deadline());
    return again;
}

void Refill::connect() {
    connected_ = false;
    database_.connect();
}

// Sends the statement of the first sequence, from the one whose turn it is, that has a step to make.
bool Refill::send_next(Instant now) {
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
        const std::size_t index = (turn_ + i) % sequences_.size();
        const SequenceRefill::Step step = sequences_[index]->next_step(now);
        if (step.kind == SequenceRefill::Step::Kind::none) continue;
        under_way_ = index;
        kind_ = step.kind;
        turn_ = index + 1;
        Supply& supply = sequences_[index]->supply();
        const Mark mark = supply.window().mark();
        if (kind_ == SequenceRefill::Step::Kind::inspect)
            database_.query(sql::inspect, std::array{supply.sequence(), lock_timeout_});
        else
            database_.query(sql::reserve, std::array{supply.sequence(), std::to_string(step.values), lock_timeout_,
                                                     std::to_string(mark.last_value), std::to_string(mark.direction)});
        return true;
    }
    return false;
}

bool Refill::any_step(Instant now) {
    return std::ranges::any_of(sequences_, [&](const auto& sequence) {
        return sequence->next_step(now).kind != SequenceRefill::Step::Kind::none;
    });
}

Instant Refill::next_step_at(Instant now) const {
    Instant earliest = never;
    for (const auto& sequence : sequences_) earliest = std::min(earliest, sequence->next_step_at(now));
    return earliest;
}

void Refill::on_connected(Instant now) {
    if (const auto line = connect_failures_.recovered(now)) log::info("PostgreSQL is back: " + *line);
    log::debug("connected to PostgreSQL");
    connected_ = true;
    ++connects_.ok;
    for (const auto& sequence : sequences_) sequence->on_connected();
    tell_all({});
}

void Refill::on_disconnected(Instant now, const std::string& reason) {
    ++(connected_ ? connects_.lost : connects_.failed);
    if (under_way_) sequences_[*under_way_]->on_lost();
    under_way_.reset();
    late_ = false;
    if (const auto line = connect_failures_.failed(reason, now)) log::warn("no connection to PostgreSQL: " + *line);
    tell_all({"connect postgresql failed", reason});
    connect_not_before_ = now + backoff_.next(dice_());
}

void Refill::on_answer(Instant now, const PgAnswer& answer) {
    if (std::exchange(late_, false)) {
        log::info("PostgreSQL has answered the late statement");
        tell_all({});
    }
    const std::size_t index = *under_way_;
    under_way_.reset();
    const bool reserved = kind_ == SequenceRefill::Step::Kind::reserve;
    const std::string error = take_answer(*sequences_[index], answer, now);
    const std::string& name = sequences_[index]->supply().sequence();
    if (!error.empty()) {
        if (const auto line = failures_[index].failed(error, now))
            log::warn("reserving IDs failed: " + *line, {{"sequence", name}});
    } else if (reserved) {
        backoff_.reset();  // not when connected: the statement itself may end connections
        if (const auto line = failures_[index].recovered(now))
            log::info("reserving IDs works again: " + *line, {{"sequence", name}});
    }
}

// Returns why the statement failed, or its answer is of no use; empty when it is.
std::string Refill::take_answer(SequenceRefill& sequence, const PgAnswer& answer, Instant now) {
    std::string error = answer.error;
    if (answer.ok && kind_ == SequenceRefill::Step::Kind::inspect) {
        const auto read = read_inspect_answer(answer);
        if (read) return sequence.on_inspected(now, *read), "";
        error = read.error();
    } else if (answer.ok) {
        const auto read = read_reserve_answer(answer);
        if (read) return sequence.on_reserved(now, *read), "";
        error = read.error();
    }
    sequence.on_failed(now, answer.sqlstate, error);
    return error;
}

void Refill::on_late() {
    late_ = true;
    const auto limit_s = std::chrono::duration<double>(settings_.query_timeout).count();
    char text[96];
    std::snprintf(text, sizeof text,
                  "PostgreSQL has not answered for %g s; waiting on (a lock, or a standby that is away?)", limit_s);
    log::warn(text);
    tell_all({"query seq failed", text});
}

void Refill::tell_all(const Trouble& trouble) {
    for (const auto& sequence : sequences_) sequence->on_trouble(trouble);
}

}  // namespace next_id
