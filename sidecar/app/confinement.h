// What the process gives up for good, so that a fault in it can do less harm. The calling thread, and the threads it
// starts later.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sidecar/config/config.h"

namespace next_id {

// A password, or the way to one, or a private key may come into the process's memory.
bool holds_secrets(const Config& config);

// No core file is written, and no other process of the same user may look into the memory or the environment.
void hide_memory();

// No program that is executed gets more rights. And by Landlock, where the kernel has it (since 5.13, and if it is not
// turned off): nothing is created, written or removed but in these directories, which must exist. Reading stays free.
// Returns why writing could not be confined; empty if it is.
std::string confine_writes(const std::vector<std::filesystem::path>& directories);

}  // namespace next_id
