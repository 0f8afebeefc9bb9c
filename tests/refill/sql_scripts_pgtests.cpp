// The scripts of sql/, run through psql as their heads say.
#include <array>
#include <boost/test/unit_test.hpp>

#include "tests/refill/pg_sessions.h"

namespace next_id::test {
namespace {

struct Scripts {
    PgCluster cluster{{.durable = true}};

    std::string run_script(const std::string& name, const std::vector<std::string>& variables = {},
                           const std::string& user = "postgres") {
        const auto [exit_code, output] = cluster.script(name, variables, user);
        BOOST_TEST(exit_code == 0, name << ": " << output);
        BOOST_TEST(output.find("ERROR") == std::string::npos, name << ": " << output);
        return output;
    }
    std::string refusal(const std::string& name, const std::vector<std::string>& variables,
                        const std::string& user = "postgres") {
        const auto [exit_code, output] = cluster.script(name, variables, user);
        BOOST_TEST(exit_code == 3, name << ": " << output);  // psql's own, for a script that failed
        return output;
    }
    std::string next(const std::string& sequence) { return cluster.psql("SELECT nextval('" + sequence + "')"); }
    std::string comment(const std::string& sequence) {
        return cluster.psql("SELECT obj_description('" + sequence + "'::regclass, 'pg_class')");
    }
};

// What verify.sql says of one point: its line, and the result in it.
std::string line_of(const std::string& table, const std::string& check) {
    const std::size_t line = table.find("\n " + check + " ");
    BOOST_REQUIRE_MESSAGE(line != std::string::npos, "no " << check << " in\n" << table);
    return table.substr(line + 1, table.find('\n', line + 1) - line - 1);
}
std::string verdict(const std::string& table, const std::string& check) {
    const std::string line = line_of(table, check);
    const std::size_t cell = line.find_first_not_of(' ', line.find('|') + 1);
    return line.substr(cell, line.find(' ', cell) - cell);
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(sql_scripts_pgtests, Scripts)

BOOST_AUTO_TEST_CASE(a_sequence_is_created_once_and_kept) {
    run_script("sequence.sql");
    BOOST_TEST(next("global_id_seq") == "1");
    run_script("sequence.sql");
    BOOST_TEST(next("global_id_seq") == "2");
}

BOOST_AUTO_TEST_CASE(two_data_centres_take_odd_and_even_ids) {
    run_script("sequence.sql", {"sequence=odd", "increment=2"});
    run_script("sequence.sql", {"sequence=even", "start=2", "increment=2"});
    for (const char* odd : {"1", "3", "5"}) BOOST_TEST(next("odd") == odd);
    for (const char* even : {"2", "4", "6"}) BOOST_TEST(next("even") == even);
}

BOOST_AUTO_TEST_CASE(a_block_sequence_begins_with_one_id_and_goes_on_in_blocks) {
    for (int twice = 0; twice < 2; ++twice) run_script("block_sequence.sql");
    for (const char* value : {"1", "1001", "2001"}) BOOST_TEST(next("global_id_seq") == value);
    run_script("block_sequence.sql", {"sequence=large", "block=50000"});
    for (const char* value : {"1", "50001"}) BOOST_TEST(next("large") == value);
}

BOOST_AUTO_TEST_CASE(the_role_can_take_ids_and_nothing_else) {
    run_script("sequence.sql");
    cluster.psql("CREATE TABLE orders ()");
    for (int twice = 0; twice < 2; ++twice) run_script("role.sql");
    const Session session = connect(cluster, "next_id");
    BOOST_TEST(column(reserve(session, "global_id_seq", 1), "count") == "1");
    for (const char* refused : {"SELECT setval('global_id_seq', 1)", "SELECT * FROM orders", "CREATE TABLE mine ()",
                                "ALTER SEQUENCE global_id_seq INCREMENT 2", "CREATE ROLE more", "DROP TABLE orders"})
        BOOST_TEST(sqlstate(run(session, refused)) == "42501", refused);
}

BOOST_AUTO_TEST_CASE(rights_that_are_too_much_are_taken_back) {
    run_script("sequence.sql");
    cluster.psql(
        "CREATE ROLE ids NOLOGIN CREATEDB CREATEROLE REPLICATION BYPASSRLS; GRANT ALL ON SEQUENCE global_id_seq TO "
        "ids; "
        "GRANT CREATE ON SCHEMA public TO ids");
    run_script("role.sql", {"role=ids"});
    const Session session = connect(cluster, "ids");
    BOOST_TEST(sqlstate(run(session, "SELECT setval('global_id_seq', 1)")) == "42501");
    BOOST_TEST(cluster.psql("SELECT rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls "
                            "FROM pg_roles WHERE rolname = 'ids'") == "f");
    BOOST_TEST(verdict(run_script("verify.sql", {}, "ids"), "role may do no more") == "ok");
}

BOOST_AUTO_TEST_CASE(whoever_administers_is_refused_and_keeps_all_rights) {
    cluster.psql(
        "CREATE ROLE owner LOGIN CREATEROLE; CREATE ROLE deputy LOGIN CREATEDB IN ROLE owner; "
        "CREATE ROLE boss LOGIN SUPERUSER; CREATE ROLE maker; "
        "CREATE ROLE disguised LOGIN CREATEDB IN ROLE maker; ALTER ROLE disguised SET role = maker");
    cluster.psql("CREATE SEQUENCE s; ALTER SEQUENCE s OWNER TO owner; GRANT ALL ON SEQUENCE s TO disguised");
    const std::string rights =
        "SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, has_sequence_privilege(oid, 's', 'UPDATE') "
        "FROM pg_roles WHERE NOT rolname LIKE 'pg%' ORDER BY 1";
    const std::string before = cluster.psql(rights);
    for (const auto& [user, role, why] :
         std::vector<std::array<std::string, 3>>{{"postgres", "postgres", "is the one that runs this"},
                                                 {"disguised", "disguised", "is the one that runs this"},
                                                 {"disguised", "maker", "is the one that runs this"},
                                                 {"postgres", "boss", "is a superuser"},
                                                 {"postgres", "owner", "owns s"},
                                                 {"owner", "deputy", "owns s, or is a member of its owner"}}) {
        const std::string output = refusal("role.sql", {"sequence=s", "role=" + role}, user);
        BOOST_TEST(says(output, "role " + role + " " + why), output);
        BOOST_TEST(says(output, "-v role=next_id"), output);
    }
    BOOST_TEST(cluster.psql(rights) == before);
}

BOOST_AUTO_TEST_CASE(rights_that_nobody_could_give_are_named_with_who_may) {
    cluster.psql(
        "CREATE ROLE owner LOGIN CREATEROLE; CREATE ROLE schemer; REVOKE CONNECT ON DATABASE postgres FROM PUBLIC; "
        "GRANT CONNECT ON DATABASE postgres TO owner; CREATE SCHEMA app AUTHORIZATION schemer; "
        "GRANT USAGE, CREATE ON SCHEMA app TO owner");
    run_script("sequence.sql", {"sequence=app.s"}, "owner");
    const std::vector<std::string> names{"sequence=app.s", "role=Next-ID"};
    const std::string output = refusal("role.sql", names, "owner");
    BOOST_TEST(says(output,
                    "\n  CREATE ROLE \"Next-ID\" LOGIN;  -- by owner"
                    "\n  GRANT CONNECT ON DATABASE postgres TO \"Next-ID\";  -- by postgres"
                    "\n  GRANT USAGE ON SCHEMA app TO \"Next-ID\";  -- by schemer\n"),
               output);
    BOOST_TEST(cluster.psql("SELECT count(*) FROM pg_roles WHERE rolname = 'Next-ID'") == "0");

    cluster.psql(
        "CREATE ROLE \"Next-ID\" LOGIN; GRANT CONNECT ON DATABASE postgres TO \"Next-ID\"; "
        "GRANT USAGE ON SCHEMA app TO \"Next-ID\"");
    run_script("role.sql", names, "owner");
    BOOST_TEST(verdict(run_script("verify.sql", {"sequence=app.s"}, "Next-ID"), "role may take IDs") == "ok");

    // Who may give one right on the sequence is only warned that he may not give the other.
    cluster.psql(
        "CREATE ROLE helper LOGIN; GRANT CONNECT ON DATABASE postgres TO helper; GRANT USAGE ON SCHEMA app TO helper; "
        "REVOKE ALL ON SEQUENCE app.s FROM \"Next-ID\"; GRANT UPDATE ON SEQUENCE app.s TO helper WITH GRANT OPTION");
    const std::string short_of_one = refusal("role.sql", names, "helper");
    BOOST_TEST(says(short_of_one, "run:\n  GRANT USAGE ON SEQUENCE app.s TO \"Next-ID\";  -- by owner\n"),
               short_of_one);
}

BOOST_AUTO_TEST_CASE(a_role_that_may_move_the_sequence_by_another_way_is_refused) {
    run_script("sequence.sql");
    cluster.psql("CREATE ROLE next_id LOGIN; CREATE ROLE movers; CREATE ROLE helper");
    for (const auto& [given, missing] : std::vector<std::pair<std::string, std::string>>{
             {"GRANT UPDATE ON SEQUENCE global_id_seq TO PUBLIC",
              "REVOKE UPDATE ON SEQUENCE global_id_seq FROM PUBLIC;  -- by postgres"},
             {"GRANT UPDATE ON SEQUENCE global_id_seq TO movers; GRANT movers TO next_id",
              "REVOKE movers FROM next_id;  -- by who administers it"},
             {"REVOKE movers FROM next_id; GRANT pg_write_all_data TO next_id",
              "REVOKE pg_write_all_data FROM next_id;  -- by who administers it"},
             {"REVOKE pg_write_all_data FROM next_id; GRANT UPDATE ON SEQUENCE global_id_seq TO helper WITH GRANT "
              "OPTION; "
              "SET ROLE helper; GRANT UPDATE ON SEQUENCE global_id_seq TO next_id",
              "REVOKE UPDATE ON SEQUENCE global_id_seq FROM next_id;  -- by helper"}}) {
        cluster.psql(given);
        const std::string output = refusal("role.sql", {});
        BOOST_TEST(says(output, "run:\n  " + missing + "\n"), output);
        cluster.psql("REVOKE UPDATE ON SEQUENCE global_id_seq FROM PUBLIC");
    }
    cluster.psql("SET ROLE helper; REVOKE UPDATE ON SEQUENCE global_id_seq FROM next_id");
    run_script("role.sql");
}

BOOST_AUTO_TEST_CASE(an_owner_who_may_not_create_roles_gives_the_rights_to_one_that_is_there) {
    cluster.psql("CREATE ROLE owner LOGIN; CREATE ROLE next_id LOGIN");
    cluster.psql("ALTER DATABASE postgres OWNER TO owner");
    for (const char* script : {"sequence.sql", "role.sql"}) run_script(script, {}, "owner");
    BOOST_TEST(verdict(run_script("verify.sql", {}, "next_id"), "role may take IDs") == "ok");
}

BOOST_AUTO_TEST_CASE(names_with_capitals_and_schemas_pass_through_every_script) {
    cluster.psql("CREATE SCHEMA \"Orders\"");
    const std::string name = "sequence=\"Orders\".\"Ids\"";
    run_script("sequence.sql", {name});
    run_script("role.sql", {name, "role=Next-ID"});
    run_script("resume_past.sql", {name, "past=41"});
    BOOST_TEST(next("\"Orders\".\"Ids\"") == "42");
    BOOST_TEST(verdict(run_script("verify.sql", {name}, "Next-ID"), "role may take IDs") == "ok");
}

BOOST_AUTO_TEST_CASE(resuming_moves_a_sequence_past_the_mark_and_never_back) {
    run_script("sequence.sql");
    next("global_id_seq");
    for (int twice = 0; twice < 2; ++twice) {
        run_script("resume_past.sql", {"past=5000"});
        BOOST_TEST(comment("global_id_seq") == "next-id: resume past 5000");
    }
    BOOST_TEST(next("global_id_seq") == "5001");
    BOOST_TEST(says(run_script("resume_past.sql", {"past=100"}), "was already past 100; the next value is 5002"));
    BOOST_TEST(next("global_id_seq") == "5002");
}

BOOST_AUTO_TEST_CASE(a_sequence_that_was_never_called_is_moved_too) {
    run_script("sequence.sql");
    run_script("resume_past.sql", {"past=0"});
    BOOST_TEST(next("global_id_seq") == "1");
    cluster.psql("ALTER SEQUENCE global_id_seq RESTART WITH 10");
    run_script("resume_past.sql", {"past=10"});
    BOOST_TEST(next("global_id_seq") == "11");
}

BOOST_AUTO_TEST_CASE(odd_ids_stay_odd) {
    run_script("sequence.sql", {"sequence=odd", "increment=2"});
    run_script("resume_past.sql", {"sequence=odd", "past=100"});
    BOOST_TEST(next("odd") == "103");  // the value before, 101, is used up by the move
    run_script("resume_past.sql", {"sequence=odd", "past=201"});
    BOOST_TEST(next("odd") == "203");
}

BOOST_AUTO_TEST_CASE(the_block_of_the_next_value_lies_past_the_mark) {
    run_script("block_sequence.sql");
    for (const auto& [past, value] : std::vector<std::pair<std::string, std::string>>{
             {"past=1", "1001"}, {"past=2999", "4001"}, {"past=5000", "6001"}, {"past=6001", "7001"}}) {
        run_script("resume_past.sql", {past});
        BOOST_TEST(next("global_id_seq") == value, past);
        BOOST_TEST(std::stoll(value) - 1000 + 1 > std::stoll(past.substr(5)));
    }
}

BOOST_AUTO_TEST_CASE(a_descending_sequence_resumes_below_the_mark) {
    cluster.psql("CREATE SEQUENCE down INCREMENT -3 MINVALUE -9223372036854775808 START -1");
    next("down");
    run_script("resume_past.sql", {"sequence=down", "past=-9000000000000000001"});
    const std::int64_t value = std::stoll(next("down"));
    BOOST_TEST(value < -9000000000000000001);
    BOOST_TEST((value + 1) % 3 == 0);
    BOOST_TEST(says(run_script("resume_past.sql", {"sequence=down", "past=5"}), "was already past 5"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_resumed_is_refused_and_changes_nothing) {
    run_script("sequence.sql");
    BOOST_TEST(says(refusal("resume_past.sql", {}), "past which ID?"));
    BOOST_TEST(says(refusal("resume_past.sql", {"past=1e9"}), "no whole number"));
    BOOST_TEST(says(refusal("resume_past.sql", {"past=9223372036854775807"}), "has no value left past"));
    BOOST_TEST(says(refusal("resume_past.sql", {"past=1", "sequence=pg_class"}), "is not a sequence"));
    BOOST_TEST(says(refusal("resume_past.sql", {"past=1", "sequence=nowhere"}), "does not exist"));
    BOOST_TEST(next("global_id_seq") == "1");
    BOOST_TEST(comment("global_id_seq") == "");
    cluster.psql("ALTER SEQUENCE global_id_seq CYCLE");
    BOOST_TEST(says(refusal("resume_past.sql", {"past=1"}), "NO CYCLE"));
}

BOOST_AUTO_TEST_CASE(a_good_set_up_is_verified) {
    run_script("sequence.sql");
    run_script("role.sql");
    const std::string table = run_script("verify.sql", {}, "next_id");
    BOOST_TEST(!says(table, "FAIL"), table);
    BOOST_TEST(verdict(table, "synchronous standby") == "warn");
    BOOST_TEST(verdict(table, "role may do no more") == "ok");
    BOOST_TEST(says(run_script("verify.sql", {"role=next_id"}), "next_id"));
    BOOST_TEST(next("global_id_seq") == "1");  // it took none
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_found) {
    BOOST_TEST(verdict(run_script("verify.sql"), "sequence exists") == "FAIL");
    cluster.psql(
        "CREATE SEQUENCE global_id_seq MAXVALUE 1000 CYCLE CACHE 10; CREATE ROLE next_id LOGIN; "
        "ALTER ROLE next_id SET synchronous_commit = off; SELECT setval('global_id_seq', 950)");
    std::string table = run_script("verify.sql", {"role=next_id"});
    BOOST_TEST(verdict(table, "no CYCLE") == "FAIL");
    BOOST_TEST(verdict(table, "CACHE 1") == "warn");
    BOOST_TEST(verdict(table, "role may take IDs") == "FAIL");
    BOOST_TEST(verdict(table, "synchronous_commit") == "warn");
    BOOST_TEST(verdict(table, "IDs left") == "warn");
    BOOST_TEST(verdict(run_script("verify.sql"), "role may do no more") == "warn");
    BOOST_TEST(verdict(run_script("verify.sql", {"role=nobody"}), "role may connect") == "FAIL");

    cluster.psql("SELECT setval('global_id_seq', 1000); ALTER ROLE next_id SET default_transaction_read_only = on");
    table = run_script("verify.sql", {}, "next_id");
    BOOST_TEST(verdict(table, "takes writes") == "FAIL");
    BOOST_TEST(verdict(run_script("verify.sql"), "IDs left") == "FAIL");
}

BOOST_AUTO_TEST_CASE(a_sequence_out_of_reach_is_described_all_the_same) {
    cluster.psql("CREATE ROLE next_id LOGIN; CREATE SCHEMA \"Orders\"; CREATE SEQUENCE \"Orders\".ids");
    for (const char* name : {"\"Orders\".IDS", "postgres.\"Orders\".ids"}) {
        const std::string table = run_script("verify.sql", {std::string{"sequence="} + name}, "next_id");
        BOOST_TEST(verdict(table, "sequence exists") == "ok", table);
        BOOST_TEST(verdict(table, "role may take IDs") == "FAIL", table);
        BOOST_TEST(says(line_of(table, "role may take IDs"), "no USAGE on schema \"Orders\""), table);
    }
    for (const char* name : {"Orders.ids", "\"Orders\".none", "other.\"Orders\".ids"}) {
        const std::string table = run_script("verify.sql", {std::string{"sequence="} + name}, "next_id");
        BOOST_TEST(verdict(table, "sequence exists") == "FAIL", table);
    }
}

BOOST_AUTO_TEST_CASE(what_is_left_is_unknown_to_who_may_not_read_it) {
    cluster.psql("CREATE ROLE next_id LOGIN; CREATE SEQUENCE global_id_seq MAXVALUE 1000");
    next("global_id_seq");
    cluster.psql("SELECT setval('global_id_seq', 1000)");
    std::string table = run_script("verify.sql", {}, "next_id");
    BOOST_TEST(verdict(table, "IDs left") == "warn");
    BOOST_TEST(says(line_of(table, "IDs left"), "unknown: next_id may not read"), table);
    cluster.psql("GRANT USAGE ON SEQUENCE global_id_seq TO next_id");
    BOOST_TEST(verdict(run_script("verify.sql", {}, "next_id"), "IDs left") == "FAIL");
}

BOOST_AUTO_TEST_CASE(a_rest_below_the_increment_is_no_rest) {
    cluster.psql(
        "CREATE SEQUENCE up START 10 INCREMENT 10 MAXVALUE 1009; CREATE SEQUENCE down INCREMENT -10 MINVALUE -1009; "
        "SELECT setval('up', 990), setval('down', -990)");
    for (const auto& [name, last] : {std::pair{"up", "1000"}, std::pair{"down", "-1000"}}) {
        const std::vector<std::string> sequence{std::string{"sequence="} + name};
        BOOST_TEST(verdict(run_script("verify.sql", sequence), "IDs left") == "warn", name);
        BOOST_TEST(next(name) == last);
        BOOST_TEST(verdict(run_script("verify.sql", sequence), "IDs left") == "FAIL", name);
        BOOST_CHECK_THROW(next(name), std::runtime_error);
    }
    cluster.psql("CREATE SEQUENCE one_block START 1000 INCREMENT 1000 MAXVALUE 1000");
    BOOST_TEST(says(line_of(run_script("verify.sql", {"sequence=one_block"}), "IDs left"),
                    "ok     | 1000 (100.0 %) from START on"));
}

BOOST_AUTO_TEST_CASE(an_increment_above_one_comes_with_its_hint) {
    run_script("block_sequence.sql");
    BOOST_TEST(says(line_of(run_script("verify.sql"), "increment"), "ok     | 1000: --increment block, unless"));
    run_script("sequence.sql", {"sequence=plain"});
    BOOST_TEST(!says(line_of(run_script("verify.sql", {"sequence=plain"}), "increment"), "block"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
