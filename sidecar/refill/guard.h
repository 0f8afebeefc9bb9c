// The guard against a sequence that went back: a failover that lost data, a restore, a setval, a re-created sequence.
// Compares what was reserved with the mark, the furthest that this sidecar ever reserved. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/range.h"
#include "sidecar/base/expected.h"
#include "sidecar/refill/reservation.h"
#include "sidecar/window/window_source.h"

namespace next_id {

// How the sequence, as it was found, had gone back behind the mark; empty when it had not.
std::string how_it_went_back(const Mark& mark, const InspectAnswer& answer);

// The same of a reservation of so many values. That it took fewer tells, even if others have moved the sequence on
// since.
std::string how_it_went_back(const Mark& mark, const ReserveAnswer& answer, std::uint64_t asked);

// The mark after a reservation, which how_it_went_back() finds wanting if a setval() came between, or a sentence that
// says which of its values shows that the sequence went back; then none of the ranges may be published. REQUIRES:
// how_it_went_back() found nothing; values in the answer.
Expected<Mark> advance_mark(const Mark& mark, const ReserveAnswer& answer, const std::vector<Range>& ranges);

// The ID beyond which, in that direction (1 or -1), none is known to be taken: this sidecar's own furthest, or the last
// value that it saw, which others may have taken. REQUIRES: the mark has a direction.
std::int64_t furthest_of(const Mark& mark, int direction);

// The lowest and the highest ID ever reserved, or in the sequence's direction seen taken by others.
struct Reach {
    std::int64_t lowest, highest;
};
// Nothing before the first.
std::optional<Reach> reach_of(const Mark& mark);

// The mark, and all up to where another sequence of that name stands: only what moves it further can clear that. A
// comment that a restore has brought along cannot.
Mark moved_to(const Mark& mark, const SequenceParameters& parameters, std::optional<std::int64_t> last_value);

// The mark of a sequence that was found behind N of the comment below: it went back after it had been moved there, so
// whatever moves it past N now, the comment tells of an earlier incident, and is not to clear this mark. Otherwise the
// same mark.
Mark past_comment(const Mark& mark, std::int64_t past, const InspectAnswer& sequence);

// True iff the whole range lies within the mark.
bool covers(const Mark& mark, const Range& range);

// N of a sequence comment "next-id: resume past N", which sql/resume_past.sql leaves.
std::optional<std::int64_t> resume_past(std::string_view comment);

// True iff the sequence was moved past N, still stands there, and gives nothing that the mark covers. A comment
// outlives what it tells of, and comes along with a restore: alone it proves nothing.
bool clears_mark(const Mark& mark, std::int64_t past, const InspectAnswer& sequence);

}  // namespace next_id
