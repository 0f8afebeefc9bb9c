#include "sidecar/app/check.h"

#include <algorithm>
#include <thread>

#include "sidecar/app/http_client.h"
#include "sidecar/base/escape.h"
#include "sidecar/base/exit_code.h"

namespace next_id {
namespace {

constexpr std::chrono::seconds answer_patience{2};
constexpr std::chrono::milliseconds ask_again_after{100};
constexpr std::size_t quoted_body_bytes_max = 500;

// Empty when it is ready, else why not.
std::string why_not_ready(const HostPort& admin, Instant deadline) {
    const auto answer = http_get(admin, "/readyz", deadline);
    if (!answer) return answer.error();
    if (answer->status == 200) return {};
    std::string_view body = answer->body;
    while (body.ends_with('\n') || body.ends_with('\r')) body.remove_suffix(1);
    return "not ready: " + (body.empty() ? "HTTP status " + std::to_string(answer->status)
                                         : escape_text(body.substr(0, quoted_body_bytes_max)));
}

}  // namespace

ExitCode no_admin(std::FILE* err) {
    std::fputs("next-id: admin is none, so there is nobody to ask; set --admin or NEXT_ID_ADMIN as for next-id serve\n",
               err);
    return ExitCode::cannot_work;
}

int check(const Config& config, const CommandLine& line, std::FILE* out, std::FILE* err) {
    if (!config.admin) return int(no_admin(err));
    const Instant until = Clock::now() + line.wait_max;
    for (;;) {
        const std::string why_not = why_not_ready(reachable(*config.admin), Clock::now() + answer_patience);
        if (why_not.empty()) {
            std::fputs("ready\n", out);
            return int(ExitCode::ok);
        }
        const Instant now = Clock::now();
        if (now >= until) {
            std::fprintf(err, "next-id: %s\n", why_not.c_str());
            return int(ExitCode::failed);
        }
        std::this_thread::sleep_for(std::min<Duration>(ask_again_after, until - now));
    }
}

}  // namespace next_id
