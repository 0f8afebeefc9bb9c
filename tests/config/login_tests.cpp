#include <boost/test/unit_test.hpp>

#include "sidecar/config/load.h"
#include "tests/config/given_config.h"

namespace next_id {

using Source = PgPassword::Source;

BOOST_FIXTURE_TEST_SUITE(login_tests, GivenConfig)

BOOST_AUTO_TEST_CASE(without_any_way_to_log_in_it_stops_and_says_how_to_set_one) {
    const std::string sentence = refused(ExitCode::cannot_work);
    BOOST_TEST(sentence.starts_with("PG_PASSWORD not set: "));
    for (const char* way : {"PG_PASSWORD_FILE", "PG_PASSWORD= (empty)", ".pgpass"})
        BOOST_TEST(sentence.find(way) != std::string::npos, way);
}

BOOST_AUTO_TEST_CASE(a_password_that_is_set_and_empty_says_that_none_is_needed) {
    environment["PG_PASSWORD"] = "";
    BOOST_TEST((loaded().pg_password.source == Source::none_needed));
}

BOOST_AUTO_TEST_CASE(the_password_comes_from_the_environment_or_a_file) {
    environment["PG_PASSWORD"] = "s3cret ";
    BOOST_TEST((loaded().pg_password.source == Source::literal));
    BOOST_TEST(loaded().pg_password.text == "s3cret ");
    environment = {{"PG_PASSWORD_FILE", write("password", "s3cret")}};
    BOOST_TEST((loaded().pg_password.source == Source::file));
    BOOST_TEST(loaded().pg_password.text == environment["PG_PASSWORD_FILE"]);
}

BOOST_AUTO_TEST_CASE(of_two_passwords_the_higher_layer_counts_and_a_tie_is_refused) {
    const std::string path = write("password", "from the file");
    environment = {{"PG_PASSWORD", "s3cret"}, {"PG_PASSWORD_FILE", path}};
    BOOST_TEST(refused(ExitCode::cannot_work) == "PG_PASSWORD and PG_PASSWORD_FILE are both set; one is allowed");
    environment = {{"PG_PASSWORD", "s3cret"}};
    flags["pg-password-file"] = path;
    BOOST_TEST((loaded().pg_password.source == Source::file));
    flags.clear();
    file("pg-password-file = " + path + "\n");
    BOOST_TEST((loaded().pg_password.source == Source::literal));
}

BOOST_AUTO_TEST_CASE(a_password_file_that_cannot_be_read_is_refused) {
    environment["PG_PASSWORD_FILE"] = "/nonexistent";
    BOOST_TEST(refused(ExitCode::cannot_work) ==
               "PG_PASSWORD_FILE is \"/nonexistent\", but takes a file that can be read (No such file or directory)");
    environment["PG_PASSWORD_FILE"] = "/tmp";
    BOOST_TEST(refused().ends_with("takes a file that can be read (Is a directory)"));
}

BOOST_AUTO_TEST_CASE(another_way_to_log_in_is_left_to_libpq) {
    const std::map<std::string, std::string> ways{
        {"PG_CONNINFO", "host=a"}, {"PGPASSWORD", "s3cret"},       {"PGPASSFILE", "/x"},   {"PGSERVICE", "ids"},
        {"PGSSLCERT", "/c"},       {"PG_HOST", "/run/postgresql"}, {"PGHOST", "/run/a,@b"}};
    for (const auto& [variable, value] : ways) {
        environment = {{variable, value}};
        BOOST_TEST((loaded().pg_password.source == Source::left_to_libpq), variable);
        environment[variable] = "";
        BOOST_TEST(!load().has_value(), variable);
    }
    environment = {{"PGHOST", "/run/a,10.0.0.1"}};  // one of them is no socket
    BOOST_TEST(refused().starts_with("PG_PASSWORD not set"));
    environment = {{"PG_HOST", "10.0.0.1"}, {"PGHOST", "/run/postgresql"}};
    BOOST_TEST(refused().starts_with("PG_PASSWORD not set"));
}

BOOST_AUTO_TEST_CASE(files_in_the_home_directory_count_when_they_are_there) {
    environment["HOME"] = directory.string();
    BOOST_TEST(refused().starts_with("PG_PASSWORD not set"));
    write(".pgpass", "*:*:*:*:s3cret\n");
    BOOST_TEST((loaded().pg_password.source == Source::left_to_libpq));
    std::filesystem::remove(directory / ".pgpass");
    write(".postgresql/postgresql.crt", "");
    BOOST_TEST((loaded().pg_password.source == Source::left_to_libpq));
}

BOOST_AUTO_TEST_CASE(libpqs_own_variables_stand_between_ours_and_the_defaults) {
    no_password_needed();
    environment["PGHOST"] = "db.example";
    environment["PGUSER"] = "app";
    BOOST_TEST(keywords(loaded()) == "port=5432? dbname=test_db?");
    environment["PG_HOST"] = "10.0.0.1";
    flags["pg-user"] = "ids";
    BOOST_TEST(keywords(loaded()) == "host=10.0.0.1 port=5432? dbname=test_db? user=ids");
    flags.clear();
    environment = {{"PG_PASSWORD", ""}, {"PGPORT", "6432"}, {"PGDATABASE", "d"}, {"PGHOST", ""}};  // empty is not there
    BOOST_TEST(keywords(loaded()) == "host=127.0.0.1? user=postgres?");
}

BOOST_AUTO_TEST_CASE(a_default_never_overrides_a_service_or_an_address) {
    no_password_needed();
    environment["PGHOSTADDR"] = "10.0.0.1";
    BOOST_TEST(keywords(loaded()) == "port=5432? dbname=test_db? user=postgres?");
    environment["PGSERVICE"] = "ids";
    environment["PG_DATABASE"] = "mine";
    BOOST_TEST(keywords(loaded()) == "dbname=mine");
}

BOOST_AUTO_TEST_CASE(conninfo_is_passed_on_as_it_is) {
    environment["PG_CONNINFO"] = "postgresql://a:s3cret@h1,h2/db?x=y";
    BOOST_TEST(loaded().pg_conninfo == environment["PG_CONNINFO"]);
    environment["PG_PASSWORD"] = "other";
    BOOST_TEST((loaded().pg_password.source == Source::literal));
}

BOOST_AUTO_TEST_CASE(a_port_that_kubernetes_set_is_explained) {
    no_password_needed();
    environment["PG_PORT"] = "tcp://10.0.0.1:5432";
    const std::string sentence = refused(ExitCode::cannot_work);
    BOOST_TEST(sentence.starts_with("PG_PORT is \"tcp://10.0.0.1:5432\", but takes a port from 1 to 65535; "));
    for (const char* hint : {"Kubernetes", "Service that is named pg", "enableServiceLinks: false"})
        BOOST_TEST(sentence.find(hint) != std::string::npos, hint);
}

BOOST_AUTO_TEST_CASE(no_error_shows_a_secret) {
    environment = {{"PG_PASSWORD", "s3cret"}, {"PG_CONNINFO", "password=s3cret"}};
    for (const auto& [name, wrong] :
         Flags{{"threads", "0"}, {"pg-port", "x"}, {"window-min", "999999999"}, {"http", "127.0.0.1:9911"}}) {
        flags = {{name, wrong}};
        const auto config = load();
        BOOST_TEST_REQUIRE(!config.has_value());
        BOOST_TEST(config.error().sentence.find("s3cret") == std::string::npos);
    }
    flags.clear();
    for (const char* content :
         {"pg-password s3cret", "pg-pasword = s3cret", "pg-password = s3cret\npg-password = s3cret"}) {
        file(content);
        BOOST_TEST(refused().find("s3cret") == std::string::npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
