#include <boost/test/unit_test.hpp>

#include "tests/serve/connection_fixture.h"
#include "tests/serve/tls_files.h"

namespace next_id {
namespace {

struct Served : TlsFiles {
    const std::unique_ptr<TlsServer> server = std::move(*TlsServer::open(paths));
};

struct TlsConnectionFixture : Served, ConnectionFixture {
    explicit TlsConnectionFixture(std::pair<Peer, int> pair = tcp_pair())
        : ConnectionFixture{std::move(pair), Entrance{.tls = server.get()}} {}

    // Carries what there is between the client and its socket.
    void pump() {
        peer.read();
        client.receive(std::exchange(peer.received, {}));
        outbox += client.take();
        outbox.erase(0, peer.send(outbox));
    }
    void ask(std::string_view requests) {
        client.write(requests);
        pump();
    }
    // ok, failed, plain, abandoned
    std::vector<std::uint64_t> handshakes_counted() const {
        std::vector<std::uint64_t> counts;
        for (std::size_t i = 0; i < HandshakeCounters::result_names.size(); ++i)
            counts.push_back(server->handshakes().count(i));
        return counts;
    }
    std::size_t answers() const { return answers_in(client.received).size(); }
    bool run_until_answers(std::size_t count) {
        return run_until([&] { return pump(), answers() >= count; });
    }
    bool connect() {
        return run_until([&] { return pump(), client.connected() && handshakes_counted()[0] == 1; });
    }
    bool run_until_finished() {
        const bool over = run_until([&] { return pump(), finished != 0; });
        connection.reset();
        return over && run_until([&] { return pump(), peer.over(); });
    }

    TlsClient client{{.authority = &test_authority()}};
    std::string outbox;
};

// Whose buffers do not grow, as those of TCP do.
struct OverUnixSocket : TlsConnectionFixture {
    OverUnixSocket() : TlsConnectionFixture{unix_pair()} {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_connection_tests, TlsConnectionFixture)

BOOST_AUTO_TEST_CASE(a_connection_serves_one_request_after_another) {
    BOOST_TEST_REQUIRE(connect());
    for (std::size_t i = 1; i <= 100; ++i) {
        ask(get("/" + std::to_string(i)));
        BOOST_TEST_REQUIRE(run_until_answers(i));
    }
    BOOST_TEST(answers_in(client.received).back().body == "/100");
    BOOST_TEST(peer.received == "");
    BOOST_TEST(handshakes_counted() == (std::vector<std::uint64_t>{1, 0, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(pipelined_requests_are_answered_in_their_order) {
    std::string requests, expected;
    for (int i = 0; i < 1000; ++i) {
        requests += get("/" + std::to_string(i));
        expected += (i == 0 ? "/" : " /") + std::to_string(i);
    }
    BOOST_TEST_REQUIRE(connect());
    ask(requests);
    BOOST_TEST(run_until_answers(1000));
    BOOST_TEST(bodies_in(client.received) == expected);
}

BOOST_AUTO_TEST_CASE(a_handshake_and_a_request_may_come_byte_by_byte) {
    const auto trickle = [&] {
        pump();
        for (outbox += client.take(); !outbox.empty(); outbox.erase(0, 1)) {
            BOOST_TEST_REQUIRE(peer.send(outbox.substr(0, 1)) == 1u);
            settle();
        }
    };
    BOOST_TEST(run_until([&] { return trickle(), client.connected(); }));
    client.write(get("/a"));
    BOOST_TEST(run_until([&] { return trickle(), answers() == 1; }));
}

BOOST_FIXTURE_TEST_CASE(while_a_client_does_not_read_its_requests_are_left_in_the_socket, OverUnixSocket) {
    BOOST_TEST_REQUIRE(connect());
    const std::string request = get("/big/10000", "X: " + std::string(500, 'x') + "\r\n");
    std::size_t asked = 0, unmoved = 0;
    while (unmoved < 20) {
        if (outbox.empty()) {
            for (int i = 0; i < 10; ++i, ++asked) client.write(request);
            outbox = client.take();
        }
        const std::size_t now = peer.send(outbox);
        outbox.erase(0, now);
        unmoved = now == 0 ? unmoved + 1 : 0;
        settle();
        BOOST_TEST_REQUIRE(asked < 10'000);
    }
    // What was answered is in the buffer of the socket, or fits into what is made before any of it is written.
    BOOST_TEST(handler.handled < 80);
    BOOST_TEST(asked > 2 * handler.handled);
    BOOST_TEST(finished == 0);
    BOOST_TEST(run_until_answers(asked));
    for (const Answer& answer : answers_in(client.received)) BOOST_TEST_REQUIRE((answer.body == big_body(10'000)));
}

// Each asks for a record in return.
BOOST_FIXTURE_TEST_CASE(while_a_client_does_not_read_its_new_keys_are_left_in_the_socket, OverUnixSocket) {
    BOOST_TEST_REQUIRE(connect());
    std::size_t bytes = 0;
    for (unsigned unmoved = 0; unmoved < 20; settle()) {
        if (outbox.empty()) {
            for (int i = 0; i < 100; ++i) client.update_keys();
            outbox = client.take();
        }
        const std::size_t now = peer.send(outbox);
        outbox.erase(0, now);
        unmoved = now == 0 ? unmoved + 1 : 0;
        bytes += now;
        BOOST_TEST_REQUIRE(bytes < 10'000'000);
    }
    client.write(get("/a"));
    BOOST_TEST(run_until_answers(1));
}

BOOST_AUTO_TEST_CASE(a_large_answer_arrives_whole_and_then_the_end_is_told) {
    BOOST_TEST_REQUIRE(connect());
    ask(get("/big/3000000", "Connection: close\r\n"));
    BOOST_TEST(run_until_finished());
    BOOST_TEST((answers_in(client.received).at(0).body == big_body(3'000'000)));
    BOOST_TEST(client.ended);
}

BOOST_AUTO_TEST_CASE(what_is_parked_is_answered_although_the_client_sends_no_more) {
    BOOST_TEST_REQUIRE(connect());
    client.write(get("/park"));
    client.close();
    BOOST_TEST(run_until([&] { return pump(), handler.parked.size() == 1; }));
    settle();
    BOOST_TEST(finished == 0);
    handler.resume_oldest();
    BOOST_TEST(run_until_finished());
    BOOST_TEST(bodies_in(client.received) == "/park");
    BOOST_TEST(client.ended);
}

BOOST_AUTO_TEST_CASE(a_refused_request_is_answered_before_the_end) {
    BOOST_TEST_REQUIRE(connect());
    ask("GET /" + std::string(200'000, 'a'));
    BOOST_TEST(run_until_answers(1));
    BOOST_TEST(answers_in(client.received)[0].status == 414);
    BOOST_TEST(run_until([&] { return pump(), client.ended; }));
    peer.end_sending();
    BOOST_TEST(run_until_finished());
    BOOST_TEST(!peer.reset);
}

BOOST_AUTO_TEST_CASE(draining_tells_the_end) {
    BOOST_TEST_REQUIRE(connect());
    ask(get("/a"));
    BOOST_TEST(run_until_answers(1));
    connection->drain();
    BOOST_TEST(run_until_finished());
    BOOST_TEST(client.ended);
}

BOOST_AUTO_TEST_CASE(plain_http_is_told_so_in_plain) {
    peer.send(get("/a"));
    BOOST_TEST(run_until([&] { return peer.over(); }));
    const auto answers = answers_in(peer.received);
    BOOST_TEST_REQUIRE(answers.size() == 1u);
    BOOST_TEST(answers[0].status == 400);
    BOOST_TEST(answers[0].closes());
    BOOST_TEST(answers[0].body.find("this port speaks TLS") != std::string::npos);
    BOOST_TEST(!peer.reset);
    BOOST_TEST(handler.handled == 0u);
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
    BOOST_TEST(handshakes_counted() == (std::vector<std::uint64_t>{0, 0, 1, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_client_that_is_refused_gets_the_alert_whatever_it_still_sends) {
    TlsClient old{{.version_max = TLS1_1_VERSION}};
    peer.send(old.take());
    for (int i = 0; i < 10; ++i) peer.send(std::string(10'000, 'x')), settle();
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(!peer.reset);
    old.receive(peer.received);
    BOOST_TEST(old.failure == "tlsv1 alert protocol version");
    for (int i = 0; i < 3; ++i) connection->sweep();
    BOOST_TEST(finished == 1u);
    BOOST_TEST(handshakes_counted() == (std::vector<std::uint64_t>{0, 1, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_broken_record_ends_the_connection) {
    BOOST_TEST_REQUIRE(connect());
    client.write(get("/a"));
    std::string bytes = client.take();
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    peer.send(bytes);
    BOOST_TEST(run_until([&] { return finished == 1; }));
    BOOST_TEST(handler.handled == 0u);
}

BOOST_AUTO_TEST_CASE(a_handshake_has_a_deadline) {
    peer.send(outbox = client.take().substr(0, 100));
    settle();
    for (int i = 0; i < 10; ++i) connection->sweep();
    BOOST_TEST(finished == 0u);
    connection->sweep();
    BOOST_TEST(finished == 1u);
    connection.reset();
    BOOST_TEST(handshakes_counted() == (std::vector<std::uint64_t>{0, 0, 0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_idle_connection_stays) {
    BOOST_TEST_REQUIRE(connect());
    settle();
    for (int i = 0; i < 100; ++i) connection->sweep();
    BOOST_TEST(finished == 0u);
}

BOOST_AUTO_TEST_CASE(a_connection_may_end_while_it_waits_for_its_turn) {
    pump();
    uv_run(&loop, UV_RUN_NOWAIT);  // reads, and is to go on in the next turn
    connection->drain();
    settle();
    peer.read();
    BOOST_TEST(finished == 1u);
    BOOST_TEST(peer.received == "");
    connection.reset();
    BOOST_TEST(run_until([&] { return peer.over(); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
