#include "tests/fuzz/id_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "sidecar/base/file_descriptor.h"
#include "tests/fuzz/targets.h"

namespace next_id::test {
namespace {

constexpr std::size_t slot_count = 8;
constexpr unsigned refills_max = 40;
constexpr unsigned turns_max = 10'000;  // of the loop

std::unique_ptr<WindowFile> open_window(const std::string& directory, const std::string& sequence) {
    auto window = WindowFile::open({.state_dir = directory,
                                    .sequence = sequence,
                                    .source_digest = "digest",
                                    .boot_id = "boot",
                                    .slot_count = slot_count});
    if (!window) throw std::runtime_error{window.error()};
    return std::move(*window);
}

std::size_t count_handles(uv_loop_t& loop) {
    std::size_t count = 0;
    uv_walk(
        &loop, [](uv_handle_t*, void* counted) { ++*static_cast<std::size_t*>(counted); }, &count);
    return count;
}

}  // namespace

class IdServer::Client {
 public:
    explicit Client(int descriptor) : socket_{descriptor} {}

    void send(std::string_view bytes) {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        // The server may have gone by now; else the socket has room for all that is ever sent here.
        promised(sent == static_cast<ssize_t>(bytes.size()) || (sent < 0 && ended), "what is sent is read, or refused");
    }
    // True iff something came.
    bool read() {
        char bytes[16384];
        const std::size_t before = received.size();
        ssize_t size;
        while ((size = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
            received.append(bytes, static_cast<std::size_t>(size));
        const bool news = received.size() != before || (size == 0 && !ended);
        ended |= size == 0;
        return news;
    }

    std::string received;
    bool ended = false;

 private:
    FileDescriptor socket_;
};

IdServer::IdServer() {
    std::signal(SIGPIPE, SIG_IGN);
    std::string pattern = "/dev/shm/next-id-fuzz-XXXXXX";
    promised(::mkdtemp(pattern.data()) != nullptr && uv_loop_init(&loop_) == 0, "there is a tmpfs, and a loop");
    directory_ = pattern;
    handshakes_ = std::make_unique<HandshakeQueue>(&loop_);
    outbox_ = std::make_unique<Outbox>(&loop_);
    own_handles_ = count_handles(loop_);
    const Supply::Wiring wiring{[] {},
                                [this](const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
                                    handler_->deliver(waiter.request, result, ranges);
                                }};
    supply_ = std::make_unique<Supply>("ids", open_window(directory_, "ids"), wiring);
    other_ = std::make_unique<Supply>("Other Ids", open_window(directory_, "Other Ids"), wiring);
    handler_ =
        std::make_unique<IdHandler>(IdService{{supply_.get(), other_.get()}, catalog_}, 0, std::chrono::hours{1});
}

IdServer::~IdServer() {
    handshakes_.reset();
    outbox_.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
    std::filesystem::remove_all(directory_);
}

void IdServer::empty_window() {
    std::vector<Range> out(slot_count);
    while (supply_->window().take(UINT64_MAX, out, true).result == TakeResult::taken) {
    }
    published_.clear();
    refills_ = 0;
}

void IdServer::publish(const Range& range) {
    const std::uint64_t count = supply_->window().publish(range);
    if (count != 0) published_.push_back({range.first, range.step, count});
}

// What PostgreSQL sends next. The other sequence has never any.
void IdServer::refill(Refills refills) {
    const std::int64_t number = refills_++;
    if (refills == Refills::plenty) publish({1 + number * 10'000, 1, 10'000});
    if (refills == Refills::late && number != 0) publish({number * 7, 1, 7});
    if (refills != Refills::scattered) return;
    if (number != 0) return publish({1000 * number, number % 3 == 0 ? -3 : 2, static_cast<std::uint64_t>(number)});
    for (const Range& range : {Range{1, 1, 3}, Range{10, 5, 4}, Range{-5, -1, 2}, Range{100, 1, 1},
                               Range{INT64_MAX - 20, 2, 11}, Range{INT64_MIN, 1, 3}})
        publish(range);
}

// Until all that was sent has had its effect. A Unix socket delivers at once, so a turn without news is the end.
void IdServer::settle(Client& client, Refills refills) {
    WaitingList& waiting = supply_->waiting();
    for (unsigned turns = 0; turns < turns_max; ++turns) {
        uv_run(&loop_, UV_RUN_NOWAIT);
        other_->waiting().expire(never, other_->deliver());
        const bool news = client.read();
        if (waiting.empty()) {
            if (!news) return;
            continue;
        }
        // As the refill does: what is there goes to those who wait, before there is more.
        std::vector<Range> scratch(slot_count);
        waiting.serve(supply_->window(), scratch, supply_->deliver());
        if (waiting.empty()) continue;
        if (refills == Refills::none || refills_ > refills_max) {
            waiting.expire(never, supply_->deliver());
        } else {
            refill(refills);
        }
    }
    promised(false, "a session comes to rest");
}

Exchange IdServer::exchange(std::span<const std::string_view> pieces, Refills refills, ListenerName listener) {
    empty_window();
    refill(refills);
    int ends[2];
    promised(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "there is a socket");
    auto client = std::make_unique<Client>(ends[0]);
    bool finished = false;
    auto connection = std::make_unique<Connection>(*handler_, handler_.get(), [&](Connection&) { finished = true; });
    promised(connection->start(&loop_, *outbox_, *handshakes_, {FileDescriptor{ends[1]}, {}, {.listener = listener}}),
             "there is a connection");
    const auto turn = [&] {
        settle(*client, refills);
        if (finished && connection) {  // as its owner does, in a later turn
            connection.reset();
            settle(*client, refills);
        }
    };
    for (const std::string_view piece : pieces) {
        if (client->ended) break;
        client->send(piece);
        turn();
    }
    Exchange exchange{std::move(client->received), client->ended, {}};
    client.reset();
    for (unsigned turns = 0; turns < turns_max && !finished; ++turns) uv_run(&loop_, UV_RUN_NOWAIT);
    promised(finished, "a connection does not outlive its client");
    connection.reset();
    uv_run(&loop_, UV_RUN_NOWAIT);
    promised(count_handles(loop_) == own_handles_, "a connection leaves nothing open");
    promised(supply_->waiting().empty() && other_->waiting().empty(), "nobody waits for a connection that has gone");
    exchange.taken = ids_that_left();
    return exchange;
}

std::vector<std::int64_t> IdServer::ids_that_left() {
    std::uint64_t gone = 0;
    for (const Range& range : published_) gone += range.count;
    gone -= supply_->window().left();
    std::vector<std::int64_t> ids;
    for (const Range& range : published_)
        for (std::uint64_t i = 0; i < range.count && ids.size() < gone; ++i)
            ids.push_back(last_of({range.first, range.step, i + 1}));
    return ids;
}

}  // namespace next_id::test
