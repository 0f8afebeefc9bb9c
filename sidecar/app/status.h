// next-id status: what the sidecar is doing, for people; once, or again and again.
#pragma once

#include <cstdio>

#include "sidecar/config/command_line.h"
#include "sidecar/config/config.h"

namespace next_id {

// Writes the report to `out`, or why there is none to `err`; returns the exit code. With --watch it goes on until
// SIGINT or SIGTERM, in place on a terminal and else one report after the other, and tells of a sidecar that is away.
int status(const Config& config, const CommandLine& line, std::FILE* out, std::FILE* err);

}  // namespace next_id
