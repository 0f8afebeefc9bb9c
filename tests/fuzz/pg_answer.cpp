// Any text in the columns of the reserve statement: what is published of it is ascending or descending throughout,
// overlaps nothing, lies beyond the mark and within the sequence. The statement's columns come one a line, \N is null;
// with eleven of them it is the answer of the inspect statement.
#include <algorithm>

#include "sidecar/refill/answer_reader.h"
#include "sidecar/refill/guard.h"
#include "tests/fuzz/targets.h"

namespace next_id::test {
namespace {

using Wide = __int128;

PgAnswer answer_of(std::string_view bytes) {
    PgAnswer answer{.ok = true};
    auto& row = answer.rows.emplace_back();
    for (bool more = true; more;) {
        const std::string_view column = bytes.substr(0, bytes.find('\n'));
        row.push_back(column == "\\N" ? std::nullopt : std::optional{std::string{column}});
        more = column.size() < bytes.size();
        bytes.remove_prefix(std::min(column.size() + 1, bytes.size()));
    }
    return answer;
}

struct Bounds {
    Wide lowest, highest;
};

// In 128 bits, without the code under test.
Bounds bounds_of(const Range& range) {
    promised(range.count != 0 && range.step != 0, "a range has IDs, and a direction");
    const Wide first = range.first, last = first + Wide{range.count - 1} * range.step;
    promised(last >= INT64_MIN && last <= INT64_MAX, "the IDs of a range are 64-bit integers");
    return {std::min(first, last), std::max(first, last)};
}

void check_ranges(const ReserveAnswer& answer, const std::vector<Range>& ranges, Increment mode) {
    const SequenceParameters& parameters = answer.parameters;
    Wide ids = 0;
    for (const Range& range : ranges) {
        const auto [lowest, highest] = bounds_of(range);
        promised(lowest >= parameters.minimum && highest <= parameters.maximum, "IDs lie within the sequence's bounds");
        ids += range.count;
    }
    if (mode == Increment::step) promised(ids == count_of(answer.runs), "in step mode each value is an ID");
    promised(!ranges.empty(), "an answer that is read has IDs");
}

// What the guard lets through after a mark.
void check_guarded(const Mark& mark, const ReserveAnswer& answer, const std::vector<Range>& ranges) {
    if (!how_it_went_back(mark, answer, count_of(answer.runs)).empty()) return;
    const auto next = advance_mark(mark, answer, ranges);
    if (!next) return promised(!next.error().empty(), "the guard says how the sequence went back");
    const bool ascending = answer.parameters.increment > 0;
    promised(next->direction == (ascending ? 1 : -1), "the mark has the direction of the sequence");
    std::optional<Bounds> before;
    if (mark.direction != 0 && answer.parameters.cache == 1) before = {mark.lowest, mark.highest};
    for (const Range& range : ranges) {
        const Bounds here = bounds_of(range);
        promised(next->lowest <= here.lowest && next->highest >= here.highest, "the mark covers what is published");
        promised(!before || (ascending ? here.lowest > before->highest : here.highest < before->lowest),
                 "no range overlaps another, or what the mark covers");
        before = here;
    }
    promised(mark.direction == 0 || (next->lowest <= mark.lowest && next->highest >= mark.highest),
             "a mark only grows");
    const auto again = advance_mark(*next, answer, ranges);
    promised(!again || answer.parameters.cache != 1, "an answer that comes again is seen");
}

void check_reserved(const ReserveAnswer& answer) {
    if (answer.runs.empty()) return;
    promised(answer.last_value.has_value(), "a sequence that gave values has a last one");
    const auto left = values_left(answer.parameters, *answer.last_value);
    promised(left == 0 || answer.parameters.increment != 0, "a sequence that stands still has nothing left");
    for (const Increment mode : {Increment::step, Increment::block}) {
        if (!refusal_of(answer.parameters, mode).empty()) continue;
        const auto ranges = owned_ranges(answer, mode);
        if (!ranges) {
            promised(!ranges.error().empty(), "a refusal says why");
            continue;
        }
        check_ranges(answer, *ranges, mode);
        const bool ascending = answer.parameters.increment > 0;
        for (const Mark& mark : {Mark{}, ascending ? Mark{1, 1, 40, 40} : Mark{-1, -40, -1, -40}})
            check_guarded(mark, answer, *ranges);
    }
}

void check_inspected(const InspectAnswer& answer) {
    const auto past = resume_past(answer.comment);
    if (!past) return;
    promised(answer.comment == "next-id: resume past " + std::to_string(*past) ||
                 answer.comment.find(" past -0") != answer.comment.npos ||
                 answer.comment.find(" past 0") != answer.comment.npos,
             "a comment is believed only when it is ours");
    const Mark mark{answer.parameters.increment > 0 ? 1 : -1, -50, 50, 0};
    if (answer.parameters.increment == 0 || !clears_mark(mark, *past, answer)) return;
    const bool ascending = answer.parameters.increment > 0;
    promised(ascending ? *past >= mark.highest : *past <= mark.lowest, "what clears a mark lies beyond it");
}

}  // namespace

void fuzz_pg_answer(std::string_view bytes) {
    const PgAnswer answer = answer_of(bytes);
    const auto reserved = read_reserve_answer(answer);
    const auto inspected = read_inspect_answer(answer);
    promised(!reserved || !inspected, "an answer is of one shape");
    if (reserved) check_reserved(*reserved);
    if (inspected) check_inspected(*inspected);
}

}  // namespace next_id::test
