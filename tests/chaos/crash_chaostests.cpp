// PostgreSQL crashes and comes back, again and again, under load: no ID comes twice, from two sidecars and from others
// that take values of the same sequence. And that these tests see the faults that they are for.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>

#include "tests/chaos/adversity.h"
#include "tests/chaos/callers.h"
#include "tests/chaos/ledger.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

std::string conninfo(const PgCluster& cluster) {
    return "host=127.0.0.1 port=" + cluster.port() + " dbname=postgres user=postgres";
}

// At any moment of what goes on, and not always of the same.
void wait_for_any_moment() {
    static std::mt19937 random{std::random_device{}()};
    std::this_thread::sleep_for(std::chrono::milliseconds{300 + random() % 400});
}

struct Beside {  // sessions of other programs
    int plain, safe;
};

void crash_under_load(const PgCluster::Options& options, std::int64_t block, Beside beside) {
    const int rounds = long_form() ? 30 : 5, times = long_form() ? 2 : 1;
    PgCluster cluster{options};
    cluster.psql(sequence_of(block));
    SidecarProcess one{cluster, always_reserving(block)}, two{cluster, always_reserving(block)};
    one.start_ready();
    two.start_ready();
    Ledger ledger{block};
    for (int round = 0; round < rounds; ++round) {
        Load first{one.socket(), 16, 1.5}, second{two.http(), 16, 1.5};
        Callers plain{conninfo(cluster), Callers::plain, beside.plain * times},
            safe{conninfo(cluster), Callers::with_message, beside.safe * times};
        wait_for_any_moment();
        cluster.stop(PgStop::immediate);
        plain.stop();
        ledger.add_values(safe.stop());
        {
            const Frozen frozen{{&one, &two}};
            cluster.start();
            BOOST_TEST(last_value(cluster) >= std::max(ledger.highest_value(), frozen.highest_reserved()));
        }
        first.wait();
        second.wait();
        ledger.add_sidecar(0, first.ids());
        ledger.add_sidecar(1, second.ids());
        for (const SidecarProcess* sidecar : {&one, &two})
            BOOST_REQUIRE_EQUAL(TestClient{sidecar->http()}.get("/next-id").status, 200);
    }
    BOOST_TEST_MESSAGE(ledger.ids() << " IDs from the sidecars, " << ledger.values() << " values beside them");
    BOOST_TEST(ledger.ids() > 100U * unsigned(rounds));
    BOOST_TEST(ledger.values() >= 10U * unsigned(rounds * beside.safe));
    BOOST_TEST(ledger.repeated() == 0U);
    for (const SidecarProcess* sidecar : {&one, &two})  // whose guard would hide a fault of its own reservations
        BOOST_TEST(sidecar->log().find("went back") == std::string::npos);
}

// How many crashes it takes until a value comes twice; 0 when it never does. Writes so slow, and more sessions than a
// record has values (33): so there is hardly a moment when no record of the sequence is on its way to the disk.
int crashes_until_repeated(const char* statement, Callers::Take when) {
    constexpr int rounds_max = 30, sessions = 40, write_us = 20'000;
    PgCluster cluster{slow_postgres(write_us)};
    cluster.psql(sequence_of(1));
    Ledger ledger;
    for (int round = 1; round <= rounds_max; ++round) {
        Callers callers{conninfo(cluster), statement, sessions, when};
        std::this_thread::sleep_for(200ms);
        cluster.restart(PgStop::immediate);
        std::this_thread::sleep_for(100ms);
        ledger.add_values(callers.stop());
        if (ledger.repeated() != 0) {
            BOOST_TEST_MESSAGE(ledger.repeated()
                               << " of " << ledger.values() << " values repeated after crash " << round);
            return round;
        }
    }
    return 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crash_chaostests)

BOOST_AUTO_TEST_CASE(no_id_comes_twice_though_postgresql_crashes) {
    for (const std::int64_t block : long_form() ? std::vector{1, 50} : std::vector{1})
        crash_under_load(lazy_postgres(), block, {.plain = 6, .safe = 2});
}

// No program but the sidecars waits for the log, so that nothing of theirs is saved by others.
BOOST_AUTO_TEST_CASE(no_id_comes_twice_with_synchronous_commit_off) {
    for (const std::int64_t block : long_form() ? std::vector{50, 1} : std::vector{50})
        crash_under_load(lazy_postgres({"synchronous_commit = off"}), block, {.plain = 8, .safe = 0});
}

BOOST_AUTO_TEST_CASE(no_id_comes_twice_when_the_log_is_written_slowly) {
    for (const std::int64_t block : long_form() ? std::vector{50, 1} : std::vector{50})
        crash_under_load(slow_postgres(), block, {.plain = 6, .safe = 2});
}

// What the tests above would miss, were they blind: a value that is not known to be safe does come twice.
BOOST_AUTO_TEST_CASE(without_the_message_values_come_twice) {
    for (const char* statement : {Callers::plain, Callers::with_xid})
        BOOST_TEST(crashes_until_repeated(statement, Callers::Take::ready_for_query) > 0, statement);
}

BOOST_AUTO_TEST_CASE(taken_at_command_complete_values_come_twice) {
    BOOST_TEST(crashes_until_repeated(Callers::with_message, Callers::Take::command_complete) > 0);
}

BOOST_AUTO_TEST_CASE(the_log_is_written_slowly_indeed) {
    const PgCluster cluster{slow_postgres()};
    const Session session = connect(cluster);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) run(session, "SELECT pg_logical_emit_message(true, 'test', '')");
    BOOST_TEST((std::chrono::steady_clock::now() - begin >= 50ms));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
