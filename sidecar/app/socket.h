// A connected, nonblocking socket of the blocking HTTP client: every call waits up to a deadline and survives signals.
// Errors are errno values, 0 is success; a deadline that passes is ETIMEDOUT.
#pragma once

#include <string_view>

#include "sidecar/app/http_client.h"

namespace next_id {

class Socket {
 public:
    Socket() = default;
    ~Socket();
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int connect(const UnixPath& unix_path, Instant deadline);
    int connect(const HostPort& address, Instant deadline);
    int send(std::string_view bytes, Instant deadline);
    int receive(std::string& bytes, bool& ended, Instant deadline);  // appends what is there

 private:
    int wait_for(short events, Instant deadline) const;

    int fd_ = -1;
};

}  // namespace next_id
