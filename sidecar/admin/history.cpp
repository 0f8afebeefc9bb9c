#include "sidecar/admin/history.h"

#include <algorithm>
#include <cmath>

#include "sidecar/base/require.h"

namespace next_id {

namespace {

std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
    return after > before ? after - before : 0;
}

HistoryPoint point_between(const History::Totals& before, const History::Totals& after, double seconds) {
    const auto issued = static_cast<double>(growth(before.ids_issued, after.ids_issued));
    return {.ids_left = after.ids_left,
            .issued_per_second = static_cast<std::uint64_t>(std::llround(issued / seconds)),
            .ids_reserved = growth(before.ids_received, after.ids_received)};
}

}  // namespace

History::History(Instant now, std::vector<Totals> totals)
    : recorded_at_{now}, totals_{std::move(totals)}, rings_(totals_.size(), HistoryPoints(points_max)) {}

void History::record(Instant now, const std::vector<Totals>& totals) {
    require(totals.size() == totals_.size());
    const double seconds = std::chrono::duration<double>(now - recorded_at_).count();
    const double periods = seconds / std::chrono::duration<double>(period).count();
    if (periods < 0.5) return;  // a timer that catches up
    const auto missed = static_cast<std::uint64_t>(std::llround(periods)) - 1;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(missed, points_max); ++i)
        append(HistoryPoints(totals.size()));
    HistoryPoints points;
    for (std::size_t i = 0; i < totals.size(); ++i) points.push_back(point_between(totals_[i], totals[i], seconds));
    append(points);
    recorded_at_ = now;
    totals_ = totals;
}

std::uint64_t History::first(std::uint64_t from) const {
    const std::uint64_t oldest = next_ > points_max ? next_ - points_max : 0;
    return from > next_ ? oldest : std::max(from, oldest);
}

HistoryPoints History::points_of(std::size_t sequence, std::uint64_t from) const {
    HistoryPoints points;
    for (std::uint64_t n = first(from); n < next_; ++n) points.push_back(rings_[sequence][n % points_max]);
    return points;
}

// `points`: one of each sequence.
void History::append(const HistoryPoints& points) {
    for (std::size_t i = 0; i < rings_.size(); ++i) rings_[i][next_ % points_max] = points[i];
    ++next_;
}

}  // namespace next_id
