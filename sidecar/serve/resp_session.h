// RESP on a connection: commands, answered by a handler in their order.
#pragma once

#include "sidecar/serve/resp_handler.h"
#include "sidecar/serve/session.h"

namespace next_id {

class RespSession final : public Session {
 public:
    // Both outlive it.
    RespSession(RespHandler& handler, Connection& connection);

    Outcome answer_one(std::string_view& bytes, bool& last, std::string& out) override;
    void refuse(const HttpError& error, std::string& out) override;
    bool mid_request() const override { return parser_.mid_command(); }
    void forget() override { handler_.forget(connection_); }

 private:
    RespHandler& handler_;
    Connection& connection_;
    RespClient client_;
    RespParser parser_;
};

}  // namespace next_id
