#include "sidecar/app/pg_source.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "sidecar/config/load.h"
#include "tests/support/temp_dir.h"

namespace next_id {
namespace {

struct PasswordFixture {
    // What the next connection is told.
    std::string password() const {
        Config config = default_config();
        config.pg_password = {PgPassword::Source::file, path};
        const auto read = pg_target_of(config)->read_password();
        return read ? **read : "error: " + read.error();
    }
    void write(const std::string& text) const { std::ofstream{path} << text; }

    const TempDir dir;
    const std::string path = (dir.path / "password").string();
    const std::string cannot = "error: cannot read the password from PG_PASSWORD_FILE " + path + ": ";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pg_source_tests, PasswordFixture)

BOOST_AUTO_TEST_CASE(a_password_is_the_file_without_the_ends_of_lines) {
    for (const char* text : {" secret ", " secret \n", " secret \r\n"}) {
        write(text);
        BOOST_TEST(password() == " secret ");
    }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_an_error_and_nothing_worse) {
    BOOST_TEST(password() == cannot + "No such file or directory");
    std::filesystem::create_directory(path);
    BOOST_TEST(password() == cannot + "it is no regular file");
    std::filesystem::remove(path);
    BOOST_TEST_REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    BOOST_TEST(password() == cannot + "it is no regular file");  // and nobody waits for its other end
    std::filesystem::remove(path);
    write(std::string(4097, 'x'));
    BOOST_TEST(password() == cannot + "it is longer than the 4096 bytes allowed");
}

BOOST_AUTO_TEST_CASE(hosts_and_ports_of_a_service_are_found) {
    const std::string services = dir.path / "services";
    std::ofstream{services} << "[mine]\nhost=db.example\nport=6432\ndbname=ids\n";
    setenv("PGSERVICEFILE", services.c_str(), 1);
    Config config = default_config();
    config.pg_conninfo = "service=mine";
    const auto target = pg_target_of(config);
    BOOST_TEST_REQUIRE(target.has_value());
    const auto hosts = hosts_of(target->parameters);
    BOOST_TEST_REQUIRE(hosts.has_value());
    BOOST_TEST(hosts->front().name == "db.example");
    BOOST_TEST(hosts->front().port == "6432");
    BOOST_TEST(endpoint_of(target->parameters).database == "ids");
    unsetenv("PGSERVICEFILE"), unsetenv("PGSERVICE");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
