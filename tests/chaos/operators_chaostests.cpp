// What operators do to a sequence while it is in use: two sidecars under load, every ID collected, and none comes
// twice.
#include <boost/test/unit_test.hpp>

#include "tests/chaos/id_takers.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

struct OperatorsFixture {
    std::string sequence;
    std::vector<std::unique_ptr<SidecarProcess>> sidecars;
    std::unique_ptr<IdTakers> takers;
    Ids all;

    void begin(const std::string& clauses = "", const SidecarSettings& settings = {}) {
        sequence = new_sequence(clauses);
        for (int i = 0; i < 2; ++i) add_sidecar(settings);
        take_from(*sidecars[0], *sidecars[1]);
        BOOST_REQUIRE(takers->get_more());
    }
    SidecarProcess& add_sidecar(const SidecarSettings& settings) {
        sidecars.push_back(short_sidecar(sequence, settings));
        sidecars.back()->start_ready();
        return *sidecars.back();
    }
    void take_from(const SidecarProcess& one, const SidecarProcess& two) {
        takers = std::make_unique<IdTakers>(std::vector{one.http(), two.socket()});
    }
    void alter(const std::string& clauses) const { sql("ALTER SEQUENCE " + sequence + " " + clauses); }
    static std::string sql(const std::string& statement) { return shared_postgres().psql(statement); }

    // Of either sidecar, when it has no other state any more.
    bool wait_for_state(const std::string& state) const {
        return wait_until([&] {
            return std::ranges::all_of(sidecars,
                                       [&](const auto& one) { return one->status("state") == '"' + state + '"'; });
        });
    }
    // As sql/README.md says: past the highest mark of all sidecars.
    void resume() const {
        std::int64_t furthest = 0;
        for (const auto& one : sidecars)
            furthest = std::max<std::int64_t>(furthest, std::stoll(one->status("highest_reserved")));
        const auto [exit_code, output] =
            shared_postgres().script("resume_past.sql", {"sequence=" + sequence, "past=" + std::to_string(furthest)});
        BOOST_CHECK_MESSAGE(exit_code == 0, output);
        BOOST_CHECK(wait_for_state("reserving"));
    }
    // Each must have refilled, not only one.
    bool both_go_on() const {
        std::vector<std::uint64_t> issued;
        for (const auto& one : sidecars) issued.push_back(std::stoull(one->status("ids_issued")));
        return wait_until([&] {
            for (std::size_t i = 0; i < issued.size(); ++i)
                if (std::stoull(sidecars[i]->status("ids_issued")) < issued[i] + 10'000) return false;
            return true;
        });
    }
    void check_no_id_twice() {
        append(all, takers->stop());
        BOOST_TEST_MESSAGE(all.size() << " IDs, " << takers->refused() << " requests refused");
        BOOST_CHECK_EQUAL(count_repeated(all), 0U);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(operators_chaostests, OperatorsFixture)

BOOST_AUTO_TEST_CASE(the_increment_goes_up_and_down_in_step_mode) {
    begin("", {{"NEXT_ID_WAIT_MAX", "20s"}});
    for (int round = 0; round < times_longer(20); ++round)
        for (const int increment : {10, 3, 1, 1000, 2, 1}) {
            alter("INCREMENT " + std::to_string(increment));
            BOOST_REQUIRE(takers->get_more(5000));
        }
    BOOST_CHECK_EQUAL(takers->refused(), 0U);
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(the_increment_goes_up_and_down_in_block_mode_beside_callers_of_nextval) {
    begin("START 100 INCREMENT 100", {{"NEXT_ID_INCREMENT", "block"}, {"NEXT_ID_WAIT_MAX", "20s"}});
    NextvalCaller caller{sequence};
    for (int round = 0; round < times_longer(20); ++round)
        for (const int increment : {1000, 10, 700, 50, 5000, 100}) {
            alter("INCREMENT " + std::to_string(increment));
            BOOST_REQUIRE(takers->get_more(5000));
        }
    append(all, caller.stop());
    BOOST_CHECK_EQUAL(takers->refused(), 0U);
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(a_negative_increment_latches_in_step_mode) {
    begin();
    alter("INCREMENT -1");
    BOOST_CHECK(wait_for_state("latched"));
    BOOST_CHECK(wait_until([&] { return takers->refused() > 0; }));
    alter("INCREMENT 1");
    resume();
    BOOST_CHECK(both_go_on());
    check_no_id_twice();
}

// It is not enough to refuse it: what was taken before that was seen moved the sequence back.
BOOST_AUTO_TEST_CASE(a_negative_increment_is_refused_in_block_mode_and_latches) {
    begin("START 1000 INCREMENT 1000", {{"NEXT_ID_INCREMENT", "block"}});
    alter("INCREMENT -1000");
    BOOST_CHECK(wait_for_state("refused"));
    BOOST_CHECK(sidecars[0]->wait_for_log("the sequence descends, which --increment block does not allow"));
    BOOST_CHECK(wait_until([&] { return takers->refused() > 0; }));
    alter("INCREMENT 1000");
    BOOST_CHECK(wait_for_state("latched"));
    resume();
    BOOST_CHECK(both_go_on());
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(a_lock_on_the_sequence_holds_up_refills_and_nothing_else) {
    begin("", {{"NEXT_ID_WINDOW_MIN", "100000"}});
    {
        const Session locker = connect(shared_postgres());
        run(locker, "BEGIN");
        BOOST_REQUIRE_EQUAL(sqlstate(run(locker, "ALTER SEQUENCE " + sequence + " INCREMENT 1")), "");
        BOOST_CHECK(takers->get_more(50'000));
        BOOST_CHECK(wait_until([&] { return takers->refused() > 0; }));
        BOOST_CHECK(sidecars[0]->wait_for_log("lock timeout"));
        run(locker, "ROLLBACK");
    }
    BOOST_CHECK(both_go_on());
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(dropped_and_created_again_it_is_latched_until_it_is_moved_past) {
    begin();
    for (int i = 0; i < times_longer(20); ++i) {
        sql("BEGIN; DROP SEQUENCE " + sequence + "; CREATE SEQUENCE " + sequence + "; COMMIT");
        BOOST_CHECK(wait_for_state("latched"));
        resume();
        BOOST_CHECK(both_go_on());
    }
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(dropped_and_after_a_while_created_again_beyond_all_ids_it_goes_on) {
    begin();
    sql("DROP SEQUENCE " + sequence);
    BOOST_CHECK(wait_until([&] { return takers->refused() > 0; }));
    BOOST_CHECK(sidecars[0]->wait_for_log("does not exist"));
    sql("CREATE SEQUENCE " + sequence + " START 1000000000");
    BOOST_CHECK(wait_for_state("latched"));  // it has given no value yet, so nobody can see that it is beyond
    resume();
    BOOST_CHECK(both_go_on());
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(setval_forth_is_a_gap) {
    begin("", {{"NEXT_ID_WAIT_MAX", "20s"}});
    for (int i = 1; i <= 5; ++i) {
        sql("SELECT setval('" + sequence + "', " + std::to_string(i) + "00000000)");
        BOOST_REQUIRE(takers->get_more(5000));
    }
    BOOST_CHECK(both_go_on());
    BOOST_CHECK_EQUAL(takers->refused(), 0U);
    check_no_id_twice();
}

// Back by less than was reserved last: what the first to notice took would carry it past the marks of the others.
BOOST_AUTO_TEST_CASE(setval_a_little_back_latches_all_and_takes_nothing) {
    begin();
    for (int i = 2; i < 5; ++i) add_sidecar({});
    IdTakers others{{sidecars[2]->socket(), sidecars[3]->http(), sidecars[4]->socket()}};
    for (int i = 0; i < times_longer(20); ++i) {
        BOOST_CHECK(both_go_on());
        std::int64_t lowest = INT64_MAX;
        for (const auto& one : sidecars)
            lowest = std::min<std::int64_t>(lowest, std::stoll(one->status("highest_reserved")));
        // Under the lock, so that no statement is under way: it would take one value more.
        sql("BEGIN; ALTER SEQUENCE " + sequence + " CACHE 1; SELECT setval('" + sequence + "', " +
            std::to_string(lowest - 1) + "); COMMIT");
        BOOST_CHECK(wait_for_state("latched"));
        BOOST_CHECK_EQUAL(last_value(sequence), lowest - 1);
        resume();
        BOOST_CHECK(both_go_on());
    }
    append(all, others.stop());
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(setval_back_latches_until_it_is_moved_past) {
    begin();
    for (int i = 0; i < times_longer(20); ++i) {
        sql("SELECT setval('" + sequence + "', last_value + 1000000000) FROM " + sequence);
        BOOST_CHECK(both_go_on());
        sql("SELECT setval('" + sequence + "', 1)");
        BOOST_CHECK(wait_for_state("latched"));
        BOOST_CHECK(sidecars[0]->wait_for_log("the sequence went back"));
        resume();
        BOOST_CHECK(both_go_on());
    }
    check_no_id_twice();
}

BOOST_AUTO_TEST_CASE(a_role_with_odd_settings_and_rights_that_come_and_go) {
    sql("DROP ROLE IF EXISTS clerk");
    sql("CREATE ROLE clerk LOGIN");
    sequence = new_sequence();
    sql("GRANT USAGE ON SEQUENCE " + sequence + " TO clerk");
    for (int i = 0; i < 2; ++i) add_sidecar({{"PG_USER", "clerk"}, {"NEXT_ID_DB_IDLE_CLOSE", "50ms"}});
    take_from(*sidecars[0], *sidecars[1]);
    sql("ALTER ROLE clerk SET client_min_messages = error; ALTER ROLE clerk SET synchronous_commit = off");
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clerk'");
    BOOST_CHECK(both_go_on());

    sql("REVOKE USAGE ON SEQUENCE " + sequence + " FROM clerk");
    BOOST_CHECK(sidecars[0]->wait_for_log("permission denied for sequence"));
    BOOST_CHECK(wait_until([&] { return takers->refused() > 0; }));
    sql("GRANT USAGE ON SEQUENCE " + sequence + " TO clerk");
    BOOST_CHECK(both_go_on());
    check_no_id_twice();
    sql("DROP OWNED BY clerk");
}

// As sql/README.md says it is done. A caller of nextval() owns its value all along, and what lies below it is nobody's.
BOOST_AUTO_TEST_CASE(an_existing_sequence_becomes_a_block_sequence_and_goes_back) {
    begin();
    NextvalCaller caller{sequence};
    const auto replace_by = [&](const char* mode) {
        sidecars.clear();
        for (int i = 0; i < 2; ++i) add_sidecar({{"NEXT_ID_INCREMENT", mode}});
    };
    for (int round = 0; round < times_longer(10); ++round) {
        alter("INCREMENT 1000");
        BOOST_REQUIRE(takers->get_more(5000));  // still in step mode
        SidecarProcess& beside = add_sidecar({{"NEXT_ID_INCREMENT", "block"}});
        IdTakers others{{beside.http()}};
        BOOST_REQUIRE(takers->get_more(5000) && others.get_more(5000));
        append(all, others.stop());
        append(all, takers->stop());
        replace_by("block");
        take_from(*sidecars[0], *sidecars[1]);
        BOOST_CHECK(both_go_on());
        append(all, takers->stop());
        replace_by("step");
        take_from(*sidecars[0], *sidecars[1]);
        BOOST_REQUIRE(takers->get_more(5000));
        alter("INCREMENT 1");
        BOOST_CHECK(both_go_on());
    }
    const Ids values = caller.stop();
    BOOST_CHECK_GT(values.size(), 100U);
    append(all, values);
    check_no_id_twice();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
