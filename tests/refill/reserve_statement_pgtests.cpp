// What reserve.sql and inspect.sql promise, whoever runs them: which values, described how, under which lock.
#include <boost/test/unit_test.hpp>
#include <thread>

#include "tests/refill/pg_sessions.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

constexpr std::int64_t int64_min = INT64_MIN, int64_max = INT64_MAX;

const PgCluster& cluster() {
    static const PgCluster made;
    return made;
}

// A sequence of its own for each test.
struct Fresh {
    Session session = connect(cluster());
    explicit Fresh(const std::string& options = "") {
        cluster().psql("DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s " + options);
    }
    Rows take(int values) { return reserve(session, "s", values); }
};

// Sends a statement, returns when the server waits in it.
void send_until_it_waits(const Session& session, const std::string& sql, const std::vector<std::string>& parameters) {
    std::vector<const char*> values;
    for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
    BOOST_REQUIRE_EQUAL(
        PQsendQueryParams(session.get(), sql.c_str(), int(values.size()), nullptr, values.data(), nullptr, nullptr, 0),
        1);
    const std::string waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = " +
                              std::to_string(PQbackendPID(session.get()));
    BOOST_REQUIRE(wait_until([&] { return cluster().psql(waits) == "1"; }));
}

Rows answer_of(const Session& session) {
    Rows first{PQgetResult(session.get()), &PQclear};
    while (Rows more{PQgetResult(session.get()), &PQclear}) continue;
    return first;
}

void check_values(const Rows& rows, const std::vector<std::int64_t>& expected) {
    std::vector<std::int64_t> values;
    for (const Range& range : ranges(rows))
        for (std::uint64_t i = 0; i < range.count; ++i)
            values.push_back(std::int64_t(std::uint64_t(range.first) + i * std::uint64_t(range.step)));
    BOOST_TEST(values == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reserve_statement_pgtests)

BOOST_AUTO_TEST_CASE(a_run_of_values_comes_with_all_that_describes_the_sequence) {
    Fresh fresh{"INCREMENT 3 MINVALUE -7 MAXVALUE 1000000 START 5 CACHE 1"};
    const Rows rows = fresh.take(1000);
    BOOST_TEST(column(rows, "values") == "{5}");
    BOOST_TEST(column(rows, "count") == "1000");
    BOOST_TEST(column(rows, "minimum_value") == "-7");
    BOOST_TEST(column(rows, "maximum_value") == "1000000");
    BOOST_TEST(column(rows, "increment") == "3");
    BOOST_TEST(column(rows, "cycle_option") == "f");
    BOOST_TEST(column(rows, "cache_size") == "1");
    BOOST_TEST(column(rows, "last_value") == "3002");
    BOOST_TEST(column(rows, "persistence") == "p");
    BOOST_TEST(column(rows, "system_identifier") ==
               cluster().psql("SELECT system_identifier FROM pg_control_system()"));
    BOOST_TEST(column(rows, "database_oid") ==
               cluster().psql("SELECT oid FROM pg_database WHERE datname = 'postgres'"));
    BOOST_TEST(column(rows, "sequence_oid") == cluster().psql("SELECT 's'::regclass::oid"));
}

BOOST_AUTO_TEST_CASE(inspection_describes_the_same_and_takes_nothing) {
    Fresh fresh;
    const auto inspect = [&] { return run(fresh.session, std::string{sql::inspect}, {"s", "2000ms"}); };
    BOOST_TEST(PQgetisnull(inspect().get(), 0, PQfnumber(inspect().get(), "last_value")) == 1);
    const Rows taken = fresh.take(10);
    cluster().psql("COMMENT ON SEQUENCE s IS 'next-id: resume past 10'");
    const Rows seen = inspect();
    for (const char* name : {"minimum_value", "maximum_value", "increment", "cycle_option", "cache_size", "last_value",
                             "persistence", "system_identifier", "database_oid", "sequence_oid"})
        BOOST_TEST(column(seen, name) == column(taken, name), name);
    BOOST_TEST(column(seen, "comment") == "next-id: resume past 10");
    check_values(fresh.take(1), {11});
}

BOOST_AUTO_TEST_CASE(a_role_with_only_usage_suffices) {
    Fresh fresh;
    cluster().psql(
        "DROP ROLE IF EXISTS only_usage; CREATE ROLE only_usage LOGIN; GRANT USAGE ON SEQUENCE s TO only_usage");
    const Session session = connect(cluster(), "only_usage");
    check_values(reserve(session, "s", 2), {1, 2});
    check_values(reserve(session, "s", 1, "2000ms", {.direction = 1, .last_value = 2}), {3});
    BOOST_TEST(column(run(session, std::string{sql::inspect}, {"s", "2000ms"}), "last_value") == "3");
    BOOST_TEST(sqlstate(run(session, "SELECT setval('s', 1)")) == "42501");
    cluster().psql("DROP OWNED BY only_usage");
    BOOST_TEST(sqlstate(reserve(session, "s", 1)) == "42501");
}

BOOST_AUTO_TEST_CASE(names_are_those_of_sql) {
    cluster().psql("CREATE SCHEMA IF NOT EXISTS \"Or.ders\"; CREATE SEQUENCE IF NOT EXISTS \"Or.ders\".\"I'd\"");
    const Session session = connect(cluster());
    BOOST_TEST(column(reserve(session, "\"Or.ders\".\"I'd\"", 1), "count") == "1");
    BOOST_TEST(sqlstate(reserve(session, "nowhere", 1)) == "42P01");
    BOOST_TEST(sqlstate(reserve(session, "pg_class", 1)) == "42809");
}

BOOST_AUTO_TEST_CASE(a_descending_sequence_gives_descending_runs) {
    Fresh fresh{"INCREMENT -2 MAXVALUE 10 START 4"};
    const Rows rows = fresh.take(5);
    BOOST_TEST(column(rows, "values") == "{4}");
    check_values(rows, {4, 2, 0, -2, -4});
}

BOOST_AUTO_TEST_CASE(the_last_ids_of_int64_are_given_and_then_no_more) {
    Fresh up{"START 9223372036854775805"};
    BOOST_TEST(column(up.take(3), "count") == "3");
    BOOST_TEST(sqlstate(up.take(1)) == "2200H");

    Fresh down{"INCREMENT -1 MINVALUE -9223372036854775808 MAXVALUE 0 START -9223372036854775806"};
    check_values(down.take(3), {int64_min + 2, int64_min + 1, int64_min});
    BOOST_TEST(sqlstate(down.take(1)) == "2200H");
}

BOOST_AUTO_TEST_CASE(a_statement_that_meets_the_end_burns_what_it_took) {
    Fresh fresh{"MAXVALUE 10"};
    BOOST_TEST(sqlstate(fresh.take(11)) == "2200H");
    BOOST_TEST(sqlstate(fresh.take(1)) == "2200H");
}

// CYCLE is refused by the program, but jumps from end to end are the hardest input for the compression.
BOOST_AUTO_TEST_CASE(huge_increments_and_jumps_across_int64_do_not_overflow) {
    const std::string all = " MINVALUE -9223372036854775808 MAXVALUE 9223372036854775807 CYCLE ";
    Fresh up{"INCREMENT 9223372036854775807 START -9223372036854775808" + all};
    check_values(up.take(5), {int64_min, -1, int64_max - 1, int64_min, -1});

    Fresh down{"INCREMENT -9223372036854775808 START 9223372036854775807" + all};
    check_values(down.take(4), {int64_max, -1, int64_max, -1});

    Fresh half{"INCREMENT 4611686018427387904 START -9223372036854775808" + all};
    const std::int64_t quarter = 4611686018427387904;
    const Rows rows = half.take(5);
    check_values(rows, {int64_min, -quarter, 0, quarter, int64_min});

    Fresh one{"INCREMENT 1 START 9223372036854775806" + all};
    check_values(one.take(4), {int64_max - 1, int64_max, int64_min, int64_min + 1});
    Fresh minus_one{"INCREMENT -1 START -9223372036854775807" + all};
    check_values(minus_one.take(4), {int64_min + 1, int64_min, int64_max, int64_max - 1});
}

BOOST_AUTO_TEST_CASE(concurrent_callers_break_runs_and_never_share_a_value) {
    Fresh fresh{"START -50000 MINVALUE -50000"};
    constexpr int callers = 4, statements = 5, values = 5000;
    std::vector<std::vector<Range>> taken(callers);
    std::vector<std::thread> threads;
    for (int caller = 0; caller < callers; ++caller)
        threads.emplace_back([&, caller] {
            const Session session = connect(cluster());
            for (int i = 0; i < statements; ++i)
                for (const Range& range : ranges(reserve(session, "s", values)))
                    taken[std::size_t(caller)].push_back(range);
        });
    for (std::thread& thread : threads) thread.join();

    std::vector<bool> seen(callers * statements * values);
    std::size_t runs = 0, twice = 0;
    for (const auto& of_caller : taken)
        for (const Range& range : of_caller) {
            ++runs;
            for (std::uint64_t i = 0; i < range.count; ++i) {
                const auto at = std::size_t(range.first + 50000) + i;
                BOOST_REQUIRE_LT(at, seen.size());
                twice += seen[at];
                seen[at] = true;
            }
        }
    BOOST_TEST(twice == 0U);
    BOOST_TEST(std::count(seen.begin(), seen.end(), false) == 0);
    BOOST_TEST(runs > std::size_t(callers * statements));  // or else nothing was concurrent
}

BOOST_AUTO_TEST_CASE(the_parameters_are_those_with_which_the_values_were_taken) {
    Fresh fresh;
    fresh.take(10);
    const Session other = connect(cluster());
    for (const auto& [change, increment, values] :
         std::vector<std::tuple<std::string, std::string, std::vector<std::int64_t>>>{
             {"INCREMENT 7 MAXVALUE 1000", "7", {17, 24, 31}}, {"INCREMENT -3 MINVALUE -100", "-3", {28, 25, 22}}}) {
        run(other, "BEGIN");
        run(other, "ALTER SEQUENCE s " + change);
        send_until_it_waits(fresh.session, std::string{sql::reserve}, reserve_parameters("s", 3, "10s"));
        run(other, "COMMIT");
        const Rows rows = answer_of(fresh.session);
        BOOST_TEST(column(rows, "increment") == increment);
        BOOST_TEST(column(rows, "maximum_value") == "1000");
        check_values(rows, values);
    }
}

BOOST_AUTO_TEST_CASE(a_sequence_that_becomes_unlogged_under_way_is_told) {
    Fresh fresh;
    if (cluster().psql("SELECT current_setting('server_version_num')::int >= 150000") != "t") return;
    const Session other = connect(cluster());
    run(other, "BEGIN");
    run(other, "ALTER SEQUENCE s SET UNLOGGED");
    send_until_it_waits(fresh.session, std::string{sql::reserve}, reserve_parameters("s", 1, "10s"));
    run(other, "COMMIT");
    BOOST_TEST(column(answer_of(fresh.session), "persistence") == "u");
    BOOST_TEST(column(run(fresh.session, std::string{sql::inspect}, {"s", "1s"}), "persistence") == "u");

    run(fresh.session, "CREATE TEMPORARY SEQUENCE passing");
    BOOST_TEST(column(reserve(fresh.session, "passing", 1), "persistence") == "t");
}

BOOST_AUTO_TEST_CASE(cycle_and_cache_are_told) {
    Fresh fresh{"CYCLE CACHE 20"};
    const Rows rows = fresh.take(30);
    BOOST_TEST(column(rows, "cycle_option") == "t");
    BOOST_TEST(column(rows, "cache_size") == "20");
    BOOST_TEST(column(rows, "last_value") == "40");
    BOOST_TEST(column(rows, "count") == "30");
}

// Each nextval() would move it on, into what other sidecars hold, and past their marks.
BOOST_AUTO_TEST_CASE(nothing_is_taken_behind_the_mark) {
    const auto check_untouched = [](Fresh& fresh, const Mark& mark) {
        const auto state = [] { return cluster().psql("SELECT last_value, log_cnt, is_called FROM s"); };
        const std::string before = state();
        Rows rows = reserve(fresh.session, "s", 1000, "2000ms", mark);
        BOOST_TEST(column(rows, "values") == "{}");
        BOOST_TEST(column(rows, "count") == "0");
        BOOST_TEST(state() == before);
        return rows;
    };
    Fresh up;
    up.take(50);
    check_untouched(up, {.direction = 1, .last_value = 51});
    check_untouched(up, {.direction = 1, .last_value = int64_max});
    check_untouched(up, {.direction = -1, .last_value = 50});  // it has turned round
    BOOST_TEST(column(check_untouched(up, {.direction = 1, .last_value = 100}), "last_value") == "50");
    check_values(reserve(up.session, "s", 2, "2000ms", {.direction = 1, .last_value = 50}), {51, 52});
    check_values(reserve(up.session, "s", 2, "2000ms", {.direction = 1, .last_value = int64_min}), {53, 54});

    Fresh down{"INCREMENT -1"};
    down.take(50);
    check_untouched(down, {.direction = -1, .last_value = -51});
    check_untouched(down, {.direction = 1, .last_value = -50});
    check_values(reserve(down.session, "s", 2, "2000ms", {.direction = -1, .last_value = -50}), {-51, -52});

    Fresh uncalled;  // created again, or restarted
    const Rows rows = check_untouched(uncalled, {.direction = 1, .last_value = 1});
    BOOST_TEST(PQgetisnull(rows.get(), 0, PQfnumber(rows.get(), "last_value")) == 1);
}

// What another session did before this one had the lock, and after its snapshot, counts.
BOOST_AUTO_TEST_CASE(the_mark_is_compared_with_the_sequence_as_it_is_under_the_lock) {
    Fresh fresh;
    fresh.take(50);
    const Session other = connect(cluster());
    for (const char* change : {"ALTER SEQUENCE s RESTART WITH 40", "ALTER SEQUENCE s INCREMENT -1 MINVALUE -100",
                               "ALTER SEQUENCE s CACHE 1; SELECT setval('s', 49)"}) {
        PQclear(PQexec(other.get(), (std::string{"BEGIN; "} + change).c_str()));
        send_until_it_waits(fresh.session, std::string{sql::reserve},
                            reserve_parameters("s", 3, "10s", {.direction = 1, .last_value = 50}));
        run(other, "COMMIT");
        BOOST_TEST(column(answer_of(fresh.session), "count") == "0", change);
        run(other, "ALTER SEQUENCE s INCREMENT 1 RESTART WITH 50");
        run(other, "SELECT nextval('s')");
    }
}

// setval() waits for nobody, so it comes between two values of a statement: after it at most one more is taken.
BOOST_AUTO_TEST_CASE(a_setval_back_while_values_are_taken_ends_the_taking) {
    Fresh fresh;
    const Session other = connect(cluster());
    run(other, "SET statement_timeout = '20s'");
    for (int caught = 0, round = 0; caught < 3; ++round) {
        BOOST_REQUIRE_LT(round, 200);
        run(other, "SELECT setval('s', 1000000)");
        PQsendQuery(
            other.get(),
            "DO $$ BEGIN WHILE (SELECT last_value FROM s) = 1000000 LOOP END LOOP; PERFORM setval('s', 1); END $$");
        const Rows rows = reserve(fresh.session, "s", 100'000, "2000ms", {.direction = 1, .last_value = 1000000});
        answer_of(other);
        if (column(rows, "count") == "100000") continue;  // it came too late
        ++caught;
        BOOST_TEST(std::stoll(cluster().psql("SELECT last_value FROM s")) <= 2);
    }
}

BOOST_AUTO_TEST_CASE(the_wait_for_the_lock_has_an_end) {
    Fresh fresh;
    const Session other = connect(cluster());
    run(other, "BEGIN");
    run(other, "ALTER SEQUENCE s INCREMENT 2");
    BOOST_TEST(sqlstate(reserve(fresh.session, "s", 1, "50ms")) == "55P03");
    BOOST_TEST(sqlstate(run(fresh.session, std::string{sql::inspect}, {"s", "50ms"})) == "55P03");
}

BOOST_AUTO_TEST_CASE(nothing_of_the_settings_outlives_the_statement) {
    Fresh fresh;
    const auto settings = [&] {
        return column(run(fresh.session,
                          "SELECT current_setting('synchronous_commit') || current_setting('lock_timeout') || "
                          "current_setting('client_min_messages') AS all"),
                      "all");
    };
    run(fresh.session, "SET synchronous_commit = off");
    const std::string before = settings();
    fresh.take(1);
    BOOST_TEST(settings() == before);
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_values_are_one_short_answer) {
    Fresh fresh;
    const auto begin = std::chrono::steady_clock::now();
    const Rows rows = fresh.take(100000);
    BOOST_TEST(column(rows, "values") == "{1}");
    BOOST_TEST(column(rows, "count") == "100000");
    BOOST_TEST_MESSAGE("100,000 values: " << (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds{1}
                                          << " ms");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
