// What the operator's listener promises to kubelets, scripts and people.
#include <rapidjson/document.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

struct AdminFixture {
    std::string sequence = new_sequence("START 9007199254740993");  // 2^53 + 1: no double can hold it
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", sequence}}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(admin_e2etests, AdminFixture)

BOOST_AUTO_TEST_CASE(alive_and_started_without_postgresql_and_ready_once_it_is_there) {
    Outage outage;
    sidecar.start();
    BOOST_CHECK(sidecar.wait_for_log("no connection to PostgreSQL"));
    const auto ask = [&](const std::string& path) { return sidecar.ask_admin(path); };
    BOOST_CHECK_EQUAL(ask("/livez").status, 200);
    BOOST_CHECK_EQUAL(ask("/startupz").status, 200);
    const TestAnswer away = ask("/readyz");
    BOOST_CHECK_EQUAL(away.status, 503);
    BOOST_TEST_INFO(away.body);
    BOOST_CHECK(away.body.starts_with(sequence + ": connect postgresql failed: "));
    BOOST_CHECK(away.body.find("Connection refused") != std::string::npos);

    outage.end();
    sidecar.wait_until_ready();
    BOOST_CHECK_EQUAL(ask("/livez").status, 200);
    BOOST_CHECK_EQUAL(ask("/readyz").body, "ready\n");
}

BOOST_AUTO_TEST_CASE(ready_for_as_long_as_the_window_lasts) {
    sidecar.start_filled(1000);
    const Outage outage;
    BOOST_CHECK_EQUAL(sidecar.ask_admin("/readyz").status, 200);
    TestClient client{sidecar.http()};
    BOOST_CHECK_EQUAL(client.get("/next-id?count=1000").status, 200);
    BOOST_CHECK_EQUAL(sidecar.ask_admin("/readyz").status, 503);
    BOOST_CHECK_EQUAL(sidecar.ask_admin("/livez").status, 200);
}

BOOST_AUTO_TEST_CASE(status_has_exact_numbers) {
    sidecar.set("NEXT_ID_DB_IDLE_CLOSE", "1h");
    sidecar.start_filled(1000);
    TestClient client{sidecar.http()};
    client.get("/next-id?count=250");
    const TestAnswer answer = sidecar.ask_admin("/status");
    BOOST_TEST_INFO(answer.body);
    rapidjson::Document status;
    status.Parse(answer.body.c_str());
    BOOST_REQUIRE(!status.HasParseError());
    BOOST_CHECK(status["version"].IsString());
    BOOST_CHECK_EQUAL(status["postgresql"].GetString(), "connected");
    BOOST_REQUIRE_EQUAL(status["sequences"].Size(), 1U);
    const auto& one = status["sequences"][0];
    BOOST_CHECK_EQUAL(one["sequence"].GetString(), sequence);
    BOOST_CHECK_EQUAL(one["state"].GetString(), "reserving");
    BOOST_CHECK_EQUAL(one["problem"].GetString(), "");
    BOOST_CHECK_EQUAL(one["trouble"].GetString(), "");
    BOOST_CHECK_EQUAL(one["ids_left"].GetUint64(), 750U);
    BOOST_CHECK_EQUAL(one["ids_issued"].GetUint64(), 250U);
    BOOST_CHECK_EQUAL(one["ids_discarded"].GetUint64(), 0U);
    BOOST_CHECK_EQUAL(one["requests_waiting"].GetUint64(), 0U);
    BOOST_CHECK_EQUAL(one["lowest_reserved"].GetInt64(), 9007199254740993);
    BOOST_CHECK_EQUAL(one["highest_reserved"].GetInt64(), 9007199254740993 + 999);
}

BOOST_AUTO_TEST_CASE(status_says_how_many_requests_wait_and_for_what) {
    Outage outage;
    sidecar.set("NEXT_ID_WAIT_MAX", "20s");
    sidecar.start();
    TestClient one{sidecar.http()}, other{sidecar.http()};
    for (TestClient* client : {&one, &other}) client->send("GET /next-id HTTP/1.1\r\nHost: test\r\n\r\n");
    BOOST_CHECK(wait_until([&] { return sidecar.status("requests_waiting") == "2"; }));
    BOOST_CHECK(sidecar.status("trouble").starts_with("\"connect postgresql failed: "));
    outage.end();
    BOOST_CHECK_EQUAL(id_of(one.receive()) + id_of(other.receive()), 2 * 9007199254740993 + 1);
    BOOST_CHECK_EQUAL(sidecar.status("requests_waiting"), "0");
}

BOOST_AUTO_TEST_CASE(other_paths_and_methods_are_refused_in_words) {
    sidecar.start();
    const TestAnswer none = sidecar.ask_admin("/healthz");
    BOOST_CHECK_EQUAL(none.status, 404);
    BOOST_CHECK(none.body.find("/livez, /startupz, /readyz") != std::string::npos);
    TestClient client{sidecar.admin()};
    client.send("DELETE /status HTTP/1.1\r\nHost: test\r\n\r\n");
    BOOST_CHECK_EQUAL(client.receive().status, 405);
    BOOST_CHECK_EQUAL(sidecar.ask_admin("/next-id").status, 404);  // it gives out no IDs
    BOOST_CHECK_EQUAL(TestClient{sidecar.http()}.get("/status").status, 404);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
