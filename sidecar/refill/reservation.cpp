#include "sidecar/refill/reservation.h"

#include <algorithm>

namespace next_id {

namespace {

using Wide = __int128;  // holds every sum and product of what int64 holds

Wide last_of(const Run& run, std::int64_t increment) {
    return Wide{run.first} + Wide{run.count - 1} * increment;
}

// The values of a run, of which the last must lie within the sequence's bounds too.
bool within_bounds(const Run& run, const SequenceParameters& parameters) {
    if (run.count == 0) return false;
    const Wide last = last_of(run, parameters.increment);
    return std::min<Wide>(run.first, last) >= parameters.minimum &&
           std::max<Wide>(run.first, last) <= parameters.maximum;
}

Range values_of(const Run& run, const SequenceParameters& parameters) {
    return {run.first, parameters.increment, run.count};
}

// A block ends at its value, so consecutive blocks are one range; the first is clipped where the sequence begins. (And
// where it would hold 2^64 IDs, one more than can be counted.)
Range blocks_of(const Run& run, const SequenceParameters& parameters, bool uncalled) {
    const Wide last = last_of(run, parameters.increment);
    Wide first = uncalled ? Wide{run.first} : Wide{run.first} - parameters.increment + 1;
    first = std::max({first, Wide{parameters.minimum}, last - Wide{UINT64_MAX} + 1});
    return {static_cast<std::int64_t>(first), 1, static_cast<std::uint64_t>(last - first + 1)};
}

}  // namespace

std::uint64_t count_of(const std::vector<Run>& runs) {
    std::uint64_t count = 0;
    for (const Run& run : runs) count += run.count;
    return count;
}

void append_value(std::vector<Run>& runs, std::int64_t value, std::int64_t increment) {
    if (!runs.empty() && last_of(runs.back(), increment) + increment == value)
        ++runs.back().count;
    else
        runs.push_back({value, 1});
}

std::string refusal_of(const SequenceParameters& parameters, Increment mode) {
    if (parameters.cycles) return "the sequence has CYCLE, so it would repeat IDs: ALTER SEQUENCE ... NO CYCLE";
    if (parameters.persistence == 't')
        return "the sequence is temporary, so other sessions do not share it: create a permanent one";
    if (parameters.persistence != 'p')
        return "the sequence is unlogged, so a crash sets it back: ALTER SEQUENCE ... SET LOGGED, or create it anew";
    if (mode == Increment::block && parameters.increment < 0)
        return "the sequence descends, which --increment block does not allow: use --increment step, or a positive "
               "INCREMENT";
    return {};
}

Expected<std::vector<Range>> owned_ranges(const ReserveAnswer& answer, Increment mode) {
    std::vector<Range> ranges;
    for (const Run& run : answer.runs) {
        if (answer.parameters.increment == 0 || !within_bounds(run, answer.parameters))
            return Unexpected{"PostgreSQL returned values outside the sequence's own bounds, near " +
                              std::to_string(run.first)};
        const bool uncalled = answer.uncalled && ranges.empty();
        const Range range =
            mode == Increment::block ? blocks_of(run, answer.parameters, uncalled) : values_of(run, answer.parameters);
        const bool countable = ranges.empty() || range.count <= UINT64_MAX - ranges.back().count;
        if (!ranges.empty() && countable && continues(ranges.back(), range))
            ranges.back().count += range.count;
        else
            ranges.push_back(range);
    }
    return ranges;
}

std::uint64_t values_left(const SequenceParameters& parameters, std::int64_t last_value) {
    const bool ascending = parameters.increment > 0;
    const Wide room = ascending ? Wide{parameters.maximum} - last_value : Wide{last_value} - parameters.minimum;
    if (room <= 0 || parameters.increment == 0) return 0;
    return static_cast<std::uint64_t>(room / (ascending ? Wide{parameters.increment} : -Wide{parameters.increment}));
}

}  // namespace next_id
