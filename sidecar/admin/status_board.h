// What /status tells: gathered from the refill when somebody asks, and once a second for the history. Owned by app, on
// the refill thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/status_report.h"
#include "sidecar/admin/history.h"
#include "sidecar/base/uv_handle.h"
#include "sidecar/refill/refiller.h"

namespace next_id {

class StatusBoard {
 public:
    struct Process {
        std::string version;
        std::string host;  // the machine's or the pod's name
        bool strict_order = false;
        std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
    };

    // The refiller must outlive it.
    StatusBoard(uv_loop_t* loop, Process process, const Refiller& refiller);

    // With the points of the history from number `history_from` on, if that is given.
    StatusReport report(Instant now, std::optional<std::uint64_t> history_from) const;

 private:
    std::vector<History::Totals> totals() const;

    const Process process_;
    const Refiller& refiller_;
    const Instant began_;
    History history_;
    Handle<uv_timer_t> timer_;
};

}  // namespace next_id
