// One Connection on a loop, its client, and a handler that does what the target says:
//   /park...    parks the request, until resume_oldest()
//   /big/N      answers with a body of N bytes
//   otherwise   answers with the target
#pragma once

#include <charconv>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "protocol/http_response.h"
#include "sidecar/serve/connection.h"
#include "tests/serve/loop_fixture.h"

namespace next_id {

// A body that shows what is missing from it, or stands in the wrong place.
inline std::string big_body(std::size_t bytes) {
    std::string body;
    body.reserve(bytes + 8);
    for (std::size_t i = 0; body.size() < bytes; ++i) body += std::to_string(i) + " ";
    body.resize(bytes);
    return body;
}

class ScriptedHandler final : public HttpHandler {
 public:
    bool handle(const HttpRequest& request, bool close, Connection& connection, std::string& out) override {
        ++handled;
        if (on_request) on_request();
        if (request.target.starts_with("/park")) {
            parked.push_back({&connection, std::string{request.target}});
            return false;
        }
        append_answer(out, request.target, close, request.http_1_0);
        return true;
    }
    void forget(Connection& connection) override {
        ++forgotten;
        std::erase_if(parked, [&](const Parked& one) { return one.connection == &connection; });
    }

    void resume_oldest(std::string_view target = {}) {
        BOOST_TEST_REQUIRE(!parked.empty());
        const Parked one = parked.front();
        parked.pop_front();
        std::string out;
        append_answer(out, target.empty() ? one.target : target, one.connection->closes_after_answer(), false);
        one.connection->resume(out);
    }

    static void append_answer(std::string& out, std::string_view target, bool close, bool http_1_0) {
        std::size_t bytes = 0;
        const std::string_view number = target.starts_with("/big/") ? target.substr(5) : "";
        std::from_chars(number.data(), number.data() + number.size(), bytes);
        const std::string body = bytes == 0 ? std::string{target} : big_body(bytes);
        append_response(out, {.text = true, .close = close, .http_1_0 = http_1_0}, body);
    }

    struct Parked {
        Connection* connection;
        std::string target;
    };
    std::function<void()> on_request;
    std::deque<Parked> parked;
    unsigned handled = 0, forgotten = 0;
};

struct Answer {
    int status = 0;
    std::string head, body;

    bool closes() const { return head.find("Connection: close\r\n") != std::string::npos; }
};

// The whole answers in what a client received; what comes after them goes to `rest`.
inline std::vector<Answer> answers_in(std::string_view bytes, std::string* rest = nullptr) {
    std::vector<Answer> answers;
    for (;;) {
        const std::size_t head_end = bytes.find("\r\n\r\n");
        if (head_end == bytes.npos) break;
        Answer answer{.head = std::string{bytes.substr(0, head_end + 2)}};
        BOOST_TEST_REQUIRE(answer.head.starts_with("HTTP/1.1 "));
        answer.status = std::stoi(answer.head.substr(9, 3));
        const std::size_t length_at = answer.head.find("Content-Length: ");
        const std::size_t length = length_at == std::string::npos ? 0 : std::stoul(answer.head.substr(length_at + 16));
        if (bytes.size() < head_end + 4 + length) break;
        answer.body = bytes.substr(head_end + 4, length);
        bytes.remove_prefix(head_end + 4 + length);
        answers.push_back(std::move(answer));
    }
    if (rest != nullptr) *rest = bytes;
    return answers;
}

inline std::string bodies_in(std::string_view bytes) {
    std::string bodies;
    for (const Answer& answer : answers_in(bytes)) bodies += (bodies.empty() ? "" : " ") + answer.body;
    return bodies;
}

inline std::string get(const std::string& target, const std::string& headers = {}, const std::string& version = "1.1") {
    return "GET " + target + " HTTP/" + version + "\r\nHost: a\r\n" + headers + "\r\n";
}

struct ConnectionFixture : LoopFixture {
    explicit ConnectionFixture(std::pair<Peer, int> pair = unix_pair(), Entrance entrance = {})
        : peer{std::move(pair.first)} {
        connection = std::make_unique<Connection>(handler, nullptr, [this](Connection&) { ++finished; });
        BOOST_TEST_REQUIRE(connection->start(&loop, outbox, handshakes, {FileDescriptor{pair.second}, {}, entrance}));
    }

    std::size_t answers() {
        peer.read();
        return answers_in(peer.received).size();
    }
    bool run_until_answers(std::size_t count) {
        return run_until([&] { return answers() >= count; });
    }
    // As its owner does, in a later turn.
    bool run_until_finished() {
        const bool over = run_until([&] { return peer.read(), finished != 0; });
        connection.reset();
        return over && run_until([&] { return peer.over(); });
    }

    ScriptedHandler handler;
    HandshakeQueue handshakes{&loop};
    Outbox outbox{&loop};
    unsigned finished = 0;
    Peer peer;
    std::unique_ptr<Connection> connection;
};

}  // namespace next_id
