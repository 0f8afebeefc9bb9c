// PostgreSQL crashes and comes back, again and again, under load: no ID comes twice, from two sidecars and from others
// that take values of the same sequence. And that these tests see the faults that they are for.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>

#include "tests/chaos/callers.h"
#include "tests/chaos/ledger.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

// Nothing is safe by luck: only commits write the log.
const std::vector<std::string> lazy{"wal_writer_delay = 10s", "checkpoint_timeout = 1h", "autovacuum = off"};

PgCluster::Options lazy_and(const std::string& setting) {
    PgCluster::Options options{.settings = lazy};
    options.settings.push_back(setting);
    return options;
}

PgCluster::Options slow() {
    return {.settings = lazy, .environment = {"LD_PRELOAD=" NEXT_ID_SLOW_WAL, "SLOW_WAL_US=1000"}};
}

std::string conninfo(const PgCluster& cluster) {
    return "host=127.0.0.1 port=" + cluster.port() + " dbname=postgres user=postgres";
}

void create_sequence(const PgCluster& cluster, std::int64_t block) {
    const std::string number = std::to_string(block);
    cluster.psql("CREATE SEQUENCE ids START " + number + " INCREMENT " + number);
}

// At any moment of what goes on, and not always of the same.
void wait_for_any_moment() {
    static std::mt19937 random{std::random_device{}()};
    std::this_thread::sleep_for(std::chrono::milliseconds{300 + random() % 400});
}

// With so small a window they reserve all the time: a block or ten IDs at once, each a chance for what a crash loses.
SidecarSettings always_reserving(std::int64_t block) {
    return {{"PG_SEQUENCE", "ids"},
            {"NEXT_ID_INCREMENT", block == 1 ? "step" : "block"},
            {"NEXT_ID_WINDOW_MIN", std::to_string(block == 1 ? 10 : block)},
            {"NEXT_ID_WINDOW_MAX", std::to_string(block == 1 ? 20 : 2 * block)},
            {"NEXT_ID_WAIT_MAX", "20s"}};
}

void crash_under_load(const PgCluster::Options& options, std::int64_t block) {
    const int rounds = long_form() ? 30 : 5, sessions = long_form() ? 8 : 4;
    PgCluster cluster{options};
    create_sequence(cluster, block);
    SidecarProcess one{cluster, always_reserving(block)}, two{cluster, always_reserving(block)};
    one.start_ready();
    two.start_ready();
    Callers plain{conninfo(cluster), Callers::plain, sessions},
        safe{conninfo(cluster), Callers::with_message, sessions};
    Ledger ledger{block};
    for (int round = 0; round < rounds; ++round) {
        Load first{one.socket(), 16, 1.5}, second{two.http(), 16, 1.5};
        wait_for_any_moment();
        cluster.restart(PgStop::immediate);
        first.wait();
        second.wait();
        ledger.add_sidecar(0, first.ids());
        ledger.add_sidecar(1, second.ids());
        for (const SidecarProcess* sidecar : {&one, &two})
            BOOST_REQUIRE_EQUAL(TestClient{sidecar->http()}.get("/next-id").status, 200);
    }
    plain.stop();
    ledger.add_values(safe.stop());
    BOOST_TEST_MESSAGE(ledger.ids() << " IDs from the sidecars, " << ledger.values() << " values beside them");
    BOOST_TEST(ledger.ids() > 100U * unsigned(rounds));
    BOOST_TEST(ledger.values() > 100U * unsigned(rounds));
    BOOST_TEST(ledger.repeated() == 0U);
    for (const SidecarProcess* sidecar : {&one, &two})  // whose guard would hide a fault of its own reservations
        BOOST_TEST(sidecar->log().find("went back") == std::string::npos);
}

// How many crashes it takes until a value comes twice; 0 when it never does.
int crashes_until_repeated(const PgCluster::Options& options, const char* statement, Callers::Take when) {
    constexpr int rounds_max = 30;
    PgCluster cluster{options};
    create_sequence(cluster, 1);
    Ledger ledger;
    for (int round = 1; round <= rounds_max; ++round) {
        Callers callers{conninfo(cluster), statement, 8, when};
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
    crash_under_load({.settings = lazy}, 1);
    if (long_form()) crash_under_load({.settings = lazy}, 50);
}

BOOST_AUTO_TEST_CASE(no_id_comes_twice_with_synchronous_commit_off) {
    crash_under_load(lazy_and("synchronous_commit = off"), 50);
    if (long_form()) crash_under_load(lazy_and("synchronous_commit = off"), 1);
}

BOOST_AUTO_TEST_CASE(no_id_comes_twice_when_the_log_is_written_slowly) {
    crash_under_load(slow(), 50);
    if (long_form()) crash_under_load(slow(), 1);
}

// What the tests above would miss, were they blind: a value that is not known to be safe does come twice.
BOOST_AUTO_TEST_CASE(without_the_message_values_come_twice) {
    for (const char* statement : {Callers::plain, Callers::with_xid})
        BOOST_TEST(crashes_until_repeated(slow(), statement, Callers::Take::ready_for_query) > 0, statement);
}

BOOST_AUTO_TEST_CASE(taken_at_command_complete_values_come_twice) {
    BOOST_TEST(crashes_until_repeated(slow(), Callers::with_message, Callers::Take::command_complete) > 0);
}

BOOST_AUTO_TEST_CASE(the_log_is_written_slowly_indeed) {
    const PgCluster cluster{slow()};
    const Session session = connect(cluster);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) run(session, "SELECT pg_logical_emit_message(true, 'test', '')");
    BOOST_TEST((std::chrono::steady_clock::now() - begin >= 50ms));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
