#include "sidecar/serve/connection_set.h"

#include <sys/epoll.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <optional>

#include "tests/serve/connection_fixture.h"

namespace next_id {
namespace {

std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) ++count;
    return count;
}

struct SetFixture : LoopFixture {
    ~SetFixture() { connections.reset(); }

    Peer connect() {
        auto [peer, descriptor] = unix_pair();
        connections->adopt({FileDescriptor{descriptor}});
        return std::move(peer);
    }
    void drain() {
        connections->drain([this] { ++drained; });
    }

    ScriptedHandler handler;
    Admission admission{{.connections_max = 1}};
    std::optional<ConnectionSet> connections{std::in_place, &loop, handler};
    unsigned drained = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connection_set_tests, SetFixture)

BOOST_AUTO_TEST_CASE(it_serves_many_at_a_time) {
    std::vector<Peer> peers;
    for (int i = 0; i < 100; ++i) peers.push_back(connect());
    BOOST_TEST(connections->size() == 100);
    for (std::size_t i = 0; i < peers.size(); ++i) peers[i].send(get("/" + std::to_string(i)));
    for (std::size_t i = 0; i < peers.size(); ++i) {
        const std::string expected = "/" + std::to_string(i);
        BOOST_TEST_REQUIRE(run_until([&] { return peers[i].read(), !answers_in(peers[i].received).empty(); }));
        BOOST_TEST(bodies_in(peers[i].received) == expected);
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_written_before_all_that_came_is_read) {
    std::vector<Peer> peers;
    for (int i = 0; i < 10; ++i) peers.push_back(connect());
    settle();
    for (Peer& peer : peers) peer.send(get("/a"));
    handler.on_request = [&] {
        for (Peer& peer : peers) BOOST_TEST(!peer.has(1));
    };
    BOOST_TEST_REQUIRE(run_until([&] { return handler.handled == peers.size(); }));
    for (Peer& peer : peers) BOOST_TEST(bodies_in((peer.read(), peer.received)) == "/a");
}

BOOST_AUTO_TEST_CASE(the_others_have_their_turn_between_the_answers_of_one) {
    auto [greedy, descriptor] = unix_pair();
    connections->adopt({FileDescriptor{descriptor}, {}, {.answers_bytes_max = 1000}});
    Peer modest = connect();
    settle();
    unsigned before_modest = 0;
    handler.on_request = [&] {
        if (!modest.has(1)) before_modest = handler.handled;
    };
    std::string requests;
    for (int i = 0; i < 20; ++i) requests += get("/big/1000");
    greedy.send(requests);
    modest.send(get("/b"));
    BOOST_TEST(run_until([&] { return greedy.has(20); }));
    BOOST_TEST(before_modest == 2);  // one of the greedy one's, and its own
    BOOST_TEST(bodies_in((modest.read(), modest.received)) == "/b");
}

BOOST_AUTO_TEST_CASE(clients_that_do_not_read_cost_the_others_nothing) {
    std::string requests;
    for (int i = 0; i < 200; ++i) requests += get("/big/10000", "X: " + std::string(500, 'x') + "\r\n");
    struct Greedy {
        Peer peer;
        std::size_t sent = 0;
    };
    std::vector<Greedy> greedy;
    for (int i = 0; i < 4; ++i) greedy.push_back({connect()});
    for (unsigned unmoved = 0; unmoved < 20; ++unmoved) {  // until no socket takes more
        for (Greedy& one : greedy) {
            const std::size_t now = one.peer.send(std::string_view{requests}.substr(one.sent % requests.size()));
            one.sent += now;
            if (now != 0) unmoved = 0;
            BOOST_TEST_REQUIRE(one.sent < 1'000'000);
        }
        settle();
    }
    epoll_event event;
    BOOST_TEST(epoll_wait(uv_backend_fd(&loop), &event, 1, 0) == 0);  // the loop has nothing to do for them
    BOOST_TEST(handler.handled < 4 * 80);

    const unsigned before = handler.handled;
    Peer modest = connect();
    for (std::size_t i = 1; i <= 100; ++i) {
        modest.send(get("/a"));
        BOOST_TEST_REQUIRE(run_until([&] { return modest.read(), answers_in(modest.received).size() == i; }));
    }
    BOOST_TEST(handler.handled == before + 100);
    BOOST_TEST(connections->size() == 5);
}

BOOST_AUTO_TEST_CASE(thousands_of_connections_leave_nothing_behind) {
    connect();  // libuv opens a descriptor of its own with the first
    BOOST_TEST_REQUIRE(run_until([&] { return connections->size() == 0; }));
    settle();
    const std::size_t before = open_descriptors();
    for (int round = 0; round < 30; ++round) {
        std::vector<Peer> peers;
        for (int i = 0; i < 100; ++i) {
            peers.push_back(connect());
            // Some end in the middle of a request, some with a request parked or an answer half written.
            const char* const targets[] = {"/a", "/big/300000", "/b", "/c"};
            if (i % 5 < 4) peers.back().send(get(targets[i % 4]));
            if (i % 5 == 4) peers.back().send("GET ");
            if (i % 7 == 0) settle();
        }
        settle();
        peers.clear();
        BOOST_TEST_REQUIRE(run_until([&] { return connections->size() == 0; }));
    }
    settle();
    BOOST_TEST(open_descriptors() == before);
    BOOST_TEST(handler.handled > 0);
}

BOOST_AUTO_TEST_CASE(its_end_takes_every_connection_along) {
    std::vector<Peer> peers;
    for (const char* target : {"/a", "/park", "/big/3000000", "/park"}) {
        peers.push_back(connect());
        peers.back().send(get(target));
    }
    peers.push_back(connect());
    BOOST_TEST(run_until([&] { return handler.handled == 4; }));
    connections.reset();
    BOOST_TEST(handler.forgotten == 2);
    for (Peer& peer : peers) BOOST_TEST(run_until([&] { return peer.over(); }));
}

BOOST_AUTO_TEST_CASE(drained_is_told_once_when_none_is_open) {
    drain();
    BOOST_TEST(drained == 1);
    settle();
    BOOST_TEST(drained == 1);
}

BOOST_AUTO_TEST_CASE(drained_is_told_once_when_all_are_idle) {
    std::vector<Peer> peers;
    for (int i = 0; i < 10; ++i) peers.push_back(connect());
    settle();
    drain();
    settle();
    BOOST_TEST(drained == 1);
    for (Peer& peer : peers) BOOST_TEST(run_until([&] { return peer.over(); }));
}

BOOST_AUTO_TEST_CASE(drained_is_told_when_the_last_is_answered) {
    Peer idle = connect(), one = connect(), two = connect();
    one.send(get("/park"));
    two.send(get("/park"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 2; }));
    drain();
    settle();
    BOOST_TEST(drained == 0);
    handler.resume_oldest();
    settle();
    one.go();
    BOOST_TEST(run_until([&] { return connections->size() == 1; }));
    BOOST_TEST(drained == 0);
    handler.resume_oldest();
    settle();
    two.go();
    BOOST_TEST(run_until([&] { return drained == 1; }));
    settle();
    BOOST_TEST(drained == 1);
}

BOOST_AUTO_TEST_CASE(an_answer_that_was_about_to_be_written_is_written_whole) {
    auto [slow, descriptor] = unix_pair();
    const int bytes = 4096;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    connections->adopt({FileDescriptor{descriptor}});
    Peer other = connect();
    settle();
    handler.on_request = [&] {
        if (handler.handled == 2) drain();  // the first answer has not been written yet
    };
    slow.send(get("/big/60000"));
    other.send(get("/b"));
    BOOST_TEST_REQUIRE(run_until([&] { return handler.handled == 2; }));
    settle();
    BOOST_TEST(drained == 0);
    BOOST_TEST(run_until([&] { return slow.over(); }));
    BOOST_TEST(bodies_in(slow.received) == big_body(60000));
    BOOST_TEST(run_until([&] { return drained == 1; }));
}

BOOST_AUTO_TEST_CASE(what_is_adopted_while_draining_is_closed_and_not_told_again) {
    drain();
    Peer late = connect();
    BOOST_TEST(run_until([&] { return late.over(); }));
    BOOST_TEST(connections->size() == 0);
    BOOST_TEST(drained == 1);
}

BOOST_AUTO_TEST_CASE(a_connection_that_ended_is_closed_before_the_loop_waits) {
    struct Look {
        Peer peer;
        SetFixture& fixture;
        bool closed = false;
    };
    Look look{connect(), *this};
    settle();
    // Ends the connection in the loop's timer phase; looks at it as soon as the loop has waited.
    const auto timer =
        make_handle<uv_timer_t>(&look, [this](uv_timer_t* handle) { return uv_timer_init(&loop, handle); });
    const auto waited =
        make_handle<uv_check_t>(&look, [this](uv_check_t* handle) { return uv_check_init(&loop, handle); });
    uv_check_start(waited.get(), [](uv_check_t* handle) {
        auto& seen = *static_cast<Look*>(handle->data);
        if (seen.fixture.drained == 1) seen.closed = seen.peer.over();
        if (seen.fixture.drained == 1) uv_check_stop(handle);
    });
    uv_timer_start(
        timer.get(), [](uv_timer_t* handle) { static_cast<Look*>(handle->data)->fixture.drain(); }, 0, 0);
    BOOST_TEST(run_until([&] { return uv_is_active(reinterpret_cast<uv_handle_t*>(waited.get())) == 0; }));
    BOOST_TEST(look.closed);
}

BOOST_AUTO_TEST_CASE(it_sweeps_by_itself) {
    Peer peer = connect();
    peer.send("NONSENSE\r\n\r\n");  // and never closes
    BOOST_TEST(run_until([&] { return connections->size() == 0; }));
}

BOOST_AUTO_TEST_CASE(who_may_not_come_in_is_told_why_without_being_asked) {
    auto [peer, descriptor] = unix_pair();
    peer.send(get("/a"));  // or its answer might be lost to a reset
    auto in = admission.decide({}, ListenerName::socket), out = admission.decide({}, ListenerName::socket);
    connections->adopt({FileDescriptor{descriptor}, {}, {}, std::move(out.seat), out.refusal});
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(!peer.reset);
    const auto answers = answers_in(peer.received);
    BOOST_TEST_REQUIRE(answers.size() == 1);
    BOOST_TEST(answers[0].status == 503);
    BOOST_TEST(answers[0].closes());
    BOOST_TEST(answers[0].head.find("Retry-After: 1\r\n") != std::string::npos);
    BOOST_TEST(handler.handled == 0);
    peer.go();
    BOOST_TEST(run_until([&] { return connections->size() == 0; }));
}

BOOST_AUTO_TEST_CASE(a_connection_keeps_its_seat_until_its_client_goes) {
    auto [peer, descriptor] = unix_pair();
    connections->adopt({FileDescriptor{descriptor}, {}, {}, admission.decide({}, ListenerName::socket).seat});
    settle();
    BOOST_TEST(admission.decide({}, ListenerName::socket).refusal.has_value());
    Peer other = connect();
    handler.on_request = [&] { BOOST_TEST(!admission.decide({}, ListenerName::socket).refusal); };
    peer.go();
    other.send(get("/a"));  // comes in the same turn
    BOOST_TEST(run_until([&] { return handler.handled == 1; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
