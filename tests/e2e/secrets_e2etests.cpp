// Whatever goes wrong, no secret is told: all that the program says is searched for a word that only its secrets hold.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/sidecar_process.h"

namespace next_id::test {
namespace {

const std::string word = "Pa55word";

std::string content_of(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream{path, std::ios::binary}.rdbuf();
    return content.str();
}

struct SecretsFixture {
    SecretsFixture() {
        shared_postgres().psql("DROP ROLE IF EXISTS other; CREATE ROLE other LOGIN IN ROLE guarded PASSWORD 'right'");
    }

    void set(const SidecarSettings& settings) {
        for (const auto& [name, value] : settings) sidecar.set(name, *value);
    }

    void check_untold(const std::string& where, const std::string& said) {
        BOOST_CHECK_MESSAGE(said.find(word) == std::string::npos, where << " tells: " << said);
    }

    // `reason`: what the log has to say before all is looked at.
    void check_running(const std::string& reason) {
        sidecar.start();
        BOOST_REQUIRE(sidecar.wait_for_log(reason));
        const std::string process = "/proc/" + std::to_string(sidecar.pid());
        BOOST_CHECK(content_of(process + "/cmdline").find("serve") != std::string::npos);
        for (const char* name : {"/cmdline", "/comm", "/maps"}) check_untold(name, content_of(process + name));
        const std::string headers =
            "Host: test\r\nAuthorization: Bearer client-" + word + "\r\nX-Api-Token: client-" + word;
        for (const std::string& address : {sidecar.http(), sidecar.admin()})
            for (const char* target :
                 {"/next-id", "/next-id?count=wrong", "/livez", "/readyz", "/startupz", "/status",
                  "/status?format=text", "/status?format=html", "/status?since=0", "/metrics", "/"}) {
                TestClient client{address};
                client.send("GET " + std::string{target} + " HTTP/1.1\r\n" + headers + "\r\n\r\n");
                const TestAnswer answer = client.receive();
                check_untold(target, answer.head + answer.body);
            }
        check_untold("next-id status", run_next_id({"status"}, {{"NEXT_ID_ADMIN", sidecar.admin()}}).output);
        BOOST_CHECK_EQUAL(sidecar.stop(), 0);
        check_untold("the log", sidecar.log());
    }
    void check_refused(const std::string& reason) {
        BOOST_CHECK_EQUAL(sidecar.run_to_exit(), 78);
        BOOST_CHECK_MESSAGE(sidecar.log().find(reason) != std::string::npos, sidecar.log());
        check_untold("the log", sidecar.log());
    }

    SidecarProcess sidecar{shared_postgres(),
                           {{"PG_SEQUENCE", new_sequence()},
                            {"NEXT_ID_LOG_LEVEL", "trace"},
                            {"NEXT_ID_WAIT_MAX", "0s"},
                            {"PG_USER", "other"},
                            {"PG_PASSWORD", std::nullopt}}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(secrets_e2etests, SecretsFixture)

BOOST_AUTO_TEST_CASE(of_a_password_in_the_environment) {
    set({{"PG_PASSWORD", "wrong-" + word}});
    check_running("password authentication failed");
    const Outage outage;
    check_running("no connection to PostgreSQL");
}

BOOST_AUTO_TEST_CASE(of_a_password_in_a_file) {
    sidecar.set("PG_PASSWORD_FILE", sidecar.write_file("password", "wrong-" + word + "\n"));
    check_running("password authentication failed");
}

BOOST_AUTO_TEST_CASE(of_a_connection_string) {
    const std::string address = "127.0.0.1:" + shared_postgres().port() + "/postgres";
    sidecar.set("PG_CONNINFO", "postgresql://other:wrong-" + word + "@" + address);
    check_running("password authentication failed");
    sidecar.set("PG_CONNINFO", "host=127.0.0.1 password='wrong-" + word + "' nonsense=" + word);
    check_refused("not a libpq connection string");
    sidecar.set("PG_CONNINFO", "password=" + word + " with more words");
    check_refused("not a libpq connection string");
    sidecar.set("PG_CONNINFO", "postgresql://other:" + word + "%zz@" + address);
    check_refused("not a libpq connection string");
}

BOOST_AUTO_TEST_CASE(of_tokens) {
    set({{"NEXT_ID_TOKEN_FILE", sidecar.write_file("tokens", "# " + word + "\ntoken-" + word + "\n")},
         {"NEXT_ID_ADMIN_TOKEN_FILE", sidecar.write_file("admin-tokens", "admin-" + word + "\n")},
         {"PG_PASSWORD", "wrong-" + word}});
    check_running("password authentication failed");
    sidecar.write_file("tokens", "token-" + word + " and more\n");
    check_refused("--token-file");
}

BOOST_AUTO_TEST_CASE(of_a_private_key) {
    set({{"PG_PASSWORD", ""},
         {"NEXT_ID_TLS_CERT", sidecar.write_file("cert.pem", "-----BEGIN CERTIFICATE-----\n" + word)},
         {"NEXT_ID_TLS_KEY", sidecar.write_file("key.pem", "-----BEGIN PRIVATE KEY-----\n" + word)}});
    check_refused("cannot speak TLS");
}

BOOST_AUTO_TEST_CASE(of_a_settings_file) {
    sidecar.set("NEXT_ID_CONFIG", sidecar.write_file("settings", "pg-password = " + word +
                                                                     "\npg-conninfo = password=" + word + " x y\n"));
    check_refused("not a libpq connection string");
    sidecar.set("NEXT_ID_CONFIG", sidecar.write_file("settings", "pg-pasword = " + word + "\n"));
    check_refused("is no setting");
    sidecar.set("NEXT_ID_CONFIG", sidecar.write_file("settings", "pg-password " + word + "\n"));
    check_refused("settings:1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
