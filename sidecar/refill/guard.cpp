#include "sidecar/refill/guard.h"

#include <algorithm>
#include <charconv>

namespace next_id {

namespace {

std::int64_t lowest_of(const Range& range) {
    return std::min(range.first, last_of(range));
}
std::int64_t highest_of(const Range& range) {
    return std::max(range.first, last_of(range));
}

// True iff every ID of the range lies beyond `id` in the sequence's direction.
bool is_beyond(const Range& range, std::int64_t id, int direction) {
    return direction > 0 ? lowest_of(range) > id : highest_of(range) < id;
}

std::string direction_name(int direction) {
    return direction > 0 ? "ascending" : "descending";
}

int direction_of(const SequenceParameters& parameters) {
    return parameters.increment > 0 ? 1 : -1;
}

std::string behind(const Mark& mark, std::optional<std::int64_t> last_value, int direction) {
    if (mark.direction == 0) return {};
    if (mark.direction != direction)
        return "it is now " + direction_name(direction) + " and was " + direction_name(mark.direction);
    if (!last_value) return "it has given no value yet, but had given " + std::to_string(mark.last_value);
    if (direction > 0 ? *last_value >= mark.last_value : *last_value <= mark.last_value) return {};
    return "its last value is " + std::to_string(*last_value) + ", but had been " + std::to_string(mark.last_value);
}

}  // namespace

std::string how_it_went_back(const Mark& mark, const InspectAnswer& answer) {
    return behind(mark, answer.last_value, direction_of(answer.parameters));
}

std::string how_it_went_back(const Mark& mark, const ReserveAnswer& answer, std::uint64_t asked) {
    const std::string how = behind(mark, answer.last_value, direction_of(answer.parameters));
    if (!how.empty() || mark.direction == 0 || count_of(answer.runs) >= asked) return how;
    return "its last value was seen behind " + std::to_string(mark.last_value) + ", where it had been";
}

Expected<Mark> advance_mark(const Mark& mark, const ReserveAnswer& answer, const std::vector<Range>& ranges) {
    const int direction = direction_of(answer.parameters);
    Mark next = mark;
    next.direction = direction;
    next.last_value = *answer.last_value;
    bool reserved = mark.direction != 0;
    // With CACHE 1 each value lies beyond all before it. With more, sessions hand out their caches in any order, but an
    // answer comes from one session, and there too each value lies beyond the one before.
    std::optional<std::int64_t> furthest;
    if (reserved && answer.parameters.cache == 1) furthest = direction > 0 ? mark.highest : mark.lowest;
    for (const Range& range : ranges) {
        if (furthest && !is_beyond(range, *furthest, direction))
            return Unexpected{"it returned " + std::to_string(range.first) + ", but " + std::to_string(*furthest) +
                              " had been reserved before"};
        furthest = direction > 0 ? highest_of(range) : lowest_of(range);
        next.lowest = reserved ? std::min(next.lowest, lowest_of(range)) : lowest_of(range);
        next.highest = reserved ? std::max(next.highest, highest_of(range)) : highest_of(range);
        reserved = true;
    }
    return next;
}

std::int64_t furthest_of(const Mark& mark, int direction) {
    return direction > 0 ? std::max(mark.highest, mark.last_value) : std::min(mark.lowest, mark.last_value);
}

std::optional<Reach> reach_of(const Mark& mark) {
    if (mark.direction == 0) return std::nullopt;
    return Reach{.lowest = mark.direction < 0 ? furthest_of(mark, -1) : mark.lowest,
                 .highest = mark.direction > 0 ? furthest_of(mark, 1) : mark.highest};
}

Mark moved_to(const Mark& mark, const SequenceParameters& parameters, std::optional<std::int64_t> last_value) {
    Mark moved = mark;
    if (last_value)
        moved.last_value = direction_of(parameters) > 0 ? std::max(mark.last_value, *last_value)
                                                        : std::min(mark.last_value, *last_value);
    return moved;
}

bool covers(const Mark& mark, const Range& range) {
    return mark.direction != 0 && lowest_of(range) >= mark.lowest && highest_of(range) <= mark.highest;
}

std::optional<std::int64_t> resume_past(std::string_view comment) {
    constexpr std::string_view prefix = "next-id: resume past ";
    if (!comment.starts_with(prefix)) return std::nullopt;
    comment.remove_prefix(prefix.size());
    std::int64_t past = 0;
    const auto [end, error] = std::from_chars(comment.data(), comment.data() + comment.size(), past);
    if (error != std::errc{} || end != comment.data() + comment.size()) return std::nullopt;
    return past;
}

bool clears_mark(const Mark& mark, std::int64_t past, const InspectAnswer& sequence) {
    const auto& [minimum, maximum, increment, cache, cycles, persistence] = sequence.parameters;
    const bool ascending = increment > 0;
    if (mark.direction != 0) {
        const std::int64_t furthest = furthest_of(mark, ascending ? 1 : -1);
        if (ascending ? past < furthest : past > furthest) return false;
    }
    if (!sequence.last_value) return ascending ? minimum > past : maximum < past;  // its first value may be any
    return ascending ? *sequence.last_value >= past : *sequence.last_value <= past;
}

}  // namespace next_id
