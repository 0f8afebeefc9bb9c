#include "sidecar/app/serve.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "sidecar/app/confinement.h"
#include "sidecar/app/pg_source.h"
#include "sidecar/app/sidecar.h"
#include "sidecar/base/exit_code.h"
#include "sidecar/base/log.h"
#include "sidecar/config/load.h"

namespace next_id {

namespace {

int fail(ExitCode code, const std::string& sentence) {
    std::fprintf(stderr, "next-id: %s\n", sentence.c_str());
    return static_cast<int>(code);
}

// Windows, listeners, loops and logs, PostgreSQL, operators, and those that are being told that there is no room.
constexpr rlim_t descriptors_kept = 256;

// What it cannot start without, rounded up: loops with their bells, windows with their locks.
constexpr rlim_t descriptors_of_process = 32, descriptors_of_thread = 8, descriptors_of_sequence = 2;

// Connections are descriptors, and the usual soft limit of 1024 is for programs that use select(). Returns how many
// there may be.
rlim_t raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return RLIM_INFINITY;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

// Whoever comes when there is no descriptor left could not even be told so.
void fit_into(rlim_t descriptors, Config& config) {
    const rlim_t room = descriptors > 2 * descriptors_kept ? descriptors - descriptors_kept : descriptors / 2;
    if (config.connections_max <= room) return;
    log::info("the system's limit of open files (ulimit -n) leaves room for fewer connections than --connections-max",
              {{"connections", room}, {"open_files", descriptors}});
    config.connections_max = room;
}

// Null when no file is set.
Expected<std::unique_ptr<TokenFile>> tokens_of(const char* flag, const std::string& path) {
    if (path.empty()) return std::unique_ptr<TokenFile>{};
    return TokenFile::open(flag, path);
}

// After the directories have been made, and before there are other threads.
void confine(const Config& config) {
    std::vector<std::filesystem::path> writable{config.state_dir};
    if (!config.window_share.empty()) writable.emplace_back(config.window_share);
    if (config.socket_path) writable.push_back(std::filesystem::absolute(*config.socket_path).parent_path());
    const std::string unconfined = confine_writes(writable);
    if (unconfined.empty())
        log::info("confined: nothing outside the directories of its windows and its socket can be written");
    else
        log::info("not confined, so files are as safe as the user's rights make them: " + unconfined);
}

}  // namespace

int serve(Config config) {
    std::signal(SIGPIPE, SIG_IGN);
    for (const std::string& name : unknown_variables(environ))
        log::warn("no setting has this name, so the variable counts for nothing: next-id serve --help lists them",
                  {{"variable", name}});
    const rlim_t descriptors = raise_descriptor_limit();
    const rlim_t least = descriptors_of_process + descriptors_of_thread * config.threads +
                         descriptors_of_sequence * config.pg_sequences.size();
    if (descriptors < least)
        return fail(ExitCode::system_refused, "the system's limit of open files (ulimit -n) is " +
                                                  std::to_string(descriptors) +
                                                  ", and for so many threads and sequences " + std::to_string(least) +
                                                  " are needed: raise it, or have fewer");
    fit_into(descriptors, config);
    if (holds_secrets(config)) {
        hide_memory();
        log::info("core dumps are off, since a password, a token or a private key may be in memory");
    }
    const auto target = pg_target_of(config);
    if (!target) return fail(ExitCode::cannot_work, target.error());
    auto tokens = tokens_of("--token-file", config.token_file);
    if (!tokens) return fail(ExitCode::cannot_work, tokens.error());
    auto admin_tokens = tokens_of("--admin-token-file", config.admin ? config.admin_token_file : "");
    if (!admin_tokens) return fail(ExitCode::cannot_work, admin_tokens.error());
    std::unique_ptr<TlsServer> tls;
    if (!config.tls_cert.empty()) {
        auto opened = TlsServer::open({config.tls_cert, config.tls_key, config.tls_client_ca});
        if (!opened) return fail(ExitCode::cannot_work, "cannot speak TLS: " + opened.error());
        tls = std::move(*opened);
    }
    Sidecar sidecar{config, *target, std::move(tls), std::move(*tokens), std::move(*admin_tokens)};
    if (const auto opened = sidecar.open(); !opened) return fail(ExitCode::system_refused, opened.error());
    confine(config);
    sidecar.run();
    return static_cast<int>(ExitCode::ok);
}

}  // namespace next_id
