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

bool is_at_or_beyond(std::int64_t id, std::int64_t other, int direction) {
    return direction > 0 ? id >= other : id <= other;
}

std::int64_t further(std::int64_t a, std::int64_t b, int direction) {
    return direction > 0 ? std::max(a, b) : std::min(a, b);
}

// True iff every ID of the range lies beyond `id` in the sequence's direction.
bool is_beyond(const Range& range, std::int64_t id, int direction) {
    return direction > 0 ? lowest_of(range) > id : highest_of(range) < id;
}

std::string direction_name(int direction) {
    return direction > 0 ? "ascending" : "descending";
}

std::string behind(const Mark& mark, std::optional<std::int64_t> last_value, int direction) {
    if (mark.direction == 0) return {};
    if (mark.direction != direction)
        return "it is now " + direction_name(direction) + " and was " + direction_name(mark.direction);
    if (!last_value) return "it has given no value yet, but had given " + std::to_string(mark.last_value);
    if (is_at_or_beyond(*last_value, mark.last_value, direction)) return {};
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
        next.last_value = further(next.last_value, *furthest, direction);
        next.lowest = reserved ? std::min(next.lowest, lowest_of(range)) : lowest_of(range);
        next.highest = reserved ? std::max(next.highest, highest_of(range)) : highest_of(range);
        reserved = true;
    }
    return next;
}

std::int64_t furthest_of(const Mark& mark, int direction) {
    return further(direction > 0 ? mark.highest : mark.lowest, mark.last_value, direction);
}

std::optional<Reach> reach_of(const Mark& mark) {
    if (mark.direction == 0) return std::nullopt;
    return Reach{.lowest = mark.direction < 0 ? furthest_of(mark, -1) : mark.lowest,
                 .highest = mark.direction > 0 ? furthest_of(mark, 1) : mark.highest};
}

Mark moved_to(const Mark& mark, const SequenceParameters& parameters, std::optional<std::int64_t> last_value) {
    Mark moved = mark;
    if (last_value) moved.last_value = further(mark.last_value, *last_value, direction_of(parameters));
    return moved;
}

Mark past_comment(const Mark& mark, std::int64_t past, const InspectAnswer& sequence) {
    const int direction = direction_of(sequence.parameters);
    if (mark.direction != direction || !is_at_or_beyond(past, furthest_of(mark, direction), direction)) return mark;
    if (sequence.last_value && is_at_or_beyond(*sequence.last_value, past, direction)) return mark;
    Mark moved = mark;
    moved.last_value = past == (direction > 0 ? INT64_MAX : INT64_MIN) ? past : past + direction;
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
    const int direction = direction_of(sequence.parameters);
    if (mark.direction != 0 && !is_at_or_beyond(past, furthest_of(mark, direction), direction)) return false;
    if (sequence.last_value) return is_at_or_beyond(*sequence.last_value, past, direction);
    // Its first value may be any.
    return direction > 0 ? sequence.parameters.minimum > past : sequence.parameters.maximum < past;
}

}  // namespace next_id
