// next-id check: whether the sidecar can give out an ID now, for exec probes and for scripts that wait for it.
#pragma once

#include <cstdio>

#include "sidecar/base/exit_code.h"
#include "sidecar/config/command_line.h"

namespace next_id {

// Writes `ready` to `out`, or why not to `err`; returns the exit code. Waits up to line.wait_max, also while nobody
// listens yet.
int check(const Config& config, const CommandLine& line, std::FILE* out, std::FILE* err);

// Says so when there is no admin address to ask. For the commands that ask it.
ExitCode no_admin(std::FILE* err);

}  // namespace next_id
