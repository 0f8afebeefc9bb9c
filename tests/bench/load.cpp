// A load generator for HTTP/1.1 and for INCR over RESP: every connection keeps `--depth` requests in flight and sends
// the next one when an answer has come; or, with `--rate`, requests fall due at that rate and whichever connection is
// free sends them. One thread, epoll, to `127.0.0.1:PORT` or a Unix socket. It ends by itself, after `--seconds` or
// `--requests`, and prints one line of key=value. Connections that the server drops are dialled again until the end.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/bench/address.h"
#include "tests/bench/answer.h"
#include "tests/bench/histogram.h"
#include "tests/bench/requests.h"

namespace next_id::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

constexpr std::size_t answer_bytes_max =
    256 * 1024;  // a connection's buffer: what may lie there unread, and one answer
constexpr auto dial_timeout = std::chrono::seconds(5);  // a SYN that found no room is sent again after a second
constexpr auto redial_pause = std::chrono::milliseconds(10);
constexpr auto await_pause = std::chrono::milliseconds(1);
constexpr auto clock_check = std::chrono::milliseconds(50);  // how late the end may be noticed when nothing comes

struct Options {
    std::string address;
    std::vector<std::string> targets{"/next-id"};
    std::string client = "none";
    bool traced = false;
    std::string incr;  // a key: RESP is spoken
    std::string ids_file;
    std::size_t connections = 64;
    std::size_t depth = 1;
    double seconds = 10;
    double rate = 0;  // requests a second; 0: as many as there are answers
    bool await = false;
    bool on_word = false;
    bool hold = false;
    std::uint64_t requests = std::numeric_limits<std::uint64_t>::max();
};

struct Connection {
    int fd = -1;                   // -1: down, to be dialled again
    std::size_t unsent = 0;        // bytes of requests that the socket has not taken yet
    std::size_t next_byte = 0;     // where in the text of the requests they begin
    std::size_t received = 0;      // bytes in `buffer`
    std::size_t in_flight = 0;     // requests whose answers are still to come
    std::size_t oldest = 0;        // where in `sent_at` the first of them is
    bool wants_room = false;       // watched for EPOLLOUT: the socket was full
    std::vector<Instant> sent_at;  // a ring of `depth`
    std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(answer_bytes_max);
    AnswerReader reader;
};

// Every ID of every answer, one a line, in the order received.
class IdFile {
 public:
    explicit IdFile(const std::string& path) : path_{path} {
        if (path.empty()) return;
        file_ = std::fopen(path.c_str(), "we");
        if (file_ == nullptr) throw std::system_error(errno, std::generic_category(), "open " + path);
    }

    void write_id_of(std::string_view body) {
        if (file_ == nullptr) return;
        static constexpr std::string_view key = "\"id\":";
        const std::size_t found = body.find(key);
        if (found != std::string_view::npos) {
            body.remove_prefix(found + key.size());
        } else if (body.find_first_of("-0123456789") != 0) {  // else it is the ID: over RESP, or as text
            throw std::runtime_error("an answer without an ID: " + std::string(body));
        }
        body.remove_prefix(body.starts_with('"') ? 1 : 0);  // format=string
        const std::size_t length = std::min(body.find_first_not_of("-0123456789"), body.size());
        std::fwrite(body.data(), 1, length, file_);
        std::fputc('\n', file_);
    }

    void close() {
        if (file_ == nullptr) return;
        const bool failed = std::ferror(file_) != 0;
        if (std::fclose(file_) != 0 || failed) throw std::runtime_error("could not write all IDs to " + path_);
    }

 private:
    std::string path_;
    std::FILE* file_ = nullptr;
};

class Load {
 public:
    explicit Load(const Options& options)
        : options_{options},
          address_{options.address},
          requests_{options.incr.empty() ? Requests::over_http(options.targets, headers_of(options.client),
                                                               options.traced, options.depth)
                                         : Requests::over_resp(options.incr, options.depth)},
          ids_{options.ids_file},
          unasked_{options.requests} {
        epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
    }

    void run() {
        const auto longest =
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
        connections_.resize(options_.connections);
        const Instant patience_end = Clock::now() + (options_.await ? longest : Clock::duration::zero());
        for (std::size_t i = 0; i < connections_.size(); ++i) {
            connections_[i].sent_at.resize(options_.depth);
            // Each begins with another request.
            connections_[i].next_byte = requests_.advanced(0, i * requests_.size());
            while (!dial(connections_[i])) {
                if (Clock::now() >= patience_end)
                    throw std::system_error(errno, std::generic_category(), "connect to " + address_.text());
                std::this_thread::sleep_for(await_pause);
            }
        }
        if (options_.on_word) wait_for_word();
        // With a rate, sleep until a request is due and not the usual 50 us longer.
        if (options_.rate > 0) ::prctl(PR_SET_TIMERSLACK, 1UL);
        begin_ = now_ = Clock::now();
        const Instant end = begin_ + longest;
        for (Connection& connection : connections_) become_free(connection, options_.depth);
        while (now_ < end && done_ + refused_ < options_.requests) turn(end);
        ids_.close();
    }

    void print() const {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        const double cpu_s = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
        const double seconds = std::chrono::duration<double>(now_ - begin_).count();
        const auto us = [&](double fraction) { return static_cast<double>(latency_ns_.percentile(fraction)) / 1e3; };
        std::printf("rps=%.0f done=%" PRIu64 " non_200=%" PRIu64 " reconnects=%" PRIu64 " lost=%" PRIu64
                    " seconds=%.3f p50_us=%.1f p90_us=%.1f p99_us=%.1f p999_us=%.1f load_cpu_s=%.3f\n",
                    static_cast<double>(done_) / seconds, done_, refused_, reconnects_, lost_, seconds, us(.5), us(.9),
                    us(.99), us(.999), cpu_s);
        std::fflush(stdout);
    }

 private:
    static void wait_for_word() {
        std::puts("connected");
        std::fflush(stdout);
        for (int c = 0; c != EOF && c != '\n';) c = std::getchar();
    }

    // One turn of the loop: what has come, then, if need be, the connections that are down.
    void turn(Instant end) {
        std::array<epoll_event, 256> events;
        Clock::duration longest = down_ > 0 ? Clock::duration(redial_pause) : Clock::duration(clock_check);
        if (options_.rate > 0 && !free_.empty()) longest = std::min(longest, due_of(asked_) - now_);
        const auto wait = std::max(std::min(longest, end - now_), Clock::duration::zero());
        const auto wait_s = std::chrono::floor<std::chrono::seconds>(wait);
        const timespec timeout{.tv_sec = wait_s.count(), .tv_nsec = std::chrono::nanoseconds(wait - wait_s).count()};
        const int count = ::epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
        if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "epoll_pwait2");
        now_ = Clock::now();
        for (int i = 0; i < count; ++i) {
            auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
            if ((events[static_cast<std::size_t>(i)].events & EPOLLOUT) != 0) flush(connection);
            if (connection.fd >= 0) receive(connection);
        }
        if (down_ > 0 && now_ >= redial_at_) redial();
        if (options_.rate > 0) ask_what_is_due();
    }

    // That many more requests may be in flight on the connection.
    void become_free(Connection& connection, std::size_t requests) {
        if (options_.rate == 0) return ask(connection, requests, now_);
        free_.insert(free_.end(), requests, &connection);
    }

    Instant due_of(std::uint64_t request) const {
        return begin_ + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(static_cast<double>(request) / options_.rate));
    }

    // A request that finds no connection free is late, and its latency counts from when it was due: so a server that
    // stalls is not asked less.
    void ask_what_is_due() {
        while (!free_.empty()) {
            const Instant due = due_of(asked_);
            if (due > now_) return;
            Connection& connection = *free_.front();
            free_.pop_front();
            if (connection.fd < 0 || connection.in_flight == options_.depth) continue;  // from before it broke
            ++asked_;
            ask(connection, 1, due);
        }
    }

    // Waits for the server to accept, but not for long; errno says why it failed.
    bool dial(Connection& connection) {
        const int fd = address_.open_socket();
        const timeval timeout{.tv_sec = dial_timeout.count(), .tv_usec = 0};
        ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        if (::connect(fd, address_.data(), address_.size()) != 0) {
            const int why = errno;
            ::close(fd);
            errno = why;
            return false;
        }
        ::fcntl(fd, F_SETFL, O_NONBLOCK);
        address_.send_at_once(fd);
        connection.fd = fd;
        watch(connection, EPOLL_CTL_ADD, EPOLLIN);
        return true;
    }

    void redial() {
        for (Connection& connection : connections_) {
            if (connection.fd >= 0) continue;
            if (!dial(connection)) break;
            --down_;
            ++reconnects_;
            become_free(connection, options_.depth);
        }
        now_ = Clock::now();
        redial_at_ = now_ + redial_pause;
    }

    void hang_up(Connection& connection) {
        ::close(connection.fd);
        lost_ += connection.in_flight;
        unasked_ += connection.in_flight;  // asked again by whoever is next
        connection.fd = -1;
        connection.wants_room = false;
        connection.unsent = connection.received = connection.in_flight = connection.next_byte = 0;
        ++down_;
    }

    void ask(Connection& connection, std::size_t wanted, Instant at) {
        const std::size_t count = std::min<std::uint64_t>(wanted, unasked_);
        if (count == 0) return;
        unasked_ -= count;
        for (std::size_t i = 0; i < count; ++i) {
            connection.sent_at[(connection.oldest + connection.in_flight++) % options_.depth] = at;
        }
        connection.unsent += count * requests_.size();
        flush(connection);
    }

    void flush(Connection& connection) {
        const std::string_view unsent = requests_.from(connection.next_byte, connection.unsent);
        const ssize_t sent = ::send(connection.fd, unsent.data(), unsent.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return hang_up(connection);
        if (sent > 0) {
            connection.unsent -= static_cast<std::size_t>(sent);
            connection.next_byte = requests_.advanced(connection.next_byte, static_cast<std::size_t>(sent));
        }
        if (connection.wants_room == (connection.unsent > 0)) return;
        connection.wants_room = connection.unsent > 0;
        watch(connection, EPOLL_CTL_MOD, connection.wants_room ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }

    void receive(Connection& connection) {
        const ssize_t count = ::recv(connection.fd, connection.buffer.get() + connection.received,
                                     answer_bytes_max - connection.received, 0);
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) return hang_up(connection);
        connection.received += static_cast<std::size_t>(count);
        now_ = Clock::now();
        const std::size_t answered = take_answers(connection);
        if (answered > 0) become_free(connection, answered);
    }

    // Counts the whole answers in the buffer and moves the rest, most often nothing, to its front.
    std::size_t take_answers(Connection& connection) {
        std::string_view bytes{connection.buffer.get(), connection.received};
        std::size_t answered = 0;
        while (!bytes.empty()) {
            const Answer answer = connection.reader.read(bytes);
            const bool endless = answer.state == Answer::State::incomplete && bytes.size() == answer_bytes_max;
            if (answer.state == Answer::State::malformed || endless || connection.in_flight == 0) {
                throw std::runtime_error("not an answer, or one too long: " + std::string(bytes.substr(0, 200)));
            }
            if (answer.state == Answer::State::incomplete) break;
            count(answer, connection.sent_at[connection.oldest]);
            connection.oldest = connection.oldest + 1 == options_.depth ? 0 : connection.oldest + 1;
            --connection.in_flight;
            ++answered;
            bytes.remove_prefix(answer.size);
        }
        std::memmove(connection.buffer.get(), bytes.data(), bytes.size());
        connection.received = bytes.size();
        return answered;
    }

    // A refusal is quick: counted as an answer it would make a server that fails look fast.
    void count(const Answer& answer, Instant sent_at) {
        if (answer.status != 200) {
            ++refused_;
            return;
        }
        ++done_;
        latency_ns_.record(static_cast<std::uint64_t>(std::chrono::nanoseconds(now_ - sent_at).count()));
        ids_.write_id_of(answer.body);
    }

    void watch(Connection& connection, int operation, std::uint32_t events) const {
        epoll_event event{.events = events, .data = {.ptr = &connection}};
        if (::epoll_ctl(epoll_, operation, connection.fd, &event) != 0) {
            throw std::system_error(errno, std::generic_category(), "epoll_ctl");
        }
    }

    const Options options_;
    const Address address_;
    const Requests requests_;
    IdFile ids_;
    int epoll_ = -1;
    std::vector<Connection> connections_;
    std::deque<Connection*> free_;  // with a rate: connections that may send a request, once for each
    std::uint64_t asked_ = 0;       // with a rate: requests that fell due and were sent
    std::size_t down_ = 0;          // connections to be dialled again
    Instant redial_at_{};
    Instant begin_{};
    Instant now_{};              // read once after each receive
    std::uint64_t unasked_;      // requests that may still be sent
    std::uint64_t done_ = 0;     // answers with status 200
    std::uint64_t refused_ = 0;  // answers with another
    std::uint64_t reconnects_ = 0;
    std::uint64_t lost_ = 0;  // requests in flight when their connection was dropped
    Histogram latency_ns_;
};

std::vector<std::string> client_names() {
    std::vector<std::string> names;
    for (const auto& [name, headers] : client_headers) names.emplace_back(name);
    return names;
}

Options parse(int argc, char** argv) {
    Options options;
    CLI::App app{"Keeps a server of HTTP/1.1, or of RESP, busy, and says how it did."};
    app.option_defaults()->always_capture_default();
    app.add_option("address", options.address, "127.0.0.1:PORT, or the path of a Unix socket")->required();
    app.add_option("--connections", options.connections, "kept alive, all the time")->check(CLI::Range(1, 10000));
    app.add_option("--depth", options.depth, "requests in flight on each connection")->check(CLI::Range(1, 1024));
    app.add_option("--seconds", options.seconds, "at most")->check(CLI::Range(0.01, 86400.0));
    app.add_option("--requests", options.requests, "answers, at most; then no ID is left unread")
        ->default_str("no limit");
    app.add_option("--rate", options.rate, "requests a second, in all; 0: as fast as answers come")
        ->check(CLI::Range(0.0, 1e7));
    app.add_option("--target", options.targets, "what to GET; several take turns");
    app.add_option("--client", options.client, "whose headers to send")->check(CLI::IsMember(client_names()));
    app.add_flag("--traced", options.traced, "no request is like the one before: each has a traceparent of its own");
    app.add_option("--incr", options.incr, "a key: send INCR over RESP instead, as Redis understands it")
        ->excludes("--target", "--client", "--traced")
        ->default_str("HTTP");
    app.add_flag("--await", options.await, "dial until the server is there, for as long as --seconds");
    app.add_flag("--on-word", options.on_word, "connect, say so in a line, and begin when a line comes from stdin");
    app.add_flag("--hold", options.hold, "when done, keep the connections open until killed");
    app.add_option("--ids", options.ids_file, "a file for the IDs received, one a line");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 64);
    }
    return options;
}

}  // namespace
}  // namespace next_id::bench

int main(int argc, char** argv) {
    try {
        const auto options = next_id::bench::parse(argc, argv);
        next_id::bench::Load load{options};
        load.run();
        load.print();
        if (options.hold) ::pause();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_load: %s\n", error.what());
        return 1;
    }
}
