// The program: a command line in, an exit code out (base/exit_code.h), one sentence on stderr for whatever goes wrong.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "sidecar/app/check.h"
#include "sidecar/app/get.h"
#include "sidecar/app/serve.h"
#include "sidecar/app/status.h"
#include "sidecar/config/command_line.h"

namespace {

using namespace next_id;

int failed(const ConfigError& error) {
    std::fprintf(stderr, "next-id: %s\n", error.sentence.c_str());
    return int(error.exit_code);
}

int run(const std::vector<std::string>& arguments) {
    const auto line = parse_command_line(arguments);
    if (!line) return failed(line.error());
    if (!line->print.empty())
        return std::fputs(line->print.c_str(), stdout) < 0 ? int(ExitCode::failed) : int(ExitCode::ok);
    const auto config = load_config(line->command, line->flags, process_environment());
    if (!config) return failed(config.error());
    switch (line->command) {
        case Command::get:
            return get(*config, *line, stdout, stderr);
        case Command::check:
            return check(*config, *line, stdout, stderr);
        case Command::status:
            return status(*config, *line, stdout, stderr);
        case Command::serve:
            break;
    }
    const char* const pod = std::getenv("POD_NAME");
    log::set_up(config->log_level, config->log_format, pod != nullptr ? pod : "");
    return serve(*config);
}

// Else what is opened first would be taken for one of them.
void hold_standard_descriptors() {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
        if (fcntl(descriptor, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDWR));
}

}  // namespace

int main(int argc, char** argv) {
    hold_standard_descriptors();
    try {
        return run({argv + (argc > 0 ? 1 : 0), argv + argc});
    } catch (const std::exception& problem) {  // no memory, no threads: what the system refused while starting
        std::fprintf(stderr, "next-id: %s\n", problem.what());
        return int(ExitCode::system_refused);
    }
}
