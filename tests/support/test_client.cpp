#include "tests/support/test_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace next_id::test {
namespace {

using Clock = std::chrono::steady_clock;

// Negative when nobody listens there.
int connect_to(const std::string& address) {
    sockaddr_storage storage{};
    socklen_t size = 0;
    if (address.starts_with('/')) {
        auto& path = reinterpret_cast<sockaddr_un&>(storage);
        if (address.size() >= sizeof path.sun_path) throw std::runtime_error{"too long for a socket: " + address};
        path.sun_family = AF_UNIX;
        std::memcpy(path.sun_path, address.data(), address.size());
        size = sizeof path;
    } else {
        const auto colon = address.rfind(':');
        auto& ip = reinterpret_cast<sockaddr_in&>(storage);
        ip.sin_family = AF_INET;
        ip.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
        inet_pton(AF_INET, address.substr(0, colon).c_str(), &ip.sin_addr);
        size = sizeof ip;
    }
    const int socket = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&storage), size) == 0) return socket;
    const int why = errno;
    ::close(socket);
    errno = why;
    return -1;
}

}  // namespace

std::string TestAnswer::header(const std::string& name) const {
    for (std::size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) {
        const std::string line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
        if (line.size() <= name.size() || line[name.size()] != ':') continue;
        if (strncasecmp(line.c_str(), name.c_str(), name.size()) != 0) continue;
        return line.substr(std::min(line.find_first_not_of(' ', name.size() + 1), line.size()));
    }
    return {};
}

TestClient::TestClient(const std::string& address) : socket_{connect_to(address)} {
    if (socket_ < 0) throw std::system_error{errno, std::generic_category(), "connect to " + address};
}

TestClient::~TestClient() {
    ::close(socket_);
}

void TestClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) throw std::system_error{errno, std::generic_category(), "send"};
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

TestAnswer TestClient::receive(std::chrono::milliseconds deadline, bool head_only) {
    const auto until = Clock::now() + deadline;
    const auto need_more = [&] {
        if (!read_more(until)) throw std::runtime_error{"the connection ended within an answer: " + received_};
    };
    while (received_.find("\r\n\r\n") == std::string::npos) need_more();
    TestAnswer answer;
    const std::size_t body_at = received_.find("\r\n\r\n") + 4;
    answer.head = received_.substr(0, body_at - 2);
    if (answer.head.size() < 12) throw std::runtime_error{"not an answer: " + received_};
    answer.status = std::atoi(answer.head.c_str() + 9);
    const std::string length = answer.header("Content-Length");
    const std::size_t body_bytes = head_only || length.empty() ? 0 : std::stoul(length);
    while (received_.size() < body_at + body_bytes) need_more();
    answer.body = received_.substr(body_at, body_bytes);
    received_.erase(0, body_at + body_bytes);
    return answer;
}

TestAnswer TestClient::get(const std::string& target, std::chrono::milliseconds deadline) {
    send("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n");
    return receive(deadline);
}

std::string TestClient::end(std::chrono::milliseconds deadline) {
    ::shutdown(socket_, SHUT_WR);
    try {
        while (read_more(Clock::now() + deadline)) {
        }
    } catch (const std::system_error& error) {
        if (error.code().value() != ECONNRESET) throw;
    }
    return std::exchange(received_, {});
}

bool TestClient::is_closed(std::chrono::milliseconds deadline) {
    try {
        while (read_more(Clock::now() + deadline)) {
        }
        return received_.empty();
    } catch (const std::system_error& error) {
        return error.code().value() == ECONNRESET && received_.empty();
    }
}

bool TestClient::read_more(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wanted{socket_, POLLIN, 0};
    if (left <= 0 || ::poll(&wanted, 1, static_cast<int>(left)) == 0)
        throw std::system_error{ETIMEDOUT, std::generic_category(), "no answer"};
    char bytes[65536];
    const ssize_t size = ::recv(socket_, bytes, sizeof bytes, 0);
    if (size < 0) throw std::system_error{errno, std::generic_category(), "recv"};
    received_.append(bytes, static_cast<std::size_t>(size));
    return size > 0;
}

bool can_connect(const std::string& address) {
    const int socket = connect_to(address);
    if (socket < 0) return false;
    ::close(socket);
    return true;
}

std::int64_t id_of(const TestAnswer& answer) {
    static constexpr std::string_view front = R"({"code":0,"msg":"success","data":{"id":)";
    std::int64_t id = 0;
    const std::string_view body = answer.body;
    if (answer.status == 200 && body.starts_with(front)) {
        const auto [end, problem] = std::from_chars(body.data() + front.size(), body.data() + body.size(), id);
        if (problem == std::errc{} && std::string_view{end, 3} == "}}\n") return id;
    }
    throw std::runtime_error{"not an ID: " + answer.head + answer.body};
}

}  // namespace next_id::test
