#include "sidecar/admin/diagnosis.h"

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

SequenceStatus well(const std::string& name) {
    return {.sequence = name, .state = "reserving", .ready = true, .seconds_left = 58.3};
}

std::string judged(StatusReport report) {
    judge(report);
    return report.health + ": " + report.summary;
}

StatusReport report_of(std::vector<SequenceStatus> sequences, const std::string& postgresql = "connected") {
    return {.postgresql = {.state = postgresql}, .sequences = std::move(sequences)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diagnosis_tests)

BOOST_AUTO_TEST_CASE(it_is_well_while_ids_are_at_hand_and_refills_work) {
    BOOST_TEST(judged(report_of({well("a")})) == "ok: IDs are at hand.");
    BOOST_TEST(judged(report_of({well("a"), well("b")}, "closed: no refill is due")) ==
               "ok: IDs of all sequences are at hand.");
}

BOOST_AUTO_TEST_CASE(without_postgresql_it_is_at_risk_and_says_how_long_the_window_lasts) {
    BOOST_TEST(judged(report_of({well("a")}, "away")) ==
               "at risk: PostgreSQL is away. At this demand the reserved IDs last 58 seconds.");
    SequenceStatus shorter = well("b"), idle = well("c");
    shorter.seconds_left = 7.6;
    idle.seconds_left.reset();
    BOOST_TEST(judged(report_of({well("a"), shorter, idle}, "away")) ==
               "at risk: PostgreSQL is away. At this demand the reserved IDs last 8 seconds.");
    shorter.seconds_left = 0.1;
    BOOST_TEST(judged(report_of({shorter}, "away")) ==
               "at risk: PostgreSQL is away. At this demand the reserved IDs last a second at most.");
    BOOST_TEST(judged(report_of({idle}, "away")) ==
               "at risk: PostgreSQL is away. Nobody takes IDs at the moment; all that are reserved are left.");
    StatusReport strict = report_of({well("a")}, "away");
    strict.strict_order = true;
    BOOST_TEST(judged(strict) == "at risk: PostgreSQL is away.");
}

BOOST_AUTO_TEST_CASE(a_refill_that_fails_is_a_risk_though_postgresql_is_there) {
    SequenceStatus troubled = well("b");
    troubled.trouble = "query seq failed: permission denied";
    troubled.seconds_left = 600;
    BOOST_TEST(judged(report_of({well("a"), troubled})) ==
               "at risk: Refilling b fails. At this demand the reserved IDs last 58 seconds.");
    BOOST_TEST(judged(report_of({troubled})) ==
               "at risk: Refilling b fails. At this demand the reserved IDs last 10 minutes.");
    SequenceStatus refused = well("a");
    refused.problem = "the sequence has CYCLE";
    BOOST_TEST(judged(report_of({refused, troubled}, "away")).starts_with("at risk: a is not refilled any more. "));
}

BOOST_AUTO_TEST_CASE(it_fails_when_a_sequence_has_no_ids) {
    SequenceStatus dry = well("b");
    dry.ready = false;
    BOOST_TEST(judged(report_of({well("a"), dry}, "away")) == "failing: There are no IDs from b.");
    BOOST_TEST(judged(report_of({dry, dry})) == "failing: There are no IDs from b and 1 other.");
    BOOST_TEST(judged(report_of({dry, dry, dry})) == "failing: There are no IDs from b and 2 others.");
}

BOOST_AUTO_TEST_CASE(it_knows_what_to_do_about_the_errors_that_operators_meet) {
    struct Row {
        const char *error, *advice;
    };
    for (const Row& row : {
             Row{"connection to server at \"127.0.0.1\", port 5432 failed: Connection refused", "running"},
             Row{"FATAL: password authentication failed for user \"next_id\"", "PG_PASSWORD_FILE"},
             Row{"FATAL: role \"next_id\" does not exist", "PG_USER"},
             Row{"FATAL: database \"test_db\" does not exist", "PG_DATABASE"},
             Row{"ERROR: relation \"ids\" does not exist", "PG_SEQUENCE"},
             Row{"ERROR: permission denied for sequence ids", "sql/role.sql"},
             Row{"db.example, port 5432: cannot look up the name: unknown node or service", "resolver"},
             Row{"10.0.0.1, port 5432: not connected within 5 s", "firewalls"},
             Row{"FATAL: sorry, too many clients already", "max_connections"},
             Row{"FATAL: the database system is shutting down", "wait"},
             Row{"PostgreSQL has not answered for 5 s; waiting on (a lock, or a standby that is away?)", "pg_locks"},
             Row{"ERROR: nextval: reached maximum value of sequence \"ids\" (10)", "MAXVALUE"},
         })
        BOOST_TEST(advice_for(row.error).find(row.advice) != std::string_view::npos, row.error);
    BOOST_TEST(advice_for("ERROR: something that nobody has met") == "");
    BOOST_TEST(advice_for("") == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
