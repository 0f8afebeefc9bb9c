#include "sidecar/app/serve.h"

#include <sys/resource.h>

#include <csignal>
#include <cstdio>

#include "sidecar/app/pg_source.h"
#include "sidecar/app/sidecar.h"
#include "sidecar/base/exit_code.h"

namespace next_id {

namespace {

int fail(ExitCode code, const std::string& sentence) {
    std::fprintf(stderr, "next-id: %s\n", sentence.c_str());
    return static_cast<int>(code);
}

// Connections are descriptors, and the usual soft limit of 1024 is for programs that use select().
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int serve(const Config& config) {
    std::signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    const auto target = pg_target_of(config);
    if (!target) return fail(ExitCode::cannot_work, target.error());
    Sidecar sidecar{config, *target};
    if (const auto opened = sidecar.open(); !opened) return fail(ExitCode::system_refused, opened.error());
    sidecar.run();
    return static_cast<int>(ExitCode::ok);
}

}  // namespace next_id
