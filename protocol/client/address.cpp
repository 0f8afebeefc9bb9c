#include "protocol/client/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <next_id/client.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace next_id::client {
namespace {

static_assert(sizeof(sockaddr_un) <= sizeof(sockaddr_storage));

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (problem != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
    return port;
}

Error wrong(const std::string& text, const char* why) {
    return Error{ErrorCode::invalid_argument,
                 "the address \"" + text + "\" " + why +
                     "; give the path of next-id's Unix socket, or 127.0.0.1:8080, [::1]:8080, localhost:8080"};
}

}  // namespace

Address::Address(const std::string& text) : text_{text} {
    if (text.find('\0') != std::string::npos) throw wrong(text.c_str(), "has a zero byte in it");
    if (text.find('/') != std::string::npos && text.find("://") == std::string::npos) {
        auto& address = reinterpret_cast<sockaddr_un&>(storage_);
        if (text.size() >= sizeof address.sun_path) throw wrong(text, "is longer than a Unix socket's path can be");
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
        size_ = sizeof address;
        return;
    }

    std::string_view rest = text;
    constexpr std::string_view scheme = "http://";
    if (rest.substr(0, scheme.size()) == scheme) rest.remove_prefix(scheme.size());
    if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
    const std::size_t colon = rest.rfind(':');
    const auto port = colon == std::string_view::npos ? std::nullopt : port_of(rest.substr(colon + 1));
    if (!port) throw wrong(text, "has no port, and is no path");
    std::string host{rest.substr(0, colon)};
    if (host == "localhost") host = "127.0.0.1";
    text_ = rest;
    auto& v4 = reinterpret_cast<sockaddr_in&>(storage_);
    if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(*port);
        size_ = sizeof v4;
        return;
    }
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage_);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (!bracketed || inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6.sin6_addr) != 1)
        throw wrong(text, "is no number: names are not looked up");
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(*port);
    size_ = sizeof v6;
}

}  // namespace next_id::client
