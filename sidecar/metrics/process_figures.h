// What the system knows about this process, under the names that Prometheus' client libraries have for it.
#pragma once

#include <chrono>

#include "sidecar/metrics/exposition.h"

namespace next_id {

// Adds the process_* families; what the system does not tell is left out. Any thread.
void add_process_figures(Exposition& out, std::chrono::system_clock::time_point started);

}  // namespace next_id
