// What happened to each sequence in the last minutes: one point a second, so many and no more. Pure: the time comes in.
// Owned by the status board, on the refill thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/status_report.h"
#include "sidecar/base/clock.h"

namespace next_id {

class History {
 public:
    static constexpr Duration period = std::chrono::seconds{1};
    static constexpr std::size_t points_max = 300;

    struct Totals {
        std::uint64_t ids_left = 0;
        std::uint64_t ids_issued = 0, ids_received = 0;  // since the process began
    };

    // `totals`: of each sequence, now.
    History(Instant now, std::vector<Totals> totals);

    // Call it once a period. Periods in which nobody called (a process that was stopped) have no point. REQUIRES: as
    // many sequences as at first.
    void record(Instant now, const std::vector<Totals>& totals);

    // Points are numbered from 0: this is the number of the next one.
    std::uint64_t next() const { return next_; }

    // The number of the first point that points_of() gives to who has all before `from`. One that was never given out
    // is another process's, so all are new.
    std::uint64_t first(std::uint64_t from) const;
    HistoryPoints points_of(std::size_t sequence, std::uint64_t from) const;

 private:
    void append(const HistoryPoints& points);

    Instant recorded_at_;
    std::vector<Totals> totals_;
    std::uint64_t next_ = 0;
    std::vector<HistoryPoints> rings_;  // of each sequence; point n is at n % points_max
};

}  // namespace next_id
