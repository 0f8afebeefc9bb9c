// HTTP/1.1 on a connection: requests with keep-alive, answered by a handler.
#pragma once

#include "sidecar/serve/http_handler.h"
#include "sidecar/serve/session.h"

namespace next_id {

class HttpSession final : public Session {
 public:
    // Both outlive it.
    HttpSession(HttpHandler& handler, Connection& connection);

    Outcome answer_one(std::string_view& bytes, bool& last, std::string& out) override;
    void refuse(const HttpError& error, std::string& out) override;
    bool mid_request() const override { return parser_.mid_request(); }
    void forget() override { handler_.forget(connection_); }

 private:
    HttpHandler& handler_;
    Connection& connection_;
    HttpParser parser_;
};

}  // namespace next_id
