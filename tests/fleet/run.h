// A fleet over some time: what it costs its PostgreSQL in steady operation, and what happens around an outage.
#pragma once

#include "tests/fleet/pod.h"

namespace next_id::fleet {

struct Fleet {
    std::size_t pods = 1;
    Pod::Settings pod;
    Capacity capacity;
    std::uint64_t seed = 1;
    Duration start_over = std::chrono::seconds{120};  // the pods start spread over so long
    Duration warm_up = std::chrono::seconds{600};
};

struct Steady {
    double statements_s = 0, statements_peak_s = 0;  // a second's mean and greatest
    double connections_s = 0, refused_s = 0;
    std::uint32_t open_peak = 0;
    double open_mean = 0;
    double cpu_share = 0;
    double window_mean = 0;    // IDs left in a pod's window: what its restart without adoption loses
    double refused_share = 0;  // of the IDs that were asked for
    std::uint32_t start_statements_peak_s = 0, start_attempts_peak_s = 0;
};
Steady run_steady(const Fleet& fleet, Duration measured);

struct Second {
    int at = 0;  // seconds after the server stopped
    std::uint32_t attempts = 0, attempts_tenth = 0, refused = 0, connected = 0, statements = 0, open = 0;
    double cpu_share = 0;
    std::size_t low = 0;  // windows below the reserve at its end
    double refused_ids = 0;
};
struct Outage {
    std::vector<Second> seconds;
    int full_after = -1;  // seconds after the server's return until no window is below the reserve; -1: never
    std::uint32_t attempts_peak_down = 0, attempts_peak_after = 0, attempts_peak_tenth = 0, statements_peak = 0,
                  open_peak = 0;
    double refused_ids_share = 0;  // of what was asked for in the whole time
};
Outage run_outage(const Fleet& fleet, std::chrono::seconds down, std::chrono::seconds after);

int run_checks();

}  // namespace next_id::fleet
