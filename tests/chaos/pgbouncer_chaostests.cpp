// pgbouncer in transaction mode between sidecar and PostgreSQL: each statement may meet another session, and either may
// be restarted.
#include <boost/test/unit_test.hpp>

#include "tests/chaos/id_takers.h"
#include "tests/support/pgbouncer.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

struct PgBouncerFixture {
    PgBouncer pgbouncer{shared_postgres()};

    std::unique_ptr<SidecarProcess> behind(const std::string& sequence, SidecarSettings settings = {}) const {
        settings.emplace("PG_PORT", pgbouncer.port());
        settings.emplace("NEXT_ID_WAIT_MAX", "20s");
        return short_sidecar(sequence, settings);
    }
};

// Two sidecars, over a third session's nextval() too.
Ids take_from(SidecarProcess& one, SidecarProcess& two, const std::string& sequence, std::uint64_t ids) {
    NextvalCaller caller{sequence};
    IdTakers takers{{one.socket(), two.http()}};
    BOOST_CHECK(takers.get_more(ids, 60s));
    BOOST_CHECK_EQUAL(takers.refused(), 0U);
    Ids all = takers.stop();
    append(all, caller.stop());
    return all;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pgbouncer_chaostests, PgBouncerFixture)

BOOST_AUTO_TEST_CASE(it_works_behind_pgbouncer_and_no_id_comes_twice) {
    const std::string sequence = new_sequence();
    const auto one = behind(sequence), two = behind(sequence, {{"NEXT_ID_DB_IDLE_CLOSE", "50ms"}});
    one->start_ready();
    two->start_ready();
    BOOST_CHECK_EQUAL(count_repeated(take_from(*one, *two, sequence, std::uint64_t(40'000) * times_longer(20))), 0U);
}

BOOST_AUTO_TEST_CASE(strict_order_works_behind_pgbouncer) {
    const std::string sequence = new_sequence();
    const auto one = behind(sequence, {{"NEXT_ID_ORDER", "strict"}});
    const auto two = behind(sequence, {{"NEXT_ID_ORDER", "strict"}});
    one->start_ready();
    two->start_ready();
    TestClient ask_one{one->http()}, ask_two{two->http()};
    std::int64_t last = 0;
    for (int i = 0; i < 200; ++i)
        for (TestClient* client : {&ask_one, &ask_two}) {
            const std::int64_t id = id_of(client->get("/next-id"));
            BOOST_REQUIRE_GT(id, last);
            last = id;
        }
}

int ids_left(SidecarProcess& sidecar) {
    return std::stoi(sidecar.status("ids_left"));
}

BOOST_AUTO_TEST_CASE(pgbouncer_is_restarted_under_load) {
    const std::string sequence = new_sequence();
    const SidecarSettings window{{"NEXT_ID_WINDOW_MIN", "5000"}};
    const auto one = behind(sequence, window), two = behind(sequence, window);
    one->start_ready();
    two->start_ready();
    IdTakers takers{{one->socket(), two->http()}, 2, 500us};
    for (int i = 0; i < 4 * times_longer(20); ++i) {
        BOOST_REQUIRE(takers.get_more(8000));  // more than the windows: either has refilled
        // And holds more than what is taken while pgbouncer is away.
        BOOST_REQUIRE(wait_until([&] { return ids_left(*one) > 2000 && ids_left(*two) > 2000; }));
        pgbouncer.stop();
        BOOST_REQUIRE(takers.get_more(1000));
        pgbouncer.start();
    }
    BOOST_CHECK(takers.get_more(12'000));
    BOOST_CHECK_EQUAL(takers.refused(), 0U);
    BOOST_CHECK_EQUAL(count_repeated(takers.stop()), 0U);
}

BOOST_AUTO_TEST_CASE(postgresql_behind_pgbouncer_is_restarted_under_load) {
    const std::string sequence = new_sequence();
    const auto one = behind(sequence), two = behind(sequence);
    one->start_ready();
    two->start_ready();
    IdTakers takers{{one->socket(), two->http()}};
    for (int i = 0; i < 3 * times_longer(20); ++i) {
        BOOST_REQUIRE(takers.get_more(3000));
        shared_postgres().restart(i % 2 == 0 ? PgStop::fast : PgStop::immediate);
    }
    BOOST_CHECK(takers.get_more(20'000));
    BOOST_CHECK_EQUAL(takers.refused(), 0U);
    BOOST_CHECK_EQUAL(count_repeated(takers.stop()), 0U);
}

// With CACHE above 1 each session of PostgreSQL hands out values of its own, and pgbouncer deals sessions at random.
BOOST_AUTO_TEST_CASE(cached_values_of_shared_sessions_come_once) {
    const std::string sequence = new_sequence("CACHE 100");
    const auto one = behind(sequence), two = behind(sequence);
    one->start_ready();
    two->start_ready();
    BOOST_CHECK_EQUAL(count_repeated(take_from(*one, *two, sequence, std::uint64_t(30'000) * times_longer(20))), 0U);
}

BOOST_AUTO_TEST_CASE(cached_values_come_once_without_pgbouncer_too_and_beside_it) {
    const std::string sequence = new_sequence("CACHE 100");
    const auto one = behind(sequence),
               two = short_sidecar(sequence, {{"NEXT_ID_DB_IDLE_CLOSE", "50ms"}, {"NEXT_ID_WAIT_MAX", "20s"}});
    one->start_ready();
    two->start_ready();
    Ids ids = take_from(*one, *two, sequence, std::uint64_t(30'000) * times_longer(20));
    const auto three = short_sidecar(sequence, {{"NEXT_ID_WAIT_MAX", "20s"}});
    three->start_ready();
    append(ids, take_from(*two, *three, sequence, std::uint64_t(30'000) * times_longer(20)));
    BOOST_CHECK_EQUAL(count_repeated(ids), 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
