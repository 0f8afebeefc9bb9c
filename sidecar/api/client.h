// Who is at the other end of a connection, as far as the system vouches for it. Pure, a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace next_id {

struct Client {
    enum class Transport : std::uint8_t { unix_socket, ipv4, ipv6 };

    Transport transport = Transport::unix_socket;
    std::uint32_t uid = 0;                   // on the Unix socket: whose process connected
    std::array<std::uint8_t, 16> address{};  // on TCP, in network order; an IPv4 address has the first four bytes

    bool operator==(const Client&) const = default;
};

// Tells apart whom limits count apart. An IPv6 client is its /64: whoever has one address of it has them all. The
// values of the three kinds do not overlap, since nobody comes from 0::/8 but the machine itself (::1).
inline std::uint64_t key_of(const Client& client) {
    std::uint64_t key = 0;
    switch (client.transport) {
        case Client::Transport::unix_socket:
            return std::uint64_t{2} << 32 | client.uid;
        case Client::Transport::ipv4:
            for (int i = 0; i < 4; ++i) key = key << 8 | client.address[static_cast<std::size_t>(i)];
            return std::uint64_t{1} << 32 | key;
        case Client::Transport::ipv6:
            for (int i = 0; i < 8; ++i) key = key << 8 | client.address[static_cast<std::size_t>(i)];
    }
    return key;
}

}  // namespace next_id
