#include "sidecar/serve/id_handler.h"

#include <boost/test/unit_test.hpp>
#include <optional>

#include "sidecar/serve/connection_set.h"
#include "tests/api/supply_fixture.h"
#include "tests/serve/connection_fixture.h"

namespace next_id {
namespace {

struct HandlerFixture : SupplyFixture, LoopFixture {
    HandlerFixture()
        : SupplyFixture{[this](const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
              last_request = waiter.request;
              handler.deliver(waiter.request, result, ranges);
          }} {}
    ~HandlerFixture() { connections.reset(); }

    Peer connect() {
        auto [peer, descriptor] = unix_pair();
        connections->adopt({FileDescriptor{descriptor}});
        return std::move(peer);
    }
    bool run_until_waiting(std::size_t count) {
        return run_until([&] { return supply.waiting().size() == count; });
    }
    bool run_until_answer(Peer& peer) {
        return run_until([&] { return peer.read(), !answers_in(peer.received).empty(); });
    }

    // How many answers with these statuses have been counted, of all those by HTTP over TCP.
    std::vector<std::uint64_t> counted(const std::vector<int>& codes) const {
        std::vector<std::uint64_t> counts(codes.size());
        for (std::size_t i = 0; i < codes.size(); ++i)
            for (std::size_t place = 0; place < answer_codes.size(); ++place)
                if (answer_codes[place] == codes[i])
                    counts[i] = handler.counters().requests(ListenerName::http).answers(place);
        return counts;
    }
    const WaitCounters& waits() const { return handler.counters().waits(0); }
    std::uint64_t ids() const { return handler.counters().requests(ListenerName::http).ids(0); }

    IdHandler handler{IdService{{&supply}, {{"app.ids"}, 1'000'000}}, 7, std::chrono::seconds{3}};
    std::optional<ConnectionSet> connections{std::in_place, &loop, handler};
    std::uint64_t last_request = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(id_handler_tests, HandlerFixture)

BOOST_AUTO_TEST_CASE(a_dry_window_keeps_the_request_and_wakes_the_refill) {
    const Instant before = Clock::now();
    Peer peer = connect();
    peer.send(get("/next-id?count=3"));
    BOOST_TEST(run_until_waiting(1));
    BOOST_TEST(run_until([&] { return rings == 1; }));
    BOOST_TEST(supply.waiting().demand() == 3);
    BOOST_TEST((supply.waiting().next_deadline() >= before + std::chrono::seconds{3}));
    BOOST_TEST((supply.waiting().next_deadline() <= Clock::now() + std::chrono::seconds{3}));

    publish(5, 3);
    serve_waiting();
    BOOST_TEST(run_until_answer(peer));
    BOOST_TEST(bodies_in(peer.received) == "{\"code\":0,\"msg\":\"success\",\"data\":{\"ids\":[5,6,7]}}\n");
}

BOOST_AUTO_TEST_CASE(those_who_wait_are_served_in_their_order) {
    Peer one = connect(), two = connect();
    one.send(get("/next-id?format=text"));
    BOOST_TEST(run_until_waiting(1));
    two.send(get("/next-id?format=text"));
    BOOST_TEST(run_until_waiting(2));
    publish(1, 10);
    serve_waiting();
    BOOST_TEST(run_until_answer(two));
    BOOST_TEST(run_until_answer(one));
    BOOST_TEST(bodies_in(one.received) == "1\n");
    BOOST_TEST(bodies_in(two.received) == "2\n");
}

BOOST_AUTO_TEST_CASE(a_wait_that_expires_ends_in_503) {
    Peer peer = connect();
    peer.send(get("/next-id") + get("/nope"));
    BOOST_TEST(run_until_waiting(1));
    supply.waiting().expire(Clock::now() + std::chrono::seconds{4}, supply.deliver());
    BOOST_TEST_REQUIRE(run_until([&] { return peer.read(), answers_in(peer.received).size() == 2; }));
    const auto answers = answers_in(peer.received);
    BOOST_TEST(answers.at(0).status == 503);
    BOOST_TEST(answers.at(0).head.find("Retry-After: 1\r\n") != std::string::npos);
    BOOST_TEST(!answers.at(0).closes());
    BOOST_TEST(answers.at(1).status == 404);  // the connection goes on
}

BOOST_AUTO_TEST_CASE(a_batch_that_no_window_can_hold_ends_in_503) {
    Peer peer = connect();
    peer.send(get("/next-id?count=1000"));
    BOOST_TEST(run_until_waiting(1));
    for (std::int64_t i = 0; i < 8; ++i) publish(i * 1000, 1);  // the ring is full
    serve_waiting();
    BOOST_TEST(run_until_answer(peer));
    BOOST_TEST(answers_in(peer.received).at(0).status == 503);
    BOOST_TEST(answers_in(peer.received).at(0).body.find("ask for fewer") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(when_too_many_wait_the_next_is_refused_at_once) {
    for (std::size_t i = 0; i < WaitingList::waiting_max_default; ++i) supply.waiting().park({});
    Peer peer = connect();
    peer.send(get("/next-id"));
    BOOST_TEST(run_until_answer(peer));
    BOOST_TEST(answers_in(peer.received).at(0).status == 503);
    BOOST_TEST(answers_in(peer.received).at(0).body.find("too many requests wait") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_connection_that_ends_waits_no_more) {
    Peer one = connect(), two = connect();
    one.send(get("/next-id"));
    two.send(get("/next-id"));
    BOOST_TEST(run_until_waiting(2));
    connections.reset();
    BOOST_TEST(supply.waiting().size() == 0);
}

BOOST_AUTO_TEST_CASE(what_is_delivered_to_a_connection_that_is_gone_is_dropped) {
    Peer peer = connect();
    peer.send(get("/next-id"));
    BOOST_TEST(run_until_waiting(1));
    publish(1, 1);
    serve_waiting();
    const Range range{1, 1, 1};
    handler.deliver(last_request, WaitResult::served, {&range, 1});  // a second time
    handler.deliver(4711, WaitResult::failed, {});
    BOOST_TEST(run_until_answer(peer));
    settle();
    BOOST_TEST(answers_in(peer.received).size() == 1);
}

BOOST_AUTO_TEST_CASE(a_request_that_was_parked_before_a_drain_says_close_in_its_answer) {
    Peer peer = connect();
    peer.send(get("/next-id"));
    BOOST_TEST(run_until_waiting(1));
    connections->drain([] {});
    publish(1, 1);
    serve_waiting();
    BOOST_TEST(run_until_answer(peer));
    BOOST_TEST(answers_in(peer.received).at(0).closes());
}

BOOST_AUTO_TEST_CASE(every_answer_and_every_id_is_counted_once) {
    publish(1, 100);
    Peer peer = connect();
    peer.send(get("/next-id") + get("/next-id?count=7") + get("/nope") + get("/next-id?count=x") +
              "HEAD /next-id HTTP/1.1\r\nHost: a\r\n\r\n" + "DELETE /next-id HTTP/1.1\r\nHost: a\r\n\r\n" +
              "GET /next-id HTTP/1.1\r\n\r\n");  // the last has no Host, which ends the connection
    BOOST_TEST(run_until([&] { return peer.read(), peer.ended; }));
    BOOST_TEST(counted({200, 400, 404, 405, 503}) == (std::vector<std::uint64_t>{3, 2, 1, 1, 0}),
               boost::test_tools::per_element());
    BOOST_TEST(ids() == 8U);
    BOOST_TEST(handler.counters().requests(ListenerName::http).durations().read().count() == 7U);
    BOOST_TEST(handler.counters().requests(ListenerName::socket).durations().read().count() == 0U);
}

BOOST_AUTO_TEST_CASE(what_waits_is_counted_and_timed_by_itself) {
    Peer peer = connect();
    peer.send(get("/next-id?count=3"));
    BOOST_TEST(run_until_waiting(1));
    BOOST_TEST(waits().waited.value() == 1U);
    BOOST_TEST(counted({200}).front() == 0U);
    publish(5, 3);
    serve_waiting();
    BOOST_TEST(run_until_answer(peer));
    BOOST_TEST(counted({200}).front() == 1U);
    BOOST_TEST(ids() == 3U);
    BOOST_TEST(waits().dry.value() == 0U);
    BOOST_TEST(handler.counters().requests(ListenerName::http).durations().read().count() == 1U);
}

BOOST_AUTO_TEST_CASE(only_what_got_no_id_in_time_is_counted_as_dry) {
    Peer expired = connect();
    expired.send(get("/next-id"));
    BOOST_TEST(run_until_waiting(1));
    supply.waiting().expire(Clock::now() + std::chrono::seconds{4}, supply.deliver());
    BOOST_TEST(run_until_answer(expired));
    BOOST_TEST(waits().dry.value() == 1U);

    Peer too_large = connect();
    too_large.send(get("/next-id?count=1000"));
    BOOST_TEST(run_until_waiting(1));
    for (std::int64_t i = 0; i < 8; ++i) publish(i * 1000, 1);  // the ring is full
    serve_waiting();
    BOOST_TEST(run_until_answer(too_large));
    BOOST_TEST(waits().dry.value() == 1U);

    for (std::size_t i = 0; i < WaitingList::waiting_max_default; ++i) supply.waiting().park({});
    Peer beyond = connect();
    beyond.send(get("/next-id"));
    BOOST_TEST(run_until_answer(beyond));
    BOOST_TEST(waits().dry.value() == 2U);
    BOOST_TEST(waits().waited.value() == 2U);
    BOOST_TEST(counted({200, 503}) == (std::vector<std::uint64_t>{0, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
