// Who answers the requests of a connection: the service of IDs, or the operator's pages.
#pragma once

#include <string>

#include "protocol/http_request.h"
#include "sidecar/metrics/serve_counters.h"

namespace next_id {

class Connection;

class HttpHandler {
 public:
    // Appends the whole response to `out` and returns true. Or returns false: the request is parked, the connection
    // reads no further, and the handler calls its resume() later (never in this call), unless forget() came first.
    // `close`: the response has to say that the connection will be closed.
    virtual bool handle(const HttpRequest& request, bool close, Connection& connection, std::string& out) = 0;

    // The connection, which had a request parked, is gone.
    virtual void forget(Connection& connection) = 0;

    // Where what comes in by the listener is counted. Null: nowhere.
    virtual RequestCounters* counters_of(ListenerName) { return nullptr; }

 protected:
    ~HttpHandler() = default;
};

}  // namespace next_id
