#include "sidecar/serve/http_session.h"

#include "protocol/answers.h"
#include "protocol/http_response.h"
#include "sidecar/serve/connection.h"

namespace next_id {

namespace {

constexpr std::uint32_t refused_retry_after_s = 1;

}  // namespace

HttpSession::HttpSession(HttpHandler& handler, Connection& connection)
    : handler_{handler}, connection_{connection}, parser_{connection.entrance().head_bytes_max} {}

Session::Outcome HttpSession::answer_one(std::string_view& bytes, bool& last, std::string& out) {
    std::size_t consumed = 0;
    const HttpParser::Result result = parser_.parse(bytes, consumed);
    bytes.remove_prefix(consumed);
    if (result == HttpParser::Result::need_more) return Outcome::need_more;
    if (result == HttpParser::Result::error) {
        connection_.count(parser_.error().status);
        refuse(parser_.error(), out);
        return Outcome::refused;
    }
    last |= !parser_.request().keep_alive;
    return handler_.handle(parser_.request(), last, connection_, out) ? Outcome::answered : Outcome::parked;
}

void HttpSession::refuse(const HttpError& error, std::string& out) {
    std::string body;
    append_error(body, error.status, msg_of(error.status), error.sentence);
    append_response(out,
                    {.status = error.status,
                     .close = true,
                     .allow = error.status == 405 ? "GET, HEAD, POST" : "",
                     .retry_after_seconds = error.status == 503 ? refused_retry_after_s : 0},
                    body);
}

}  // namespace next_id
