// One statement at a time: what is an answer, what is late, what is lost.
#include "sidecar/refill/pg_connection.h"

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "tests/refill/pg_recorder.h"
#include "tests/refill/pg_sessions.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

struct Connected : ConnectionFixture {
    PgCluster cluster;
    Connected() { BOOST_REQUIRE(connects(here())); }
    PgTarget here(Duration query_timeout = 5s) const {
        PgTarget here = target({{"host", "127.0.0.1"}, {"port", cluster.port()}});
        here.query_timeout = query_timeout;
        return here;
    }
    // Makes commits wait for a standby that is not there, and returns when the statement, sent again and again, does.
    void query_until_it_waits_for_a_standby(const std::string& sql, const std::vector<std::string>& parameters = {}) {
        cluster.psql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
        cluster.psql("SELECT pg_reload_conf()");
        const std::string waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        BOOST_REQUIRE(run_until([&] {
            if (connection->state() == PgState::idle) connection->query(sql, parameters);
            return cluster.psql(waiting) == "1";
        }));
    }
    // A table whose inserts do something when they are committed, after their rows were sent.
    void at_commit(const std::string& action) const {
        cluster.psql("CREATE TABLE noted (n int); CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
                     action +
                     "; RETURN NULL; END $$; CREATE CONSTRAINT TRIGGER acts AFTER INSERT ON noted DEFERRABLE INITIALLY "
                     "DEFERRED FOR EACH ROW EXECUTE FUNCTION act()");
    }
};

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pg_connection_pgtests, Connected)

BOOST_AUTO_TEST_CASE(rows_come_as_text_and_null_as_nothing) {
    const PgAnswer answer = ask("SELECT $1::text, $2::int + 1, NULL UNION ALL SELECT '', 0, 'x'", {"a\nb", "41"});
    BOOST_REQUIRE(answer.ok);
    BOOST_REQUIRE_EQUAL(answer.rows.size(), 2U);
    BOOST_TEST(*answer.rows[0][0] == "a\nb");
    BOOST_TEST(*answer.rows[0][1] == "42");
    BOOST_TEST(!answer.rows[0][2].has_value());
    BOOST_TEST(*answer.rows[1][0] == "");
}

BOOST_AUTO_TEST_CASE(the_statements_of_the_program_run_one_after_another) {
    cluster.psql("CREATE SEQUENCE global_id_seq");
    for (const char* first : {"{1}", "{101}", "{201}"}) {
        const PgAnswer answer = ask(std::string{sql::reserve}, reserve_parameters("global_id_seq", 100));
        BOOST_REQUIRE_MESSAGE(answer.ok, answer.error);
        BOOST_TEST(*answer.rows[0][0] == first);
    }
    BOOST_TEST(ask(std::string{sql::inspect}, {"global_id_seq", "2000ms"}).ok);
}

BOOST_AUTO_TEST_CASE(an_error_is_an_answer_that_is_not_ok) {
    const PgAnswer answer = ask("SELECT nextval($1)", {"nowhere"});
    BOOST_TEST(!answer.ok);
    BOOST_TEST(answer.sqlstate == "42P01");
    BOOST_TEST(answer.error == "ERROR: relation \"nowhere\" does not exist");
    BOOST_TEST(ask("SELECT 1").ok);
    BOOST_TEST(!ask("SET lock_timeout = 1").ok);  // no rows
    BOOST_TEST(!ask("BEGIN").ok);
    BOOST_TEST(ask("SELECT 1").error == "the server left the transaction open");
}

BOOST_AUTO_TEST_CASE(an_error_after_rows_throws_them_away) {
    const PgAnswer answer = ask("SELECT 1 / (100000 - n), repeat('x', 1000) FROM generate_series(1, 100000) AS n");
    BOOST_TEST(!answer.ok);
    BOOST_TEST(answer.sqlstate == "22012");
    BOOST_TEST(answer.rows.empty());
}

BOOST_AUTO_TEST_CASE(an_error_at_commit_throws_the_rows_away) {
    at_commit("RAISE EXCEPTION 'not so'");
    const PgAnswer answer = ask("INSERT INTO noted VALUES (1) RETURNING 1");
    BOOST_TEST(!answer.ok);
    BOOST_TEST(answer.sqlstate == "P0001");
    BOOST_TEST(answer.rows.empty());
}

BOOST_AUTO_TEST_CASE(a_warning_makes_the_answer_not_ok_and_a_notice_does_not) {
    cluster.psql(
        "CREATE FUNCTION say(level text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF level = 'warning' THEN "
        "RAISE WARNING 'look out'; ELSE RAISE NOTICE 'by the way'; END IF; RETURN 1; END $$");
    const PgAnswer warned = ask("SELECT say('warning')");
    BOOST_TEST(!warned.ok);
    BOOST_TEST(warned.rows.empty());
    BOOST_TEST(warned.error == "WARNING: look out");
    BOOST_TEST(warned.sqlstate == "01000");
    BOOST_TEST(ask("SELECT say('notice')").ok);
}

BOOST_AUTO_TEST_CASE(a_large_statement_and_a_large_answer_pass) {
    const PgAnswer answer = ask("SELECT $1", {std::string(8'000'000, 'x')});
    BOOST_REQUIRE(answer.ok);
    BOOST_TEST(answer.rows[0][0]->size() == 8'000'000U);
}

BOOST_AUTO_TEST_CASE(a_late_answer_is_awaited_and_as_good_as_any) {
    BOOST_REQUIRE(connects(here(50ms)));
    const PgAnswer answer = ask("SELECT 'late' FROM pg_sleep(0.3)");
    BOOST_TEST(told.late == 1);
    BOOST_REQUIRE(answer.ok);
    BOOST_TEST(*answer.rows[0][0] == "late");
    BOOST_TEST(ask("SELECT 1").ok);
    BOOST_TEST(told.late == 1);
    BOOST_TEST(told.reasons.empty());
}

// The rows are here, with CommandComplete (a notice that is raised at commit sends them off), and the transaction still
// waits.
BOOST_AUTO_TEST_CASE(rows_are_no_answer_before_the_server_is_ready_again) {
    at_commit("RAISE NOTICE 'rows first'");
    BOOST_REQUIRE(connects(here(200ms)));
    query_until_it_waits_for_a_standby("INSERT INTO noted VALUES (1) RETURNING 1");
    const std::size_t answered = told.answers.size();
    BOOST_REQUIRE(run_until([&] { return told.late > 0; }));
    BOOST_TEST(!run_until([&] { return told.answers.size() > answered; }, 200ms));

    cluster.psql("ALTER SYSTEM RESET synchronous_standby_names");
    cluster.psql("SELECT pg_reload_conf()");
    BOOST_REQUIRE(run_until([&] { return told.answers.size() > answered; }));
    BOOST_TEST(told.answers.back().ok);
}

// Cancelled, the wait for a standby ends in rows and a warning, which the role's own setting would hide.
BOOST_AUTO_TEST_CASE(a_reservation_whose_standby_did_not_confirm_is_not_ok) {
    cluster.psql("CREATE SEQUENCE s; ALTER ROLE postgres SET client_min_messages = error");
    BOOST_REQUIRE(connects(here()));
    query_until_it_waits_for_a_standby(std::string{sql::reserve}, reserve_parameters("s", 10));
    const std::size_t answered = told.answers.size();
    BOOST_REQUIRE(run_until([&] {
        return cluster.psql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "t";
    }));
    BOOST_REQUIRE(run_until([&] { return told.answers.size() > answered; }));
    BOOST_TEST(!told.answers.back().ok);
    BOOST_TEST(told.answers.back().rows.empty());
    BOOST_TEST(says(told.answers.back().error, "WARNING: canceling wait for synchronous replication"),
               told.answers.back().error);
}

BOOST_AUTO_TEST_CASE(a_server_that_goes_while_busy_takes_the_answer_along) {
    connection->query("SELECT 1 FROM pg_sleep(60)", {});
    BOOST_REQUIRE(run_until([&] {
        return cluster.psql(
                   "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND state = 'active'") ==
               "1";
    }));
    cluster.stop(PgStop::immediate);
    BOOST_REQUIRE(run_until([&] { return !told.reasons.empty(); }));
    BOOST_CHECK(connection->state() == PgState::broken);
    BOOST_TEST(told.answers.empty());

    cluster.start();
    connection->connect();
    BOOST_REQUIRE(run_until([&] { return told.connected == 2; }));
    BOOST_TEST(ask("SELECT 1").ok);
    BOOST_TEST(told.reasons.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_server_that_goes_while_idle_is_noticed_with_its_last_word) {
    cluster.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'next-id'");
    BOOST_REQUIRE(run_until([&] { return !told.reasons.empty(); }));
    BOOST_TEST(says(told.reasons[0], "FATAL: terminating connection due to administrator command"), told.reasons[0]);
    BOOST_CHECK(connection->state() == PgState::broken);
}

BOOST_AUTO_TEST_CASE(a_statement_sent_to_a_server_that_is_gone_is_told_later) {
    cluster.stop(PgStop::immediate);
    connection->query("SELECT 1", {});
    BOOST_TEST(told.reasons.empty());
    BOOST_REQUIRE(run_until([&] { return !told.reasons.empty(); }));
    BOOST_TEST(told.answers.empty());
}

BOOST_AUTO_TEST_CASE(destruction_in_every_state_leaves_nothing) {
    connection.reset();  // idle
    BOOST_REQUIRE(connects(here()));
    connection->query("SELECT pg_sleep(60)", {});
    connection.reset();  // busy
    BOOST_REQUIRE(connects(here(10ms)));
    connection->query("SELECT pg_sleep(60)", {});
    told.then = [&] { connection.reset(); };  // in on_late()
    BOOST_REQUIRE(run_until([&] { return connection == nullptr; }));
    told.then = [] {};
    BOOST_REQUIRE(connects(here()));
    connection->query("SELECT 1", {});
    told.then = [&] { connection.reset(); };  // in on_answer()
    BOOST_REQUIRE(run_until([&] { return connection == nullptr; }));
    told.then = [] {};
    BOOST_REQUIRE(connects(here()));
    cluster.stop(PgStop::immediate);
    told.then = [&] { connection.reset(); };  // in on_disconnected()
    BOOST_REQUIRE(run_until([&] { return connection == nullptr; }));
    BOOST_TEST(told.late == 1);
    BOOST_TEST(told.reasons.size() == 1U);
}

BOOST_AUTO_TEST_CASE(close_is_silent_in_any_state_and_connect_begins_anew) {
    connection->query("SELECT pg_sleep(60)", {});
    connection->close();
    BOOST_CHECK(connection->state() == PgState::closed);
    connection->connect();
    connection->close();
    connection->connect();
    BOOST_REQUIRE(run_until([&] { return told.connected == 2; }));
    BOOST_TEST(ask("SELECT 1").ok);
    BOOST_TEST(told.reasons.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
