// next-id get: IDs on standard output, one a line, taken from a running sidecar in batches.
#pragma once

#include <cstdio>

#include "sidecar/config/command_line.h"

namespace next_id {

inline constexpr std::int64_t get_batch_ids_max = 10'000;  // as many as one request may ask for

// Writes the IDs to `out` and sentences about failures to `err`; returns the exit code. IDs that were written stay
// written when a later batch fails: they are taken, and nobody else will get them.
int get(const Config& config, const CommandLine& line, std::FILE* out, std::FILE* err);

// "msg: error" of an error's JSON body; what the body says, shortened, when it is no such thing.
std::string error_sentence(int status, std::string_view body);

}  // namespace next_id
