#include "sidecar/app/status.h"

#include "sidecar/app/check.h"
#include "sidecar/app/http_client.h"
#include "sidecar/app/token_file.h"
#include "sidecar/base/exit_code.h"

namespace next_id {
namespace {

constexpr std::chrono::seconds answer_patience{2};

}  // namespace

int status(const Config& config, std::FILE* out, std::FILE* err) {
    if (!config.admin) return int(no_admin(err));
    const auto token = first_token("--admin-token-file", config.admin_token_file);
    if (!token) {
        std::fprintf(err, "next-id: %s\n", token.error().c_str());
        return int(ExitCode::cannot_work);
    }
    const auto answer =
        http_get(reachable(*config.admin), "/status?format=text", Clock::now() + answer_patience, *token);
    if (!answer || answer->status != 200) {
        const std::string why = answer ? "HTTP status " + std::to_string(answer->status) : answer.error();
        std::fprintf(err, "next-id: no status: %s\n", why.c_str());
        return int(ExitCode::failed);
    }
    return std::fputs(answer->body.c_str(), out) < 0 ? int(ExitCode::failed) : int(ExitCode::ok);
}

}  // namespace next_id
