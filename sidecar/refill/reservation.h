// What one answer of the reserve statement means: which IDs are ours, and whether the sequence is one that may be used
// at all. Pure: numbers in, ranges out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/range.h"
#include "sidecar/base/expected.h"
#include "sidecar/config/config.h"
#include "sidecar/window/window_source.h"

namespace next_id {

// As read under the lock that nextval holds on the sequence.
struct SequenceParameters {
    std::int64_t minimum = 1;
    std::int64_t maximum = INT64_MAX;
    std::int64_t increment = 1;
    std::int64_t cache = 1;
    bool cycles = false;
    char persistence = 'p';  // pg_class.relpersistence: p permanent, u unlogged, t temporary
};

// 1 when it ascends, -1 when it descends.
inline int direction_of(const SequenceParameters& parameters) {
    return parameters.increment > 0 ? 1 : -1;
}

// Values one INCREMENT apart, in the order in which nextval returned them.
struct Run {
    std::int64_t first = 0;
    std::uint64_t count = 0;
};

struct ReserveAnswer {
    std::vector<Run> runs;  // fewer values than were asked for when the sequence was seen behind the mark
    SequenceParameters parameters;
    std::optional<std::int64_t> last_value;
    SourceIdentity identity;
    bool uncalled = false;  // it had given no value before
};

std::uint64_t count_of(const std::vector<Run>& runs);

// Adds what nextval returned: to the last run, if it lies one increment beyond it.
void append_value(std::vector<Run>& runs, std::int64_t value, std::int64_t increment);

struct InspectAnswer {
    SequenceParameters parameters;
    std::optional<std::int64_t> last_value;  // none before the first nextval
    SourceIdentity identity;
    std::string comment;
};

// Why the sequence must not be used, in a sentence that says what to change; empty when it may be.
std::string refusal_of(const SequenceParameters& parameters, Increment mode);

// The IDs that the answer's values own, in their order, adjacent ranges merged: in step mode the values themselves, in
// block mode v-INCREMENT+1 to v for each value v, so that whatever becomes of the increment, two blocks never overlap.
// The first value of an uncalled sequence owns itself alone, for what lies before it may have been given out, before a
// RESTART or to an older table. An error when the values cannot be what such a sequence returns (outside its bounds, or
// beyond int64).
Expected<std::vector<Range>> owned_ranges(const ReserveAnswer& answer, Increment mode);

// How many more values nextval can return before the sequence ends.
std::uint64_t values_left(const SequenceParameters& parameters, std::int64_t last_value);

}  // namespace next_id
