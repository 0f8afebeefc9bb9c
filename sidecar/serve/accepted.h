// A connection that a listener has accepted, on its way to the loop that will serve it.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <optional>

#include "protocol/http_request.h"
#include "sidecar/api/client.h"
#include "sidecar/base/file_descriptor.h"
#include "sidecar/metrics/serve_counters.h"
#include "sidecar/serve/admission.h"

namespace next_id {

class TlsServer;

// What a listener demands of those who come in by it.
struct Entrance {
    ListenerName listener = ListenerName::http;
    bool token_needed = false;
    const TlsServer* tls = nullptr;   // TLS is spoken, as this has it; it outlives the connections
    Admission* admission = nullptr;   // outlives the connections; null: everyone may come in
    unsigned request_timeout_s = 30;  // how long a client may take to send a request, and to read its answers
    unsigned idle_timeout_s = 600;    // between two requests
    std::size_t head_bytes_max = head_bytes_max_default;
    std::size_t answers_bytes_max = 256 * 1024;  // made before the client has read the first of them
};

struct Accepted {
    FileDescriptor descriptor;
    Client client = {};
    Entrance entrance = {};
    Admission::Seat seat = {};
    std::optional<HttpError> refusal = {};  // all that it will be told
};

// `peer` is what accept() said. An IPv4 address in the form of an IPv6 one is IPv4.
Client client_of(const FileDescriptor& descriptor, const sockaddr_storage& peer);

}  // namespace next_id
