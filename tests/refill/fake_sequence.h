// A sequence as PostgreSQL keeps it, for tests that need no server: nextval, ALTER, and the answers of the two
// statements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sidecar/refill/reservation.h"

namespace next_id::test {

struct FakeSequence {
    SequenceParameters parameters;
    std::optional<std::int64_t> last_value;
    std::int64_t start = 1;
    std::optional<std::int64_t> restarted_with;  // instead
    SourceIdentity identity{7000, 5, 16384};
    std::string comment;
    std::uint64_t nextvals = 0;
    std::function<void()> before_nextval = [] {};  // another session's chance, between two values of a statement

    std::optional<std::int64_t> nextval() {
        ++nextvals;
        const __int128 next =
            last_value ? __int128{*last_value} + parameters.increment : __int128{restarted_with.value_or(start)};
        if (next < parameters.minimum || next > parameters.maximum) return std::nullopt;
        return last_value = static_cast<std::int64_t>(next);
    }

    bool is_behind(const Mark& mark) const {
        if (mark.direction == 0) return false;
        if (mark.direction != (parameters.increment > 0 ? 1 : -1) || !last_value) return true;
        return mark.direction > 0 ? *last_value < mark.last_value : *last_value > mark.last_value;
    }

    // Nothing when it met the end: what it took until then is burned.
    std::optional<ReserveAnswer> reserve(std::uint64_t values, const Mark& mark = {}) {
        ReserveAnswer answer;
        answer.uncalled = !last_value;
        for (std::uint64_t i = 0; i < values && !is_behind(mark); ++i) {
            before_nextval();
            const auto value = nextval();
            if (!value) return std::nullopt;
            append_value(answer.runs, *value, parameters.increment);
        }
        answer.parameters = parameters;
        answer.last_value = last_value;
        answer.identity = identity;
        return answer;
    }

    InspectAnswer inspect() const { return {parameters, last_value, identity, comment}; }

    // DROP and CREATE.
    void recreate(std::int64_t new_start) {
        last_value.reset();
        start = new_start;
        comment.clear();
        ++identity.sequence_oid;
    }

    // sql/resume_past.sql
    void resume_past(std::int64_t past) {
        last_value = past;
        comment = "next-id: resume past " + std::to_string(past);
    }
};

}  // namespace next_id::test
