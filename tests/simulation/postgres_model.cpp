#include "tests/simulation/postgres_model.h"

#include <algorithm>

namespace next_id::simulation {

namespace {

constexpr int values_logged_ahead = 32;  // SEQ_LOG_VALS

// value + steps * increment, as far as it stays within the bounds.
std::int64_t advance(std::int64_t value, int steps, const SequenceDefinition& definition) {
    const __int128 far = __int128{value} + __int128{steps} * definition.increment;
    return static_cast<std::int64_t>(std::clamp<__int128>(far, definition.minimum, definition.maximum));
}

bool has_next(std::int64_t value, const SequenceDefinition& definition) {
    const __int128 next = __int128{value} + definition.increment;
    return next >= definition.minimum && next <= definition.maximum;
}

}  // namespace

void PostgresModel::create() {
    state_ = {definition_.start, false, 0};
    log(state_);
    flush(written_);
}

void PostgresModel::log(const State& state) {
    page_ = ++written_;
    records_.push_back({written_, state});
}

PostgresModel::Taken PostgresModel::take(std::uint64_t count, bool message) {
    Taken taken;
    const Lsn before = written_;
    if (message) ++written_;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (state_.called && !has_next(state_.last, definition_)) {
            taken.exhausted = true;
            break;
        }
        const std::int64_t next = state_.called ? state_.last + definition_.increment : state_.last;
        const bool must_log = state_.logged_ahead < 1 || !state_.called;
        state_.logged_ahead = must_log ? values_logged_ahead : state_.logged_ahead - 1;
        state_.last = next;
        state_.called = true;
        if (must_log) log({advance(next, values_logged_ahead, definition_), true, 0});
        taken.values.push_back(next);
        if (!furthest_ || is_beyond(next, *furthest_, definition_.increment)) furthest_ = next;
    }
    if (written_ != before) taken.commit = ++written_;
    return taken;
}

void PostgresModel::restore(Lsn lsn) {
    while (records_.size() > 1 && records_.back().lsn > lsn) records_.pop_back();
    state_ = records_.back().state;
    page_ = records_.back().lsn;
    written_ = flushed_ = std::max(lsn, page_);
}

void PostgresModel::set_value(std::int64_t value) {
    state_ = {value, true, 0};
    log(state_);
    flush(written_);
}

void PostgresModel::alter_increment(std::int64_t increment) {
    definition_.increment = increment;
    state_.logged_ahead = 0;
    log(state_);
    flush(written_);
}

void PostgresModel::recreate() {
    ++oid_;
    comment_.clear();
    records_.clear();
    create();
}

}  // namespace next_id::simulation
