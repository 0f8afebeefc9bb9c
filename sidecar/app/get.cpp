#include "sidecar/app/get.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "sidecar/app/http_client.h"
#include "sidecar/app/token_file.h"
#include "sidecar/base/escape.h"
#include "sidecar/base/exit_code.h"

namespace next_id {
namespace {

// Longer than a request may wait for a dry window (--wait-max is at most a minute), which the sidecar decides and not
// we.
constexpr std::chrono::seconds batch_patience{70};
constexpr std::size_t quoted_body_bytes_max = 200;

// The string at "key" in a flat JSON object, empty when there is none. Enough for our own errors, whose form the
// protocol fixes.
std::string json_string(std::string_view body, const std::string& key) {
    const std::string opening = "\"" + key + "\":\"";
    const std::size_t at = body.find(opening);
    if (at == std::string_view::npos) return {};
    std::string text;
    for (std::size_t i = at + opening.size(); i < body.size() && body[i] != '"'; ++i) {
        if (body[i] == '\\' && i + 1 < body.size() && std::strchr("\"\\/", body[i + 1])) ++i;
        text += body[i];
    }
    return text;
}

// Whether `body` is `count` lines with a 64-bit integer in each: whatever else may listen there, only IDs are printed.
bool are_ids(std::string_view body, std::int64_t count) {
    for (; !body.empty(); --count) {
        std::int64_t id = 0;
        const auto [end, problem] = std::from_chars(body.data(), body.data() + body.size(), id);
        if (problem != std::errc{} || end == body.data() + body.size() || *end != '\n') return false;
        body.remove_prefix(std::size_t(end - body.data()) + 1);
    }
    return count == 0;
}

struct BatchError {
    int status;  // 0: none came
    std::string why;
};

Expected<std::string, BatchError> take_batch(const HttpServer& server, const std::string& path, std::int64_t count,
                                             const std::string& token) {
    const std::string target = path + "?count=" + std::to_string(count) + "&format=text";
    auto answer = http_get(server, target, Clock::now() + batch_patience, token);
    if (!answer) return Unexpected{BatchError{0, answer.error()}};
    const auto failed = [&](const std::string& why) { return Unexpected{BatchError{answer->status, why}}; };
    if (answer->status == 401)
        return failed("the sidecar wants a token; name a file with one that it takes (--token-file)");
    if (answer->status != 200) return failed(error_sentence(answer->status, answer->body));
    if (!are_ids(answer->body, count))
        return failed("the answer is not the IDs that were asked for; is it next-id that listens there?");
    return std::move(answer->body);
}

}  // namespace

std::string error_sentence(int status, std::string_view body) {
    const std::string message = json_string(body, "msg");
    const std::string error = json_string(body, "error");
    if (message.empty() && error.empty())
        return "HTTP status " + std::to_string(status) + ": " + escape_text(body.substr(0, quoted_body_bytes_max));
    return escape_text(message + (message.empty() || error.empty() ? "" : ": ") + error);
}

int get(const Config& config, const CommandLine& line, std::FILE* out, std::FILE* err) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away (get | head) shall be told by the write
    const HttpServer server =
        config.socket_path ? HttpServer{UnixPath{*config.socket_path}} : HttpServer{reachable(*config.http)};
    const auto token = first_token("--token-file", config.token_file);
    if (!token) {
        std::fprintf(err, "next-id: %s\n", token.error().c_str());
        return int(ExitCode::cannot_work);
    }
    std::string path = "/next-id";
    if (!line.sequence.empty()) path.append("/").append(percent_encode(line.sequence));
    const auto failed = [&](const std::string& why, std::int64_t printed, const char* what) {
        std::fprintf(err, "next-id: %s", why.c_str());
        if (line.ids > 1)
            std::fprintf(err, " (%lld of %lld IDs %s)", static_cast<long long>(line.ids - printed),
                         static_cast<long long>(line.ids), what);
        std::fputc('\n', err);
        return int(ExitCode::failed);
    };
    std::int64_t batch_max = get_batch_ids_max;
    for (std::int64_t printed = 0; printed < line.ids;) {
        const std::int64_t count = std::min(line.ids - printed, batch_max);
        const auto ids = take_batch(server, path, count, *token);
        if (!ids && ids.error().status == 400 && count > 1) {  // settings may allow it fewer at once
            batch_max = count / 2;
            continue;
        }
        if (!ids) return failed(ids.error().why, printed, "are missing");
        if (std::fwrite(ids->data(), 1, ids->size(), out) != ids->size() || std::fflush(out) != 0)
            return failed(std::string{"writing to standard output failed: "} + std::strerror(errno), printed,
                          "may not have been printed");
        printed += count;
    }
    return int(ExitCode::ok);
}

}  // namespace next_id
