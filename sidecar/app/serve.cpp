#include "sidecar/app/serve.h"

#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "sidecar/app/confinement.h"
#include "sidecar/app/pg_source.h"
#include "sidecar/app/sidecar.h"
#include "sidecar/base/exit_code.h"
#include "sidecar/base/log.h"

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

// After the directories have been made, and before there are other threads.
void confine(const Config& config) {
    std::vector<std::filesystem::path> writable{config.state_dir};
    if (config.socket_path) writable.push_back(std::filesystem::absolute(*config.socket_path).parent_path());
    const std::string unconfined = confine_writes(writable);
    if (unconfined.empty())
        log::info("confined: nothing outside the state directory and the socket's can be written");
    else
        log::info("not confined, so files are as safe as the user's rights make them: " + unconfined);
}

}  // namespace

int serve(const Config& config) {
    std::signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    if (holds_secrets(config)) {
        hide_memory();
        log::info("core dumps are off, since a password or a private key may be in memory");
    }
    const auto target = pg_target_of(config);
    if (!target) return fail(ExitCode::cannot_work, target.error());
    std::unique_ptr<TlsServer> tls;
    if (!config.tls_cert.empty()) {
        auto opened = TlsServer::open({config.tls_cert, config.tls_key, config.tls_client_ca});
        if (!opened) return fail(ExitCode::cannot_work, "cannot speak TLS: " + opened.error());
        tls = std::move(*opened);
    }
    Sidecar sidecar{config, *target, std::move(tls)};
    if (const auto opened = sidecar.open(); !opened) return fail(ExitCode::system_refused, opened.error());
    confine(config);
    sidecar.run();
    return static_cast<int>(ExitCode::ok);
}

}  // namespace next_id
