#include "sidecar/refill/pg_target.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace next_id::test {
namespace {

std::string value(const PgParameters& parameters, const std::string& keyword) {
    std::string found = "(none)";
    for (const auto& [key, text] : parameters)
        if (key == keyword) found = text;
    return found;
}

PgParameters parameters_of(const PgParameters& given, const std::optional<std::string>& password = {}) {
    return parameters_for(PgTarget{.parameters = given, .read_password = {}}, {"db.example", "", "5432"}, "10.0.0.1",
                          password);
}

// libpq's variables are part of the input.
struct Environment {
    Environment() { clear(); }
    ~Environment() { clear(); }
    static void clear() {
        for (const char* name : {"PGHOST", "PGHOSTADDR", "PGPORT", "PGGSSENCMODE", "PGTARGETSESSIONATTRS"})
            unsetenv(name);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pg_target_tests, Environment)

BOOST_AUTO_TEST_CASE(conninfo_is_read_as_pairs_and_as_uri) {
    const auto pairs = parse_conninfo("host=a,b port=1,2 password='it''s\\'' user=me");
    BOOST_TEST(!pairs.has_value());  // '' is no escape in a conninfo
    const auto escaped = parse_conninfo("host=a,b port=1,2 password='it\\'s' user=me");
    BOOST_REQUIRE(escaped.has_value());
    BOOST_TEST(value(*escaped, "host") == "a,b");
    BOOST_TEST(value(*escaped, "password") == "it's");
    const auto uri = parse_conninfo("postgresql://me:p%40ss@a:1,b:2/test_db?sslmode=require");
    BOOST_REQUIRE(uri.has_value());
    BOOST_TEST(value(*uri, "host") == "a,b");
    BOOST_TEST(value(*uri, "port") == "1,2");
    BOOST_TEST(value(*uri, "password") == "p@ss");
    BOOST_TEST(value(*uri, "dbname") == "test_db");
}

BOOST_AUTO_TEST_CASE(a_malformed_conninfo_is_refused_without_a_word_of_it) {
    for (const char* text :
         {"host=a password=top secret word", "postgresql://me:sec%zzret@host/db", "password='secret"}) {
        const auto parsed = parse_conninfo(text);
        BOOST_REQUIRE(!parsed.has_value());
        BOOST_TEST(parsed.error().find("sec") == std::string::npos, parsed.error());
        BOOST_TEST(parsed.error().find("postgresql://user@") != std::string::npos, parsed.error());
    }
}

BOOST_AUTO_TEST_CASE(hosts_and_ports_are_paired_in_order) {
    const auto hosts = hosts_of({{"host", "a,/run/pg,10.0.0.1,::1"}, {"port", "1,2,3,4"}});
    BOOST_REQUIRE(hosts.has_value());
    BOOST_REQUIRE_EQUAL(hosts->size(), 4U);
    BOOST_TEST((*hosts)[0].name == "a");
    BOOST_TEST((*hosts)[1].port == "2");
    BOOST_TEST(needs_lookup((*hosts)[0]));
    BOOST_TEST(!needs_lookup((*hosts)[1]));
    BOOST_TEST((*hosts)[2].address == "10.0.0.1");
    BOOST_TEST((*hosts)[3].address == "::1");
    BOOST_TEST(!needs_lookup((*hosts)[3]));

    const auto one_port = hosts_of({{"host", "a,b"}, {"hostaddr", "10.0.0.1,10.0.0.2"}, {"port", "6543"}});
    BOOST_REQUIRE(one_port.has_value());
    BOOST_TEST((*one_port)[1].port == "6543");
    BOOST_TEST((*one_port)[1].name == "b");
    BOOST_TEST((*one_port)[1].address == "10.0.0.2");
}

BOOST_AUTO_TEST_CASE(lists_that_do_not_match_are_refused) {
    BOOST_TEST(!hosts_of({{"host", "a,b"}, {"port", "1,2,3"}}).has_value());
    BOOST_TEST(!hosts_of({{"host", "a,b"}, {"hostaddr", "10.0.0.1"}}).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_not_given_comes_from_libpqs_environment) {
    setenv("PGHOST", "from-environment", 1);
    setenv("PGPORT", "7777", 1);
    setenv("PGHOSTADDR", "10.9.9.9", 1);
    const auto all = hosts_of({});
    BOOST_REQUIRE(all.has_value());
    BOOST_TEST((*all)[0].name == "from-environment");
    BOOST_TEST((*all)[0].address == "10.9.9.9");
    BOOST_TEST((*all)[0].port == "7777");
    // An address in the environment does not lead a host of the configuration astray.
    const auto named = hosts_of({{"host", "mine"}});
    BOOST_REQUIRE(named.has_value());
    BOOST_TEST((*named)[0].name == "mine");
    BOOST_TEST((*named)[0].address == "");
}

BOOST_AUTO_TEST_CASE(defaults_give_way_to_what_the_user_chose) {
    const PgParameters ours = parameters_of({});
    BOOST_TEST(value(ours, "host") == "db.example");
    BOOST_TEST(value(ours, "hostaddr") == "10.0.0.1");
    BOOST_TEST(value(ours, "gssencmode") == "disable");
    BOOST_TEST(value(ours, "target_session_attrs") == "read-write");
    BOOST_TEST(value(ours, "tcp_user_timeout") == "30000");
    const PgParameters chosen = parameters_of({{"target_session_attrs", "any"}, {"keepalives_idle", "60"}});
    BOOST_TEST(value(chosen, "target_session_attrs") == "any");
    BOOST_TEST(value(chosen, "keepalives_idle") == "60");
    setenv("PGGSSENCMODE", "prefer", 1);
    BOOST_TEST(value(parameters_of({}), "gssencmode") == "(none)");
}

BOOST_AUTO_TEST_CASE(a_password_that_was_read_replaces_the_configured_one) {
    BOOST_TEST(value(parameters_of({{"password", "old"}}, "new"), "password") == "new");
    BOOST_TEST(value(parameters_of({{"password", "old"}}), "password") == "old");
}

BOOST_AUTO_TEST_CASE(people_are_told_whom_a_connection_is_to_and_never_the_password) {
    const PgEndpoint endpoint =
        endpoint_of({{"host", "a,b"}, {"port", "1,2"}, {"dbname", "test_db"}, {"user", "me"}, {"password", "secret"}});
    BOOST_TEST(endpoint.host == "a,b");
    BOOST_TEST(endpoint.port == "1,2");
    BOOST_TEST(endpoint.database == "test_db");
    BOOST_TEST(endpoint.user == "me");
    BOOST_TEST(endpoint_of({{"hostaddr", "10.0.0.1"}}).host == "10.0.0.1");
    BOOST_TEST(endpoint_of({{"host", "a"}, {"hostaddr", "10.0.0.1"}}).host == "a");
    setenv("PGHOST", "of.libpq", 1);
    setenv("PGPORT", "6543", 1);
    BOOST_TEST(endpoint_of({}).host == "of.libpq");
    BOOST_TEST(endpoint_of({}).port == "6543");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
