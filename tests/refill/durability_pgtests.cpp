// That a reserved value is never given out again after a crash: the commit of reserve.sql waits for every record of the
// sequence, also for those that other sessions wrote. The WAL writer sleeps, so that nothing is safe by luck.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "tests/refill/pg_sessions.h"
#include "tests/support/run_program.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

struct Sleepy {
    PgCluster cluster{{.settings = {"wal_writer_delay = 10s", "checkpoint_timeout = 1h", "autovacuum = off"}}};
    Sleepy() { cluster.psql("CREATE SEQUENCE s"); }
};

std::int64_t next_value(const PgCluster& cluster) {
    return std::stoll(cluster.psql("SELECT nextval('s')"));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(durability_pgtests, Sleepy)

// Another session has logged the sequence 32 values ahead, and its record is not flushed. reserve.sql takes one of
// those.
BOOST_AUTO_TEST_CASE(a_reserved_value_is_safe_though_another_session_logged_it) {
    for (const char* level : {"on", "off", "local"}) {
        cluster.psql(std::string{"ALTER ROLE postgres SET synchronous_commit = "} + level);
        cluster.psql("CHECKPOINT");  // the next nextval() logs
        const Session other = connect(cluster), session = connect(cluster);
        run(other, "BEGIN");
        run(other, "SELECT nextval('s')");
        const std::int64_t reserved = ranges(reserve(session, "s", 1)).at(0).first;
        cluster.restart(PgStop::immediate);
        BOOST_TEST(next_value(cluster) > reserved, "given out again with synchronous_commit = " << level);
    }
}

// What the statement guards against: should this fail one day, PostgreSQL has changed, and the test above shows
// nothing.
BOOST_AUTO_TEST_CASE(a_plain_nextval_is_not_safe_there) {
    cluster.psql("CHECKPOINT");
    const Session other = connect(cluster), session = connect(cluster);
    run(other, "BEGIN");
    run(other, "SELECT nextval('s')");
    const std::int64_t taken = std::stoll(column(run(session, "SELECT nextval('s') AS v"), "v"));
    cluster.restart(PgStop::immediate);
    BOOST_TEST(next_value(cluster) <= taken);
}

BOOST_AUTO_TEST_CASE(the_message_is_logged_once_a_statement_and_in_its_transaction) {
    const Session session = connect(cluster);
    for (const int values : {1, 1000}) {
        const std::string from = cluster.psql("SELECT pg_current_wal_insert_lsn()");
        reserve(session, "s", values);
        const std::string to = cluster.psql("SELECT pg_current_wal_insert_lsn()");
        const std::string records = run_program({pg_program("pg_waldump"), "-p", cluster.data_dir() + "/pg_wal", "-s",
                                                 from, "-e", to, "-r", "LogicalMessage"})
                                        .output;
        BOOST_TEST(std::count(records.begin(), records.end(), '\n') == 1, records);
        BOOST_TEST(records.find(" transactional, prefix \"next-id\"") != std::string::npos, records);
    }
}

BOOST_AUTO_TEST_CASE(remote_apply_is_kept_and_anything_less_is_raised) {
    const Session session = connect(cluster);
    for (const auto& [set, used] : std::vector<std::pair<std::string, std::string>>{
             {"remote_apply", "remote_apply"}, {"on", "on"}, {"remote_write", "on"}, {"local", "on"}, {"off", "on"}}) {
        run(session, "SET synchronous_commit = " + set);
        run(session, "BEGIN");
        reserve(session, "s", 1);
        BOOST_TEST(column(run(session, "SELECT current_setting('synchronous_commit') AS level"), "level") == used);
        run(session, "COMMIT");
    }
}

BOOST_AUTO_TEST_CASE(no_reserved_id_comes_again_after_crashes_under_load) {
    std::int64_t highest = 0;
    for (int round = 0; round < 6; ++round) {
        std::atomic<std::int64_t> reserved{highest};
        std::atomic<int> statements{0};
        std::vector<std::thread> threads;
        for (int caller = 0; caller < 8; ++caller)
            threads.emplace_back([&, plain = caller % 4 == 3] {
                const Session session = connect(cluster);
                while (PQstatus(session.get()) == CONNECTION_OK) {
                    // PQexecParams() returns at ReadyForQuery, or with the connection lost.
                    const Rows rows = plain ? run(session, "SELECT nextval('s')") : reserve(session, "s", 3);
                    if (plain || PQresultStatus(rows.get()) != PGRES_TUPLES_OK ||
                        PQstatus(session.get()) != CONNECTION_OK)
                        continue;
                    ++statements;
                    for (const Range& range : ranges(rows)) {
                        std::int64_t last = reserved;
                        while (last < last_of(range) && !reserved.compare_exchange_weak(last, last_of(range))) continue;
                    }
                }
            });
        BOOST_REQUIRE(wait_until([&] { return statements > 100; }));
        cluster.stop(PgStop::immediate);
        for (std::thread& thread : threads) thread.join();
        cluster.start();
        highest = reserved;
        BOOST_TEST(next_value(cluster) > highest, "round " << round);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
