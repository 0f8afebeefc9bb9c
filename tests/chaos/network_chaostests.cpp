// The network between sidecar and PostgreSQL fails in each of its ways, under load: the window goes on being given out,
// no ID comes twice, and when the network is back, so is the sidecar, by itself.
#include <boost/test/unit_test.hpp>

#include "tests/chaos/id_takers.h"
#include "tests/support/tcp_gate.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct NetworkFixture {
    std::string sequence = new_sequence();
    TcpGate gate{shared_postgres().port()};
    std::unique_ptr<SidecarProcess> sidecar;

    void start(SidecarSettings settings = {}) {
        settings.emplace("PG_PORT", gate.port());
        sidecar = short_sidecar(sequence, settings);
        sidecar->start_ready();
    }
    void start_filled(int ids) {
        start({{"NEXT_ID_WINDOW_MIN", std::to_string(ids)},
               {"NEXT_ID_WINDOW_MAX", std::to_string(ids)},
               {"NEXT_ID_DB_IDLE_CLOSE", "1h"}});
        BOOST_REQUIRE(wait_until([&] { return left() == ids; }));
    }
    int left() const { return std::stoi(sidecar->status("ids_left")); }
    bool connection_is_closed() const {
        return wait_until([&] { return gate.connections() == 0; });
    }
};

// Takes as many, and every one must come at once.
Ids take_at_once(const SidecarProcess& sidecar, int number) {
    TestClient client{sidecar.http()};
    Ids ids;
    for (int i = 0; i < number; ++i) ids.push_back(id_of(client.get("/next-id", 1s)));
    return ids;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(network_chaostests, NetworkFixture)

BOOST_AUTO_TEST_CASE(cut_silently_with_a_statement_under_way_nothing_more_is_opened_and_the_late_answer_counts) {
    start_filled(5000);
    take_at_once(*sidecar, 1);
    gate.cut();
    gate.reset();
    Ids ids = take_at_once(*sidecar, 4999);  // the whole window, though the refill hangs
    BOOST_CHECK(sidecar->wait_for_log("PostgreSQL has not answered for 1 s"));
    IdTakers takers{{sidecar->http(), sidecar->socket()}};
    BOOST_CHECK(wait_until([&] { return takers.refused() >= 100; }));
    BOOST_CHECK_LE(gate.connections_most(), 1U);
    BOOST_CHECK_LE(gate.connections_made(), 1U);
    gate.open();
    BOOST_CHECK(takers.get_more());
    BOOST_CHECK(sidecar->wait_for_log("PostgreSQL has answered the late statement"));
    BOOST_CHECK_LE(gate.connections_made(), 1U);
    append(ids, takers.stop());
    BOOST_CHECK_EQUAL(count_repeated(ids), 0U);
}

BOOST_AUTO_TEST_CASE(cut_silently_before_connecting_it_tries_one_at_a_time_and_more_and_more_seldom) {
    start({{"NEXT_ID_DB_TIMEOUT", "200ms"}, {"NEXT_ID_DB_IDLE_CLOSE", "100ms"}});
    BOOST_REQUIRE(connection_is_closed());
    gate.reset();
    gate.cut();
    const auto begin = Clock::now();
    IdTakers takers{{sidecar->http(), sidecar->socket()}, 4};
    BOOST_CHECK(wait_until([&] { return gate.connections_made() >= 6; }, 60s));
    const auto six_tries = Clock::now() - begin;
    BOOST_CHECK_EQUAL(gate.connections_most(), 1U);
    BOOST_CHECK_MESSAGE(six_tries > 1200ms,
                        "six tries took " << six_tries / 1ms << " ms: each has 200 ms, and backs off");
    BOOST_CHECK(sidecar->log().find("not connected within 200 ms") != std::string::npos);
    gate.open();
    BOOST_CHECK(takers.get_more());
    BOOST_CHECK_EQUAL(count_repeated(takers.stop()), 0U);
    BOOST_CHECK_LE(std::stoi(shared_postgres().psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                                                    "'next-id' AND backend_type = 'client backend'")),
                   1);
}

BOOST_AUTO_TEST_CASE(connections_that_are_dropped_again_and_again_cost_gaps_at_worst) {
    start();
    IdTakers takers{{sidecar->http(), sidecar->socket()}};
    for (int i = 0; i < 10 * times_longer(20); ++i) {
        BOOST_REQUIRE(takers.get_more(500));
        gate.close_all();
    }
    BOOST_CHECK(takers.get_more());
    BOOST_CHECK_EQUAL(count_repeated(takers.stop()), 0U);
}

BOOST_AUTO_TEST_CASE(a_slow_network_delays_no_answer_that_the_window_has) {
    start_filled(5000);
    gate.slow(150ms);
    Ids ids;
    for (int round = 0; round < 3; ++round) {
        append(ids, take_at_once(*sidecar, 3000));
        BOOST_REQUIRE(wait_until([&] { return left() >= 4000; }));
    }
    IdTakers takers{{sidecar->http(), sidecar->socket()}};
    BOOST_CHECK(takers.get_more(20'000));
    gate.slow(0ms);
    BOOST_CHECK(takers.get_more());
    append(ids, takers.stop());
    BOOST_CHECK_EQUAL(count_repeated(ids), 0U);
}

BOOST_AUTO_TEST_CASE(a_network_slower_than_the_deadline_still_brings_ids) {
    start({{"NEXT_ID_WINDOW_MIN", "20000"}, {"NEXT_ID_DB_IDLE_CLOSE", "1h"}});  // connecting takes more than 1 s, too
    IdTakers takers{{sidecar->http()}};
    gate.slow(700ms);  // there and back: later than the deadline of a statement
    BOOST_CHECK(sidecar->wait_for_log("PostgreSQL has answered the late statement"));
    BOOST_CHECK(takers.get_more());
    gate.open();
    BOOST_CHECK(takers.get_more());
    BOOST_CHECK_EQUAL(count_repeated(takers.stop()), 0U);
}

// PostgreSQL sends its answer when it has committed, so the values are gone; but nobody can know that who has not read
// it to its end.
BOOST_AUTO_TEST_CASE(what_an_answer_reserved_that_broke_off_is_never_given_out) {
    start_filled(2000);
    take_at_once(*sidecar, 1);
    const std::size_t whole = gate.answer_bytes();
    BOOST_REQUIRE_GT(whole, 100U);
    constexpr std::size_t before_ready = 1'000'000;
    Ids ids;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, whole / 2, before_ready}) {
        BOOST_TEST_CONTEXT(bytes << " of about " << whole << " bytes") {
            const std::int64_t before = last_value(sequence);
            const std::size_t broken = gate.answers_broken();
            bytes == before_ready ? gate.close_before_ready() : gate.close_within_answers(bytes);
            append(ids, take_at_once(*sidecar, left() - 300));
            BOOST_REQUIRE(wait_until([&] { return gate.answers_broken() >= broken + 2; }));
            append(ids, take_at_once(*sidecar, 290));
            const std::int64_t lost = last_value(sequence);
            gate.open();
            BOOST_REQUIRE(wait_until([&] { return left() >= 1800; }));
            append(ids, take_at_once(*sidecar, 600));
            BOOST_CHECK_EQUAL(
                std::count_if(ids.begin(), ids.end(), [&](std::int64_t id) { return id > before && id <= lost; }), 0);
        }
    }
    BOOST_CHECK_EQUAL(count_repeated(ids), 0U);
}

BOOST_AUTO_TEST_CASE(answers_that_break_off_anywhere_under_load_repeat_no_id) {
    start();
    IdTakers takers{{sidecar->http(), sidecar->socket()}};
    BOOST_REQUIRE(takers.get_more());
    for (int i = 0; i < 8 * times_longer(20); ++i) {
        const std::size_t broken = gate.answers_broken();
        gate.close_within_answers(std::size_t(i % 8) * gate.answer_bytes() / 8);
        BOOST_REQUIRE(wait_until([&] { return gate.answers_broken() > broken; }));
        gate.open();
        BOOST_REQUIRE(takers.get_more(5000));
    }
    BOOST_CHECK_EQUAL(count_repeated(takers.stop()), 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
