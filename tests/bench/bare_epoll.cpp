// The upper bound: what one thread with epoll can answer when it does no work at all. It parses nothing but counts the
// blank lines that end requests, and answers each with a counted ID in the very bytes of a real answer. What the
// sidecar loses against it, it loses in its own code; what both lose against anything else, they lose in the kernel.
#include <sys/epoll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tests/bench/address.h"

namespace next_id::bench {
namespace {

constexpr std::size_t read_bytes_max = 64 * 1024;
constexpr int backlog = 1024;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// An answer is one copy and the digits of its ID, until the IDs get a digit more.
class Answers {
 public:
    explicit Answers(std::uint64_t first_id) : next_id_{first_id} { make_template(); }

    void append_next(std::string& out) {
        if (next_id_ == id_of_more_digits_) make_template();
        const std::size_t begin = out.size();
        out += template_;
        char* id = out.data() + begin + id_at_;
        std::to_chars(id, id + digits_, next_id_++);
    }

 private:
    void make_template() {
        static constexpr std::string_view before_id = "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":";
        static constexpr std::string_view after_id = "}}\n";
        const std::string id = std::to_string(next_id_);
        digits_ = id.size();
        id_of_more_digits_ = 1;
        for (std::size_t i = 0; i < digits_; ++i) id_of_more_digits_ *= 10;
        template_ =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n"
            "Content-Length: " +
            std::to_string(before_id.size() + digits_ + after_id.size()) + "\r\n\r\n";
        template_ += before_id;
        id_at_ = template_.size();
        template_ += id;
        template_ += after_id;
    }

    std::uint64_t next_id_;
    std::uint64_t id_of_more_digits_ = 0;
    std::string template_;
    std::size_t id_at_ = 0;
    std::size_t digits_ = 0;
};

// Counts "\r\n\r\n" in a stream that is cut anywhere.
class BlankLines {
 public:
    std::size_t count(std::string_view bytes) {
        std::size_t found = 0;
        while (!bytes.empty()) {
            if (matched_ == 0) {  // whole requests, as almost always
                const std::size_t next = bytes.find("\r\n\r\n");
                if (next == std::string_view::npos) {
                    bytes.remove_prefix(bytes.size() > 3 ? bytes.size() - 3 : 0);
                } else {
                    ++found;
                    bytes.remove_prefix(next + 4);
                    continue;
                }
            }
            match_ends(bytes, found);
        }
        return found;
    }

 private:
    // One byte at a time, until nothing is matched or nothing is left.
    void match_ends(std::string_view& bytes, std::size_t& found) {
        do {
            const char c = bytes.front();
            bytes.remove_prefix(1);
            if (c == "\r\n\r\n"[matched_]) {
                if (++matched_ == 4) {
                    ++found;
                    matched_ = 0;
                }
            } else {
                matched_ = c == '\r' ? 1 : 0;
            }
        } while (!bytes.empty() && matched_ != 0);
    }

    unsigned matched_ = 0;
};

// What epoll points to: a listener when `listens_at` is set, else a connection.
struct Endpoint {
    int fd = -1;
    const Address* listens_at = nullptr;
    BlankLines requests;
    std::string unsent;  // while there is any, nothing is read
};

class Server {
 public:
    Server(const std::vector<Address>& addresses, std::uint64_t first_id) : answers_{first_id} {
        epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) fail("epoll_create1");
        for (const Address& address : addresses) listen(address);
    }

    [[noreturn]] void run() {
        std::array<epoll_event, 256> events;
        for (;;) {
            const int count = ::epoll_wait(epoll_, events.data(), events.size(), -1);
            if (count < 0 && errno != EINTR) fail("epoll_wait");
            for (int i = 0; i < count; ++i) {
                auto& endpoint = *static_cast<Endpoint*>(events[static_cast<std::size_t>(i)].data.ptr);
                if (endpoint.listens_at != nullptr) {
                    accept_one(endpoint);
                } else if (!endpoint.unsent.empty()) {
                    flush(endpoint);
                } else {
                    answer(endpoint);
                }
            }
        }
    }

 private:
    void listen(const Address& address) {
        const int fd = address.open_socket();
        const int on = 1;
        ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (::bind(fd, address.data(), address.size()) != 0) fail("bind " + address.text());
        if (::listen(fd, backlog) != 0) fail("listen on " + address.text());
        watch(*new Endpoint{.fd = fd, .listens_at = &address, .requests = {}, .unsent = {}}, EPOLL_CTL_ADD, EPOLLIN);
    }

    // One a turn: level-triggered epoll comes back for the others.
    void accept_one(const Endpoint& listener) {
        const int fd = ::accept4(listener.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return;
        listener.listens_at->send_at_once(fd);
        watch(*new Endpoint{.fd = fd, .listens_at = nullptr, .requests = {}, .unsent = {}}, EPOLL_CTL_ADD, EPOLLIN);
    }

    void answer(Endpoint& connection) {
        const ssize_t count = ::recv(connection.fd, input_.data(), input_.size(), 0);
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) return hang_up(connection);
        output_.clear();
        std::size_t requests = connection.requests.count({input_.data(), static_cast<std::size_t>(count)});
        while (requests-- > 0) answers_.append_next(output_);
        if (output_.empty()) return;
        const ssize_t sent = ::send(connection.fd, output_.data(), output_.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return hang_up(connection);
        const std::size_t gone = sent > 0 ? static_cast<std::size_t>(sent) : 0;
        if (gone == output_.size()) return;
        connection.unsent.assign(output_, gone);
        watch(connection, EPOLL_CTL_MOD, EPOLLOUT);
    }

    void flush(Endpoint& connection) {
        const ssize_t sent = ::send(connection.fd, connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return hang_up(connection);
        if (sent > 0) connection.unsent.erase(0, static_cast<std::size_t>(sent));
        if (connection.unsent.empty()) watch(connection, EPOLL_CTL_MOD, EPOLLIN);
    }

    static void hang_up(Endpoint& connection) {
        ::close(connection.fd);
        delete &connection;
    }

    void watch(Endpoint& endpoint, int operation, std::uint32_t events) const {
        epoll_event event{.events = events, .data = {.ptr = &endpoint}};
        if (::epoll_ctl(epoll_, operation, endpoint.fd, &event) != 0) fail("epoll_ctl");
    }

    int epoll_ = -1;
    Answers answers_;
    std::array<char, read_bytes_max> input_;
    std::string output_;
};

}  // namespace
}  // namespace next_id::bench

int main(int argc, char** argv) {
    using namespace next_id::bench;
    CLI::App app{"Answers HTTP requests that it does not read, as fast as one thread can."};
    std::vector<std::string> texts;
    std::uint64_t first_id = 1;
    app.add_option("address", texts, "127.0.0.1:PORT, or the path of a Unix socket; several")->required();
    app.add_option("--first-id", first_id, "of its answers");
    CLI11_PARSE(app, argc, argv);
    try {
        const std::vector<Address> addresses(texts.begin(), texts.end());
        std::make_unique<Server>(addresses, first_id)->run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_bare_epoll: %s\n", error.what());
        return 1;
    }
}
