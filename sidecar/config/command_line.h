// The command line: which command, with which flags. Knows CLI11, and nobody else does. Values of settings stay text
// here; load.h gives them their meaning, together with the environment and the file. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "sidecar/base/expected.h"
#include "sidecar/config/load.h"

namespace next_id {

struct CommandLine {
    Command command = Command::serve;
    std::string print;  // when not empty: help or version, to be printed instead of doing anything
    Flags flags;

    std::int64_t ids = 1;                  // get
    std::string sequence;                  // get: empty is the first one configured
    std::chrono::milliseconds wait_max{};  // check
    bool watch = false;                    // status
};

inline constexpr std::int64_t get_ids_max = 1'000'000'000'000;
inline constexpr std::chrono::hours check_wait_max{24};

// `arguments` without the program's name. Every error is wrong usage (64), and repeats no more of a flag than its name.
Expected<CommandLine, ConfigError> parse_command_line(std::span<const std::string> arguments);

}  // namespace next_id
