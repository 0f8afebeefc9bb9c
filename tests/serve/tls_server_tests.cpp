#include "sidecar/serve/tls_server.h"

#include <boost/test/unit_test.hpp>

#include "tests/serve/tls_files.h"

namespace next_id {
namespace {

using namespace std::chrono_literals;

struct ServerFixture : TlsFiles {
    // As its owner does, until it has acted on what has changed.
    void refresh() {
        for (int i = 0; i < 2; ++i) server->refresh(now += 1s);
    }
    std::string error_of(const TlsServer::Paths& files) {
        const auto opened = TlsServer::open(files);
        return opened ? "" : opened.error();
    }

    Instant now = Clock::now();
    const std::unique_ptr<TlsServer> server = std::move(*TlsServer::open(paths));
    const test::Certificate renewed = test_authority().issue("renewed");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_server_tests, ServerFixture)

BOOST_AUTO_TEST_CASE(new_files_are_taken_and_old_connections_go_on) {
    TlsPair old{*server->context()};
    old.talk();
    write(renewed);
    refresh();
    BOOST_TEST(server->context()->subject() == "CN=renewed");
    old.client.write("still here");
    old.talk();
    BOOST_TEST(old.received == "still here");
    TlsPair young{*server->context(), {.authority = &test_authority()}};
    young.talk();
    BOOST_TEST(young.client.connected());
}

BOOST_AUTO_TEST_CASE(while_nothing_changes_the_context_stays_for_a_day) {
    const auto first = server->context();
    for (int i = 0; i < 100; ++i) server->refresh(now += 1s);
    BOOST_TEST(server->context() == first);
    server->refresh(now += 24h);  // new keys for tickets, and a look at the calendar
    BOOST_TEST(server->context() != first);
}

BOOST_AUTO_TEST_CASE(a_pair_that_does_not_match_keeps_the_old_one_until_it_does) {
    dir.write("cert.pem", renewed.pem());
    refresh();
    BOOST_TEST(server->context()->subject() == "CN=localhost");
    dir.write("key.pem", renewed.key_pem());
    refresh();
    BOOST_TEST(server->context()->subject() == "CN=renewed");
}

BOOST_AUTO_TEST_CASE(files_that_are_replaced_one_after_the_other_are_looked_at_when_both_are) {
    dir.write("cert.pem", renewed.pem());
    server->refresh(now += 1s);
    dir.write("key.pem", renewed.key_pem());
    server->refresh(now += 1s);
    BOOST_TEST(server->context()->subject() == "CN=localhost");
    server->refresh(now += 1s);
    BOOST_TEST(server->context()->subject() == "CN=renewed");
}

BOOST_AUTO_TEST_CASE(rubbish_or_nothing_keeps_the_old_one) {
    dir.write("cert.pem", "rubbish");
    refresh();
    BOOST_TEST(server->context()->subject() == "CN=localhost");
    std::filesystem::remove(dir.path / "cert.pem");
    refresh();
    BOOST_TEST(server->context()->subject() == "CN=localhost");
    write(renewed);
    refresh();
    BOOST_TEST(server->context()->subject() == "CN=renewed");
}

BOOST_AUTO_TEST_CASE(new_authorities_of_clients_count_for_new_connections) {
    TlsServer::Paths demanding = paths;
    demanding.client_cas = dir.path / "ca.pem";
    const auto strict = std::move(*TlsServer::open(demanding));
    const test::Certificate other = test::Certificate::authority("Other"), own = other.issue("client");
    const auto lets_in = [&] {
        TlsPair pair{*strict->context(), {.own = &own}};
        pair.talk();
        return pair.server.state() == TlsSession::State::open;
    };
    BOOST_TEST(!lets_in());
    dir.write("ca.pem", other.pem());
    for (int i = 0; i < 2; ++i) strict->refresh(now += 1s);
    BOOST_TEST(lets_in());
}

BOOST_AUTO_TEST_CASE(what_is_missing_at_the_start_is_said) {
    const std::string missing = dir.path / "missing.pem";
    for (const TlsServer::Paths& files :
         {TlsServer::Paths{missing, paths.key, ""}, TlsServer::Paths{paths.certificates, missing, ""},
          TlsServer::Paths{paths.certificates, paths.key, missing}})
        BOOST_TEST(error_of(files) == missing + ": No such file or directory");
    dir.write("huge.pem", std::string(2'000'000, 'x'));
    BOOST_TEST(error_of({dir.path / "huge.pem", paths.key, ""}).find("longer than") != std::string::npos);
    BOOST_TEST(error_of({dir.path, paths.key, ""}).find("no regular file") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
