#include "sidecar/serve/resp_session.h"

#include <atomic>

#include "sidecar/serve/connection.h"

namespace next_id {

namespace {

// Of all threads, so that no two connections are told the same number.
std::atomic<std::uint64_t> clients = 0;

}  // namespace

RespSession::RespSession(RespHandler& handler, Connection& connection)
    : handler_{handler},
      connection_{connection},
      client_{.id = clients.fetch_add(1, std::memory_order_relaxed) + 1},
      parser_{connection.entrance().head_bytes_max} {}

Session::Outcome RespSession::answer_one(std::string_view& bytes, bool& last, std::string& out) {
    std::size_t consumed = 0;
    const RespParser::Result result = parser_.parse(bytes, consumed);
    bytes.remove_prefix(consumed);
    if (result == RespParser::Result::need_more) return Outcome::need_more;
    if (result == RespParser::Result::error) {
        connection_.count(400);
        RespReply{client_.version, out}.error("ERR", parser_.error());
        return Outcome::refused;
    }
    return handler_.handle(parser_.command(), client_, last, connection_, out) ? Outcome::answered : Outcome::parked;
}

void RespSession::refuse(const HttpError& error, std::string& out) {
    RespReply{client_.version, out}.error(error.status == 403 ? "NOPERM" : "ERR", error.sentence);
}

}  // namespace next_id
