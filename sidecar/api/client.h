// Who is at the other end of a connection, as far as the system vouches for it. Pure, a value.
#pragma once

#include <array>
#include <cstdint>

namespace next_id {

struct Client {
    enum class Transport : std::uint8_t { unix_socket, ipv4, ipv6 };

    Transport transport = Transport::unix_socket;
    std::uint32_t uid = 0;                   // on the Unix socket: whose process connected
    std::array<std::uint8_t, 16> address{};  // on TCP, in network order; an IPv4 address has the first four bytes

    bool operator==(const Client&) const = default;
};

}  // namespace next_id
