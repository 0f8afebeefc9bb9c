// PostgreSQL behind TLS, with a certificate that is checked as far as libpq can: authority and host name.
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/certificates.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/temp_dir.h"

namespace next_id::test {
namespace {

struct PgTlsFixture {
    PgTlsFixture() {
        // PostgreSQL wants its key to itself, and may run as another user than we do.
        std::filesystem::permissions(dir.path, std::filesystem::perms{0755});
        std::filesystem::permissions(key_file, std::filesystem::perms{0600});
        if (const auto user = server_user()) BOOST_TEST_REQUIRE(chown(key_file.c_str(), user->uid, user->gid) == 0);
    }

    SidecarSettings settings(const std::string& host, const std::string& authorities) const {
        return {{"PG_HOST", host}, {"PGSSLMODE", "verify-full"}, {"PGSSLROOTCERT", authorities}};
    }
    // Why there is no ID, as the log, the status and a client are told.
    void check_refused(SidecarProcess& sidecar, const std::string& reason) const {
        sidecar.set("NEXT_ID_WAIT_MAX", "0s");
        sidecar.start();
        BOOST_TEST(sidecar.wait_for_log(reason), sidecar.log());
        for (const std::string& told :
             {sidecar.ask_admin("/status").body, TestClient{sidecar.socket()}.get("/next-id").body})
            BOOST_TEST(told.find(reason) != std::string::npos, told);
        BOOST_TEST(sidecar.ask_admin("/readyz").status == 503);
    }

    TempDir dir;
    const Certificate authority = Certificate::authority("Database Authority"), own = authority.issue("localhost");
    const std::string certificate_file = dir.write("pg.pem", own.pem()), key_file = dir.write("pg.key", own.key_pem());
    const std::string ca_file = dir.write("ca.pem", authority.pem());
    const std::string wrong_ca_file = dir.write("wrong.pem", Certificate::authority("Somebody").pem());
};

// Over TCP only with TLS.
struct PgTlsCluster : PgTlsFixture {
    PgTlsCluster() { postgres.psql("CREATE SEQUENCE global_id_seq"); }

    PgCluster postgres{
        {.settings = {"ssl = on", "ssl_cert_file = '" + certificate_file + "'", "ssl_key_file = '" + key_file + "'"},
         .hba = {"hostnossl all all all reject"}}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pg_tls_e2etests, PgTlsCluster)

BOOST_AUTO_TEST_CASE(the_right_certificate_is_verified_by_name_although_the_name_was_looked_up_before) {
    SidecarProcess sidecar{postgres, settings("localhost", ca_file)};
    sidecar.start_ready();
    BOOST_TEST(id_of(TestClient{sidecar.http()}.get("/next-id")) == 1);
    SidecarProcess plain{postgres, {{"PGSSLMODE", "disable"}}};
    check_refused(plain, "no encryption");
}

BOOST_AUTO_TEST_CASE(a_certificate_of_another_authority_is_refused) {
    SidecarProcess sidecar{postgres, settings("localhost", wrong_ca_file)};
    check_refused(sidecar, "certificate verify failed");
}

BOOST_AUTO_TEST_CASE(a_certificate_of_another_host_is_refused) {
    SidecarSettings elsewhere = settings("unused", ca_file);
    elsewhere["PG_CONNINFO"] = "host=db.example hostaddr=127.0.0.1";
    SidecarProcess sidecar{postgres, elsewhere};
    check_refused(sidecar, "does not match host name");
}

BOOST_AUTO_TEST_CASE(what_PG_CONNINFO_says_of_tls_counts) {
    SidecarProcess sidecar{postgres, {{"PG_CONNINFO", "host=localhost sslmode=verify-full sslrootcert=" + ca_file}}};
    sidecar.start_ready();
    BOOST_TEST(id_of(TestClient{sidecar.http()}.get("/next-id")) == 1);
    SidecarProcess wrong{postgres, {{"PG_CONNINFO", "host=localhost sslmode=verify-ca sslrootcert=" + wrong_ca_file}}};
    check_refused(wrong, "certificate verify failed");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
