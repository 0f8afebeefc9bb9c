// Who answers the commands of a connection that speaks RESP.
#pragma once

#include <string>

#include "protocol/resp_request.h"
#include "sidecar/api/resp_service.h"

namespace next_id {

class Connection;

class RespHandler {
 public:
    // Appends the whole reply to `out` and returns true. Or returns false: the command is parked, the connection reads
    // no further, and the handler calls its resume() later (never in this call), unless forget() came first. Sets
    // `last` when the client wants the connection closed behind the reply.
    virtual bool handle(RespCommand command, RespClient& client, bool& last, Connection& connection,
                        std::string& out) = 0;

    // The connection, which had a command parked, is gone.
    virtual void forget(Connection& connection) = 0;

 protected:
    ~RespHandler() = default;
};

}  // namespace next_id
