// next-id status: what the sidecar is doing, for people.
#pragma once

#include <cstdio>

#include "sidecar/config/config.h"

namespace next_id {

// Writes the report to `out`, or why there is none to `err`; returns the exit code.
int status(const Config& config, std::FILE* out, std::FILE* err);

}  // namespace next_id
