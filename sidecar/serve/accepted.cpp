#include "sidecar/serve/accepted.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace next_id {

namespace {

constexpr std::uint32_t nobody = ~0U;  // no user has this number

std::uint32_t peer_uid(int descriptor) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.uid : nobody;
}

}  // namespace

Client client_of(const FileDescriptor& descriptor, const sockaddr_storage& peer) {
    Client client;
    if (peer.ss_family == AF_UNIX) {
        client.uid = peer_uid(descriptor.get());
    } else if (peer.ss_family == AF_INET) {
        client.transport = Client::Transport::ipv4;
        std::memcpy(client.address.data(), &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, sizeof(in_addr));
    } else {
        const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
        const bool mapped = IN6_IS_ADDR_V4MAPPED(&address);
        client.transport = mapped ? Client::Transport::ipv4 : Client::Transport::ipv6;
        std::copy(address.s6_addr + (mapped ? 12 : 0), address.s6_addr + 16, client.address.begin());
    }
    return client;
}

}  // namespace next_id
