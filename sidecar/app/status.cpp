#include "sidecar/app/status.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "sidecar/app/check.h"
#include "sidecar/app/http_client.h"
#include "sidecar/app/terminal.h"
#include "sidecar/app/token_file.h"
#include "sidecar/base/exit_code.h"

namespace next_id {
namespace {

constexpr std::chrono::seconds answer_patience{2};
constexpr std::chrono::seconds watch_interval{1};

Expected<std::string> report_of(const Config& config, const std::string& token, std::chrono::seconds patience) {
    const auto answer = http_get(reachable(*config.admin), "/status?format=text", Clock::now() + patience, token);
    if (!answer) return Unexpected{"no status: " + answer.error()};
    if (answer->status == 401)
        return Unexpected{
            std::string{"no status: it wants a token; name a file with one that it takes (--admin-token-file)"}};
    if (answer->status != 200) return Unexpected{"no status: HTTP status " + std::to_string(answer->status)};
    return harmless(answer->body);
}

TerminalSize size_of(std::FILE* terminal) {
    winsize size{};
    if (ioctl(fileno(terminal), TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
    return {size.ws_row, size.ws_col};
}

bool write_out(const std::string& text, std::FILE* out) {
    return std::fputs(text.c_str(), out) >= 0 && std::fflush(out) == 0;
}

// The signals are taken here and nowhere else, so none is lost between two looks.
ExitCode watch(const Config& config, const std::string& token, std::FILE* out) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    const bool terminal = isatty(fileno(out)) == 1;
    const timespec interval{.tv_sec = watch_interval.count(), .tv_nsec = 0};
    do {
        const auto report = report_of(config, token, watch_interval);
        const std::string text = report ? *report : report.error() + "\n";
        if (!write_out(terminal ? drawn(text, size_of(out)) : text + "\n", out)) return ExitCode::failed;
    } while (sigtimedwait(&ends, nullptr, &interval) < 0);
    return ExitCode::ok;
}

}  // namespace

int status(const Config& config, const CommandLine& line, std::FILE* out, std::FILE* err) {
    if (!config.admin) return int(no_admin(err));
    const auto token = first_token("--admin-token-file", config.admin_token_file);
    if (!token) {
        std::fprintf(err, "next-id: %s\n", token.error().c_str());
        return int(ExitCode::cannot_work);
    }
    if (line.watch) return int(watch(config, *token, out));
    const auto report = report_of(config, *token, answer_patience);
    if (!report) {
        std::fprintf(err, "next-id: %s\n", report.error().c_str());
        return int(ExitCode::failed);
    }
    return int(write_out(*report, out) ? ExitCode::ok : ExitCode::failed);
}

}  // namespace next_id
