#include "tests/support/tcp_gate.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace next_id::test {
namespace {

constexpr int backlog = 64;
constexpr int look_again_ms = 1000;
constexpr std::size_t ready_bytes = 6;  // of ReadyForQuery

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

void send_at_once(int socket) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

TcpGate::TcpGate(const std::string& server_port) : server_port_{server_port} {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, backlog) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::system_error{errno, std::generic_category(), "a gate's port"};
    port_ = std::to_string(ntohs(address.sin_port));
    thread_ = std::thread{[this] { run(); }};
}

TcpGate::~TcpGate() {
    {
        const std::lock_guard lock{mutex_};
        stop_ = true;
    }
    ring();
    thread_.join();
    for (Connection& connection : open_) close(connection.up.from), close(connection.down.from);
    close(listener_);
    close(bell_);
}

void TcpGate::ring() const {
    eventfd_write(bell_, 1);
}

void TcpGate::open() {
    const std::lock_guard lock{mutex_};
    cut_ = false;
    delay_ = std::chrono::milliseconds{0};
    answer_bytes_most_ = never;
    before_ready_ = false;
    ring();
}

void TcpGate::cut() {
    const std::lock_guard lock{mutex_};
    cut_ = true;
    ring();
}

void TcpGate::slow(std::chrono::milliseconds delay) {
    const std::lock_guard lock{mutex_};
    delay_ = delay;
    ring();
}

void TcpGate::close_within_answers(std::size_t after_bytes) {
    const std::lock_guard lock{mutex_};
    answer_bytes_most_ = after_bytes;
    ring();
}

void TcpGate::close_before_ready() {
    const std::lock_guard lock{mutex_};
    before_ready_ = true;
    ring();
}

void TcpGate::close_all() {
    const std::lock_guard lock{mutex_};
    close_all_ = true;
    ring();
}

void TcpGate::run() {
    for (std::vector<pollfd> polled;;) {
        int timeout = look_again_ms;
        {
            const std::lock_guard lock{mutex_};
            polled.assign({{bell_, POLLIN, 0}, {listener_, POLLIN, 0}});
            for (const Connection& connection : open_) {
                const bool deaf = cut_;  // what a network drops is not read, but who left is seen
                for (const Way* way : {&connection.up, &connection.down})
                    polled.push_back({way->ended ? -1 : way->from, short(deaf ? 0 : POLLIN), 0});
                if (deaf && !connection.left) polled[polled.size() - 2].events = POLLRDHUP;
                if (deaf && connection.left) polled[polled.size() - 2].fd = -1;
                if (deaf) polled.back().fd = -1;
            }
            timeout = timeout_ms();
        }
        poll(polled.data(), polled.size(), timeout);

        const std::lock_guard lock{mutex_};
        if (stop_) return;
        eventfd_t rings;
        eventfd_read(bell_, &rings);
        std::size_t at = 2;
        for (Connection& connection : open_) {
            const short up = polled[at++].revents, down = polled[at++].revents;
            if (cut_) {
                connection.left = connection.left || (up & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
                continue;
            }
            if (up != 0) read(connection, connection.up);
            if (down != 0) read(connection, connection.down);
            write_due(connection, connection.up);
            write_due(connection, connection.down);
        }
        open_.remove_if([&](const Connection& connection) {
            const bool over = close_all_ || connection.broken || (connection.up.ended && connection.up.held.empty()) ||
                              (connection.down.ended && connection.down.held.empty());
            if (over) ::close(connection.up.from), ::close(connection.down.from);
            return over;
        });
        close_all_ = false;
        if (polled[1].revents != 0) accept_one();
        note_connections();
    }
}

void TcpGate::accept_one() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(std::stoi(server_port_));
    // A network that drops packets lets nobody see whether the server is there.
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && !cut_) {
        ::close(server);
        ::close(client);
        return;
    }
    send_at_once(client);
    send_at_once(server);
    Connection& connection = open_.emplace_back();
    connection.up.from = connection.down.to = client;
    connection.up.to = connection.down.from = server;
    ++connections_made_;
}

void TcpGate::read(Connection& connection, Way& way) {
    char bytes[65536];
    const ssize_t size = recv(way.from, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    std::string chunk{bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
    if (chunk.empty())
        way.ended = true;
    else
        note_bytes(connection, way, chunk);
    if (!chunk.empty()) way.held.push_back({Clock::now() + delay_, chunk});
    if (way.ended && &way == &connection.up) connection.left = true;
}

// A statement begins with the message Parse; the messages of the login begin otherwise.
void TcpGate::note_bytes(Connection& connection, Way& way, std::string& bytes) {
    if (&way == &connection.up) {
        if (bytes.front() == 'P') connection.in_answer = true, connection.answered = 0;
        return;
    }
    if (!connection.in_answer) return;
    if (answer_bytes_most_ != never && connection.answered + bytes.size() > answer_bytes_most_) {
        bytes.resize(answer_bytes_most_ - std::min(connection.answered, answer_bytes_most_));
        way.ended = true;
        ++answers_broken_;
    } else if (before_ready_ && bytes.size() > ready_bytes && bytes[bytes.size() - ready_bytes] == 'Z') {
        bytes.resize(bytes.size() - ready_bytes);
        way.ended = true;
        ++answers_broken_;
    }
    connection.answered += bytes.size();
    answer_bytes_ = connection.answered;
}

void TcpGate::write_due(Connection& connection, Way& way) {
    while (!way.held.empty() && way.held.front().due <= Clock::now()) {
        const std::string& bytes = way.held.front().bytes;
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ssize_t size = send(way.to, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (size < 0) {
                connection.broken = true;
                return;
            }
            sent += static_cast<std::size_t>(size);
        }
        way.held.pop_front();
    }
}

void TcpGate::note_connections() {
    connections_ = static_cast<std::size_t>(
        std::count_if(open_.begin(), open_.end(), [](const Connection& connection) { return !connection.left; }));
    connections_most_ = std::max(connections_most_.load(), connections_.load());
}

int TcpGate::timeout_ms() const {
    auto due = Clock::now() + std::chrono::milliseconds{look_again_ms};
    if (!cut_)
        for (const Connection& connection : open_)
            for (const Way* way : {&connection.up, &connection.down})
                if (!way->held.empty()) due = std::min(due, way->held.front().due);
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(wait, 0));
}

}  // namespace next_id::test
