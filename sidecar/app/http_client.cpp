#include "sidecar/app/http_client.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>

#include "protocol/ascii.h"
#include "sidecar/app/socket.h"
#include "sidecar/base/escape.h"

namespace next_id {
namespace {

std::string name_of(const HttpServer& server) {
    if (const auto* unix_path = std::get_if<UnixPath>(&server)) return escape_text(unix_path->path);
    const auto& [host, port] = std::get<HostPort>(server);
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

std::string connect_failed(const HttpServer& server, int problem) {
    const std::string name = name_of(server);
    const std::string why = problem == ETIMEDOUT ? "no answer in time" : std::strerror(problem);
    const bool is_unix = std::holds_alternative<UnixPath>(server);
    if (is_unix && problem == ENOENT)
        return "there is no socket " + name + ": next-id serve must be running, with the same --socket";
    if (is_unix && problem == EACCES)
        return "no rights to connect to " + name +
               ": it takes write permission on the socket (--socket-mode of next-id serve), and "
               "search permission on its directories";
    if (problem == ECONNREFUSED)
        return "nobody listens on " + name + ": next-id serve must be running, with the same address";
    return "connecting to " + name + " failed: " + why;
}

template <class T>
std::optional<T> to_number(std::string_view text) {
    T number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// What has come so far, once its head is complete.
struct Head {
    int status = 0;
    std::size_t body_at = 0;
    std::optional<std::size_t> body_bytes;  // as announced; else the end of the connection is the end of the body
};

std::optional<Head> parse_head(std::string_view answer) {
    const std::size_t end = answer.find("\r\n\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    Head head;
    head.body_at = end + 4;
    std::string_view lines = answer.substr(0, end + 2);
    if (lines.starts_with("HTTP/1.") && lines.size() > 12) head.status = to_number<int>(lines.substr(9, 3)).value_or(0);
    for (std::size_t break_at; (break_at = lines.find("\r\n")) != std::string_view::npos;
         lines.remove_prefix(break_at + 2)) {
        const std::string_view line = lines.substr(0, break_at);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || !equals_ignoring_case(line.substr(0, colon), "content-length")) continue;
        std::string_view value = line.substr(colon + 1);
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        head.body_bytes = to_number<std::size_t>(value);
    }
    return head;
}

}  // namespace

Expected<HttpAnswer> http_get(const HttpServer& server, std::string_view target, Instant deadline,
                              std::string_view token) {
    Socket socket;
    if (const int problem = std::visit([&](const auto& where) { return socket.connect(where, deadline); }, server))
        return Unexpected{connect_failed(server, problem)};
    const std::string host = std::holds_alternative<UnixPath>(server) ? "localhost" : name_of(server);
    std::string request = "GET " + std::string{target} + " HTTP/1.0\r\nHost: " + host + "\r\n";
    if (!token.empty()) request.append("Authorization: Bearer ").append(token).append("\r\n");
    request += "\r\n";
    const auto broken = [&](const std::string& why) {
        return Unexpected{"asking " + name_of(server) + " failed: " + why};
    };
    const auto why = [](int problem) { return problem == ETIMEDOUT ? "no answer in time" : std::strerror(problem); };
    if (const int problem = socket.send(request, deadline)) return broken(why(problem));

    std::string answer;
    std::optional<Head> head;
    for (bool ended = false; !ended;) {
        if (const int problem = socket.receive(answer, ended, deadline)) return broken(why(problem));
        if (answer.size() > answer_bytes_max)
            return broken("the answer is longer than " + std::to_string(answer_bytes_max) + " bytes");
        if (!head) head = parse_head(answer);
        if (head && head->body_bytes && answer.size() - head->body_at >= *head->body_bytes) break;
    }
    if (!head || head->status == 0) return broken("the answer is not HTTP, or ended early");
    HttpAnswer result{head->status, answer.substr(head->body_at)};
    if (head->body_bytes && result.body.size() < *head->body_bytes) return broken("the answer ended early");
    if (head->body_bytes) result.body.resize(*head->body_bytes);
    return result;
}

std::string percent_encode(std::string_view bytes) {
    std::string out;
    for (const char byte : bytes) {
        const auto code = static_cast<unsigned char>(byte);
        if ((code < 0x80 && std::isalnum(code)) || (byte != '\0' && std::strchr("-._~", byte))) {
            out += byte;
        } else {
            char hex[4];
            std::snprintf(hex, sizeof hex, "%%%02X", unsigned{code});
            out += hex;
        }
    }
    return out;
}

HostPort reachable(HostPort listener) {
    if (listener.host == "0.0.0.0") listener.host = "127.0.0.1";
    if (listener.host == "::") listener.host = "::1";
    return listener;
}

}  // namespace next_id
