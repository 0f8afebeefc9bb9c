// A small HTTP client for the commands that ask a running sidecar: one request a connection, HTTP/1.0, blocking up to a
// deadline. It follows no redirects and knows no TLS. Any thread; ends with the call.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sidecar/base/clock.h"
#include "sidecar/base/expected.h"
#include "sidecar/config/config.h"

namespace next_id {

struct UnixPath {
    std::string path;
};
using HttpServer = std::variant<UnixPath, HostPort>;

struct HttpAnswer {
    int status = 0;
    std::string body;
};

inline constexpr std::size_t answer_bytes_max = std::size_t{1}
                                                << 20;  // head and body; 10000 IDs as text are 210 KB at most

// The whole answer, or a sentence that says what failed and what to do. `target` goes into the request as it is.
// `token`, if not empty, is shown.
Expected<HttpAnswer> http_get(const HttpServer& server, std::string_view target, Instant deadline,
                              std::string_view token = {});

// Every byte but letters, digits and -._~ as %XX: fit for one segment of a path.
std::string percent_encode(std::string_view bytes);

// Where to ask a listener: one that is bound to all addresses (0.0.0.0, ::) answers on the loopback too.
HostPort reachable(HostPort listener);

}  // namespace next_id
