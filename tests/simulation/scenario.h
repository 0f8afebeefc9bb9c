// One simulated run: sidecars, clients, other programs and a server, and everything that may befall them, drawn from a
// seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/simulation/server.h"

namespace next_id::simulation {

struct Outcome {
    std::string fault;  // the first promise that was broken; empty if none was
    std::uint64_t ids = 0;
    std::uint64_t reservations = 0;
};

// `dir`: an empty directory on a tmpfs, for the windows. `trace`: what happens is told on stdout.
Outcome run_scenario(std::uint64_t seed, const std::filesystem::path& dir, Planted planted, bool trace);

}  // namespace next_id::simulation
