#include "sidecar/serve/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace next_id {

namespace {

std::string system_error() {
    return std::strerror(errno);
}

std::string printed(const HostPort& address) {
    const bool ipv6 = address.host.find(':') != std::string::npos;
    return (ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string cannot_listen(const HostPort& address) {
    std::string why = "cannot listen on " + printed(address) + ": " + system_error();
    if (errno == EADDRINUSE)
        why += ". Another process has it: ss -ltnp 'sport = :" + std::to_string(address.port) +
               "' tells which; or choose another port";
    if (errno == EACCES) why += ". Ports below 1024 need a privilege: choose a higher one";
    return why;
}

}  // namespace

Expected<FileDescriptor> listen_tcp(const HostPort& address) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) != 0)
        return Unexpected{"cannot listen on " + printed(address) + ": " + address.host + " is not an IP address"};
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> chosen{found, freeaddrinfo};

    FileDescriptor socket{::socket(chosen->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!socket) return Unexpected{cannot_listen(address)};
    const int on = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (chosen->ai_family == AF_INET6) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(socket.get(), chosen->ai_addr, chosen->ai_addrlen) != 0 || ::listen(socket.get(), listen_backlog) != 0)
        return Unexpected{cannot_listen(address)};
    return socket;
}

std::uint16_t bound_port(const FileDescriptor& socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace next_id
