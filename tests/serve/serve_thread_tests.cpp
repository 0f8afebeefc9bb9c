#include "sidecar/serve/serve_thread.h"

#include <poll.h>

#include <boost/test/unit_test.hpp>
#include <optional>
#include <set>

#include "sidecar/serve/socket.h"
#include "tests/api/supply_fixture.h"
#include "tests/serve/connection_fixture.h"

namespace next_id {
namespace {

// Looks again and again, from outside the thread.
template <class Condition>
bool eventually(Condition condition) {
    const Instant deadline = Clock::now() + patience;
    while (!condition()) {
        if (Clock::now() > deadline) return false;
        ::poll(nullptr, 0, 1);
    }
    return true;
}

bool eventually_answers(Peer& peer, std::size_t count) {
    return eventually([&] { return peer.read(), answers_in(peer.received).size() >= count; });
}

struct ThreadFixture : SupplyFixture {
    ThreadFixture()
        : SupplyFixture{[this](const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
              thread->deliver(waiter.request, result, ranges);
          }} {
        std::signal(SIGPIPE, SIG_IGN);
        thread.emplace(IdHandler{IdService{{&supply}, {{"app.ids"}, 1'000'000}}, 0, std::chrono::seconds{3}});
    }

    Peer connect() {
        auto [peer, descriptor] = unix_pair();
        thread->adopt({FileDescriptor{descriptor}});
        return std::move(peer);
    }
    // A connection whose request waits for IDs.
    Peer parked() {
        const std::size_t before = supply.waiting().size();
        Peer peer = connect();
        peer.send(get("/next-id?format=text"));
        BOOST_TEST(eventually([&] { return supply.waiting().size() == before + 1; }));
        return peer;
    }
    void drain() {
        thread->drain([this] { ++drained; });
    }

    std::optional<ServeThread> thread;
    std::atomic<unsigned> drained = 0;
};

std::vector<std::string> ids_in(const Peer& peer) {
    std::vector<std::string> ids;
    for (const Answer& answer : answers_in(peer.received)) ids.push_back(answer.body);
    return ids;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(serve_thread_tests, ThreadFixture)

BOOST_AUTO_TEST_CASE(it_serves_what_other_threads_hand_it) {
    publish(1, 10'000);
    thread->start();
    constexpr std::size_t givers = 4, each = 50;
    std::vector<std::vector<Peer>> peers(givers);
    std::vector<std::thread> threads;
    for (auto& mine : peers)
        threads.emplace_back([&] {
            for (std::size_t i = 0; i < each; ++i) {
                int ends[2];
                if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return;
                thread->adopt({FileDescriptor{ends[1]}});
                mine.emplace_back(ends[0]);
                mine.back().send(get("/next-id?format=text") + get("/next-id?format=text"));
            }
        });
    for (std::thread& giver : threads) giver.join();
    std::set<std::string> ids;
    for (auto& mine : peers)
        for (Peer& peer : mine) {
            BOOST_TEST_REQUIRE(eventually_answers(peer, 2));
            for (const std::string& id : ids_in(peer)) ids.insert(id);
        }
    BOOST_TEST(ids.size() == givers * each * 2);
}

BOOST_AUTO_TEST_CASE(what_it_parked_is_answered_when_delivered) {
    thread->start();
    Peer one = parked(), two = parked();
    BOOST_TEST(rings >= 2U);
    publish(1, 10);
    serve_waiting();
    BOOST_TEST(eventually_answers(one, 1));
    BOOST_TEST(eventually_answers(two, 1));
    BOOST_TEST(bodies_in(one.received) == "1\n");
    BOOST_TEST(bodies_in(two.received) == "2\n");
}

BOOST_AUTO_TEST_CASE(a_delivery_to_a_client_that_is_gone_hurts_nobody) {
    thread->start();
    Peer gone = parked(), stays = parked();
    gone.go();
    publish(1, 10);
    serve_waiting();
    thread->deliver(4711, WaitResult::failed, {});
    BOOST_TEST(eventually_answers(stays, 1));
    Peer another = connect();
    another.send(get("/next-id"));
    BOOST_TEST(eventually_answers(another, 1));
}

BOOST_AUTO_TEST_CASE(it_accepts_for_others_until_it_drains) {
    auto socket = listen_tcp({"127.0.0.1", 0});
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(socket->get(), reinterpret_cast<sockaddr*>(&address), &size);
    thread->listen(std::move(*socket), {}, [this](Accepted accepted) { thread->adopt(std::move(accepted)); });
    thread->start();
    publish(1, 10);
    const auto client = [&] {
        const int made = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
            return std::optional<Peer>{made};
        close(made);
        return std::optional<Peer>{};
    };
    auto peer = client();
    BOOST_TEST_REQUIRE(peer.has_value());
    peer->send(get("/next-id"));
    BOOST_TEST(eventually_answers(*peer, 1));
    drain();
    BOOST_TEST(eventually([&] { return drained == 1; }));
    BOOST_TEST(peer->over());
    BOOST_TEST(!client().has_value());
}

BOOST_AUTO_TEST_CASE(a_drain_answers_what_waits_and_tells_once) {
    thread->start();
    Peer idle = connect(), waits = parked();
    drain();
    BOOST_TEST(eventually([&] { return idle.over(); }));
    BOOST_TEST(drained == 0);
    publish(1, 1);
    serve_waiting();
    BOOST_TEST(eventually_answers(waits, 1));
    BOOST_TEST(answers_in(waits.received)[0].closes());
    waits.go();
    BOOST_TEST(eventually([&] { return drained != 0; }));

    Peer late = connect();
    BOOST_TEST(eventually([&] { return late.over(); }));
    BOOST_TEST(drained == 1);
}

BOOST_AUTO_TEST_CASE(a_drain_of_many_idle_connections_tells_once) {
    thread->start();
    std::vector<Peer> peers;
    for (int i = 0; i < 50; ++i) peers.push_back(connect());
    drain();
    for (Peer& peer : peers) BOOST_TEST(eventually([&] { return peer.over(); }));
    BOOST_TEST(eventually([&] { return drained != 0; }));
    thread.reset();
    BOOST_TEST(drained == 1);
}

BOOST_AUTO_TEST_CASE(its_end_closes_whatever_is_open) {
    thread->start();
    Peer idle = connect(), waits = parked(), begun = connect();
    begun.send("GET ");
    thread.reset();
    BOOST_TEST(supply.waiting().size() == 0);
    for (Peer* peer : {&idle, &waits, &begun}) BOOST_TEST(eventually([&] { return peer->over(); }));
}

BOOST_AUTO_TEST_CASE(deliveries_may_come_until_its_end) {
    thread->start();
    std::atomic<bool> stop = false;
    std::thread refill{[&] {
        while (!stop) thread->deliver(4711, WaitResult::failed, {});
    }};
    for (int i = 0; i < 100; ++i) connect();
    stop = true;
    refill.join();
    thread.reset();
}

BOOST_AUTO_TEST_CASE(without_a_start_it_ends_and_closes_what_it_was_handed) {
    Peer peer = connect();
    thread.reset();
    BOOST_TEST(eventually([&] { return peer.over(); }));
}

BOOST_AUTO_TEST_CASE(it_says_when_it_last_turned) {
    const Instant before = Clock::now();
    BOOST_TEST((thread->turned_at() <= before));
    thread->start();
    BOOST_TEST(eventually([&] { return thread->turned_at() >= before; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
