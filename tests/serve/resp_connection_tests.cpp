#include <boost/test/unit_test.hpp>
#include <optional>

#include "sidecar/serve/connection_set.h"
#include "sidecar/serve/id_handler.h"
#include "tests/api/supply_fixture.h"
#include "tests/protocol/resp_outcome.h"
#include "tests/serve/connection_fixture.h"

namespace next_id {
namespace {

// A connection of RESP to the real handler.
struct RespConnectionFixture : SupplyFixture, LoopFixture {
    explicit RespConnectionFixture(Entrance entrance = {.listener = ListenerName::socket},
                                   std::pair<Peer, int> pair = unix_pair(),
                                   std::optional<HttpError> refusal = std::nullopt)
        : SupplyFixture{[this](const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
              handler.deliver(waiter.request, result, ranges);
          }},
          peer{std::move(pair.first)} {
        connection = std::make_unique<Connection>(handler, &handler, [this](Connection&) { ++finished; });
        BOOST_TEST_REQUIRE(
            connection->start(&loop, outbox, handshakes, {FileDescriptor{pair.second}, {}, entrance, {}, refusal}));
    }

    std::string received(std::size_t bytes) {
        BOOST_TEST(run_until([&] { return peer.has(bytes); }), "received only: " << peer.received);
        return peer.received;
    }
    std::string received_until_end() {
        BOOST_TEST(run_until([&] { return peer.over(); }));
        return peer.received;
    }
    bool run_until_waiting(std::size_t count) {
        return run_until([&] { return supply.waiting().size() == count; });
    }
    unsigned sweeps_until_finished() {
        unsigned count = 0;
        while (finished == 0 && count < 1000) connection->sweep(), ++count;
        return count;
    }

    IdHandler handler{IdService{{&supply}, {{"app.ids"}, 1'000'000}}, 0, std::chrono::seconds{3}};
    HandshakeQueue handshakes{&loop};
    Outbox outbox{&loop};
    unsigned finished = 0;
    Peer peer;
    std::unique_ptr<Connection> connection;

    const std::string incr = resp({"INCR", "app.ids"}), ping = resp({"PING"});
};

struct RespPortFixture : RespConnectionFixture {
    RespPortFixture()
        : RespConnectionFixture{{.listener = ListenerName::resp, .request_timeout_s = 2, .idle_timeout_s = 5}} {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(resp_connection_tests, RespConnectionFixture)

BOOST_AUTO_TEST_CASE(the_first_byte_tells_resp_from_http) {
    publish(1, 10);
    peer.send("*");
    settle();
    peer.send(incr.substr(1));
    BOOST_TEST(received(4) == ":1\r\n");
    peer.send(get("/next-id"));
    BOOST_TEST(received_until_end().starts_with(":1\r\n-ERR Protocol error: expected '*', got 'G'"));
    BOOST_TEST(supply.window().left() == 9u);
}

BOOST_AUTO_TEST_CASE(http_stays_http) {
    publish(1, 10);
    peer.send("\r\n" + get("/next-id?format=text"));
    BOOST_TEST(run_until([&] { return peer.read(), answers_in(peer.received).size() == 1; }));
    peer.send(incr);
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(answers_in(peer.received).back().status == 400);
    BOOST_TEST(supply.window().left() == 9u);
}

BOOST_AUTO_TEST_CASE(pipelined_commands_are_answered_in_their_order) {
    publish(1, 100);
    peer.send(incr + ping + resp({"INCRBY", "app.ids", "10"}) + resp({"FOO"}) + incr);
    BOOST_TEST(received(50) ==
               ":1\r\n+PONG\r\n:11\r\n-ERR unknown command 'FOO', with args beginning with: \r\n:12\r\n");
}

BOOST_AUTO_TEST_CASE(answers_behind_a_parked_command_wait_for_it) {
    peer.send(ping + incr + ping + resp({"INCRBY", "app.ids", "3"}) + ping);
    BOOST_TEST(run_until_waiting(1));
    BOOST_TEST(received(7) == "+PONG\r\n");
    publish(1, 1);
    serve_waiting();
    BOOST_TEST(run_until_waiting(1));
    BOOST_TEST(received(18) == "+PONG\r\n:1\r\n+PONG\r\n");
    publish(10, 3);
    serve_waiting();
    BOOST_TEST(received(30) == "+PONG\r\n:1\r\n+PONG\r\n:12\r\n+PONG\r\n");
}

BOOST_AUTO_TEST_CASE(a_parked_command_is_told_when_no_ids_come) {
    peer.send(incr + ping);
    BOOST_TEST(run_until_waiting(1));
    BOOST_TEST(rings == 1u);
    supply.waiting().expire(never, supply.deliver());
    BOOST_TEST(received(60).starts_with("-TRYAGAIN query seq failed: "));
    BOOST_TEST(run_until([&] { return peer.read(), peer.received.ends_with("\r\n+PONG\r\n"); }));
}

BOOST_AUTO_TEST_CASE(a_run_that_is_not_to_be_had_is_an_error_and_takes_nothing) {
    publish(1, 50, 2);
    peer.send(resp({"INCRBY", "app.ids", "3"}));
    BOOST_TEST(run_until_waiting(1));
    serve_waiting();
    BOOST_TEST(received(30).starts_with("-ERR no 3 consecutive IDs are within reach: "));
    BOOST_TEST(supply.window().left() == 50u);
}

BOOST_AUTO_TEST_CASE(who_goes_away_while_parked_gets_no_ids) {
    peer.send(incr);
    BOOST_TEST(run_until_waiting(1));
    connection.reset();
    BOOST_TEST(supply.waiting().empty());
    publish(1, 1);
    serve_waiting();
    BOOST_TEST(supply.window().left() == 1u);
}

BOOST_AUTO_TEST_CASE(too_many_who_wait_are_told_to_try_again) {
    while (supply.waiting().park({})) {
    }
    peer.send(incr + ping);
    BOOST_TEST(received(50) == "-TRYAGAIN too many requests wait for IDs already\r\n+PONG\r\n");
}

BOOST_AUTO_TEST_CASE(quit_is_the_last) {
    peer.send(ping + resp({"QUIT"}) + ping);
    BOOST_TEST(received_until_end() == "+PONG\r\n+OK\r\n");
}

BOOST_AUTO_TEST_CASE(what_is_no_command_is_told_and_ends_it) {
    peer.send(ping + "*1\r\n:1\r\n" + ping);
    BOOST_TEST(received_until_end() == "+PONG\r\n-ERR Protocol error: expected '$', got ':'\r\n");
}

BOOST_AUTO_TEST_CASE(who_does_not_read_is_not_read_from) {
    const std::string echo = resp({"ECHO", std::string(8000, 'x')});
    std::size_t sent = 0;
    for (int i = 0; i < 200; ++i) {
        sent += peer.send(echo);
        settle();
    }
    BOOST_TEST(sent < 150 * echo.size());
    BOOST_TEST(finished == 0u);
    BOOST_TEST(sweeps_until_finished() == 31u);
}

BOOST_AUTO_TEST_CASE(between_commands_a_drain_closes_at_once) {
    peer.send(ping);
    BOOST_TEST(received(7) == "+PONG\r\n");
    connection->drain();
    BOOST_TEST(finished == 1u);
}

BOOST_AUTO_TEST_CASE(before_its_first_byte_a_drain_closes_at_once) {
    connection->drain();
    BOOST_TEST(finished == 1u);
}

BOOST_AUTO_TEST_CASE(what_has_begun_is_answered_as_the_last) {
    publish(1, 10);
    peer.send(incr.substr(0, 9));
    settle();
    connection->drain();
    settle();
    BOOST_TEST(finished == 0u);
    peer.send(incr.substr(9) + incr);
    BOOST_TEST(received_until_end() == ":1\r\n");
    BOOST_TEST(supply.window().left() == 9u);
}

BOOST_AUTO_TEST_CASE(what_is_parked_is_answered_as_the_last) {
    peer.send(incr + incr);
    BOOST_TEST(run_until_waiting(1));
    connection->drain();
    publish(1, 10);
    serve_waiting();
    BOOST_TEST(received_until_end() == ":1\r\n");
    BOOST_TEST(supply.window().left() == 9u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(resp_port_tests, RespPortFixture)

BOOST_AUTO_TEST_CASE(what_a_browser_can_send_takes_nothing_and_ends_it) {
    publish(1, 10);
    peer.send("POST / HTTP/1.1\r\nHost: 127.0.0.1:6380\r\nContent-Length: 100\r\n\r\n" + incr);
    BOOST_TEST(received_until_end() ==
               "-ERR Protocol error: expected '*', got 'P'; send commands as arrays of bulk "
               "strings\r\n");
    BOOST_TEST(supply.window().left() == 10u);
}

BOOST_AUTO_TEST_CASE(an_idle_connection_is_closed) {
    peer.send(ping);
    BOOST_TEST(received(7) == "+PONG\r\n");
    BOOST_TEST(sweeps_until_finished() == 6u);
}

BOOST_AUTO_TEST_CASE(a_slow_command_is_given_up) {
    peer.send("*2\r\n");
    settle();
    BOOST_TEST(sweeps_until_finished() == 3u);
}

BOOST_AUTO_TEST_CASE(empty_arrays_do_not_keep_an_idle_connection_open) {
    unsigned seconds = 0;
    for (; seconds < 100 && finished == 0; ++seconds) {
        peer.send("*0\r\n");
        settle();
        connection->sweep();
    }
    BOOST_TEST(seconds == 6u);
}

BOOST_AUTO_TEST_CASE(a_command_that_waits_for_ids_is_not_the_clients_fault) {
    peer.send(incr);
    BOOST_TEST(run_until_waiting(1));
    BOOST_TEST(sweeps_until_finished() == 1000u);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

constexpr HttpError full{503, "there are too many"}, foreign{403, "not this user"};

struct RefusedFixture : RespConnectionFixture {
    RefusedFixture() : RespConnectionFixture{{.listener = ListenerName::socket}, unix_pair(), full} {}
};
struct RefusedOnPortFixture : RespConnectionFixture {
    RefusedOnPortFixture() : RespConnectionFixture{{.listener = ListenerName::resp}, tcp_pair(), foreign} {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(resp_refused_tests)

BOOST_FIXTURE_TEST_CASE(who_is_refused_is_told_in_the_language_he_speaks, RefusedFixture) {
    peer.send(ping);
    BOOST_TEST(received_until_end() == "-ERR there are too many\r\n");
}

BOOST_FIXTURE_TEST_CASE(also_when_it_is_http, RefusedFixture) {
    peer.send(get("/next-id"));
    BOOST_TEST(received_until_end().starts_with("HTTP/1.1 503 "));
}

BOOST_FIXTURE_TEST_CASE(who_is_refused_and_says_nothing_is_soon_gone, RefusedFixture) {
    BOOST_TEST(sweeps_until_finished() == 3u);
    BOOST_TEST(peer.received == "");
}

BOOST_FIXTURE_TEST_CASE(where_only_resp_is_spoken_he_is_told_at_once, RefusedOnPortFixture) {
    BOOST_TEST(received_until_end() == "-NOPERM not this user\r\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
