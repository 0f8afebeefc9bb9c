// Runs a program and waits for it: for tests that need what a user would call (psql, initdb). Throws when it cannot be
// run.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace next_id::test {

struct ProgramUser {
    uid_t uid;
    gid_t gid;
};

struct ProgramResult {
    int exit_code;       // 128 + the signal, when one ended it
    std::string output;  // stdout and stderr, as they came
};

// Starts a child that dies with this process. `output` becomes its stdout and stderr.
pid_t start_program(const std::vector<std::string>& command, int output, std::optional<ProgramUser> user = {},
                    int death_signal = 9);

ProgramResult run_program(const std::vector<std::string>& command, std::optional<ProgramUser> user = {});

}  // namespace next_id::test
