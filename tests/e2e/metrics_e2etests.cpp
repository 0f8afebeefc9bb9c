// What /metrics of the real program says: that it is true, that it is described, and that Prometheus' own tool finds
// nothing to say against it.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/support/scrape.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

struct MetricsFixture {
    MetricsFixture() {
        sidecar.set("PG_SEQUENCE", sequence + "," + other);
        sidecar.set("NEXT_ID_THREADS", "2");
    }
    Scrape scrape() const { return Scrape{sidecar.ask_admin("/metrics").body}; }
    std::string of_sequence(const std::string& name) const { return name + "{sequence=\"" + sequence + "\"}"; }

    std::string sequence = new_sequence("START 1000"), other = new_sequence();
    SidecarProcess sidecar{shared_postgres()};
};

std::string requests(const std::string& listener, int code) {
    return "next_id_requests_total{listener=\"" + listener + "\",code=\"" + std::to_string(code) + "\"}";
}

std::string ids(const std::string& listener, const std::string& sequence) {
    return "next_id_ids_issued_total{listener=\"" + listener + "\",sequence=\"" + sequence + "\"}";
}

// What has risen between two scrapes, of the families whose names begin so: a line each.
std::string risen(const Scrape& before, const Scrape& after, const std::string& prefix) {
    std::string lines;
    for (const auto& [series, value] : after.samples)
        if (series.starts_with(prefix) && value != before[series])
            lines += series + " " + std::to_string(int(value - before[series])) + "\n";
    return lines;
}

struct Row {
    std::string name, type, labels, help;
};

// The rows of the table in the documentation: | `name` | type | `label`, `label` | what it is |
std::vector<Row> documented() {
    std::ifstream file{NEXT_ID_SOURCE_DIR "/sidecar/metrics/README.md"};
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("| `next_id_") && !line.starts_with("| `process_")) continue;
        std::erase(line, '`');
        std::istringstream cells{line.substr(1)};
        Row row;
        for (std::string* cell : {&row.name, &row.type, &row.labels, &row.help}) {
            std::getline(cells, *cell, '|');
            cell->erase(0, cell->find_first_not_of(' ')).erase(cell->find_last_not_of(' ') + 1);
        }
        rows.push_back(row);
    }
    return rows;
}

std::string joined(const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(metrics_e2etests, MetricsFixture)

BOOST_AUTO_TEST_CASE(each_request_raises_exactly_what_it_should) {
    sidecar.start_filled(1000);
    const Scrape before = scrape();
    TestClient tcp{sidecar.http()}, local{sidecar.socket()};
    for (int i = 0; i < 7; ++i) tcp.get("/next-id");
    for (int i = 0; i < 3; ++i) tcp.get("/next-id?count=10");
    for (int i = 0; i < 5; ++i) local.get("/next-id/" + other + "?count=2");
    for (int i = 0; i < 2; ++i) local.get("/nope");
    tcp.get("/next-id?count=0");
    tcp.send("HEAD /next-id HTTP/1.1\r\nHost: a\r\n\r\n");
    tcp.receive(TestClient::patience, true);
    local.send("POST /next-id HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    local.receive();
    const Scrape after = scrape();
    BOOST_TEST(risen(before, after, "next_id_requests_total") ==
               requests("http", 200) + " 11\n" + requests("http", 400) + " 1\n" + requests("socket", 200) + " 5\n" +
                   requests("socket", 404) + " 2\n" + requests("socket", 413) + " 1\n");
    BOOST_TEST(risen(before, after, "next_id_ids_issued_total") ==
               ids("http", sequence) + " 37\n" + ids("socket", other) + " 10\n");
    BOOST_TEST(risen(before, after, "next_id_requests_waited") == "");
    BOOST_TEST(after[of_sequence("next_id_window_left_ids")] == 1000 - 37);
    // Each answer of a connection that does not hurry is timed, and so is each wait.
    BOOST_TEST(after["next_id_request_duration_seconds_count{listener=\"http\"}"] <= 12);
    BOOST_TEST(after["next_id_request_duration_seconds_count{listener=\"http\"}"] > 0);
    BOOST_TEST(after["next_id_connections_accepted_total{listener=\"socket\"}"] -
                   before["next_id_connections_accepted_total{listener=\"socket\"}"] ==
               1);
    BOOST_TEST(after["next_id_connections{listener=\"http\"}"] == 1);
}

BOOST_AUTO_TEST_CASE(an_outage_shows) {
    sidecar.set("NEXT_ID_WAIT_MAX", "100ms");
    sidecar.set("NEXT_ID_DB_IDLE_CLOSE", "1h");
    sidecar.start_filled(1000);
    const Scrape settled = scrape();
    BOOST_TEST(settled["next_id_database_connected"] == 1);
    BOOST_TEST(settled["next_id_database_connects_total{result=\"ok\"}"] == 1);
    const std::string of_ok = "{sequence=\"" + sequence + "\",result=\"ok\"}";
    const double refills = settled["next_id_refills_total" + of_ok];
    BOOST_TEST(refills == 2);  // a new sequence is asked for one value first
    BOOST_TEST(settled[of_sequence("next_id_refill_duration_seconds_count")] == refills);
    BOOST_TEST(settled[of_sequence("next_id_ids_reserved_total")] == 1000);
    BOOST_TEST(settled[of_sequence("next_id_lowest_reserved_id")] == 1000);
    BOOST_TEST(settled[of_sequence("next_id_highest_reserved_id")] == 1999);
    using std::chrono::system_clock;
    const double now = std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
    const double refilled = settled[of_sequence("next_id_refill_last_success_timestamp_seconds")];
    BOOST_TEST(refilled <= now);
    BOOST_TEST(refilled > settled["process_start_time_seconds"]);

    Outage outage;
    BOOST_CHECK(wait_until([&] { return scrape()["next_id_database_connections_lost_total"] == 1; }));
    TestClient client{sidecar.http()};
    BOOST_TEST(client.get("/next-id?count=1000").status == 200);
    BOOST_TEST(client.get("/next-id").status == 503);
    BOOST_CHECK(wait_until([&] { return scrape()["next_id_database_connects_total{result=\"failed\"}"] >= 1; }));
    const Scrape away = scrape();
    BOOST_TEST(away["next_id_database_connected"] == 0);
    BOOST_TEST(away[of_sequence("next_id_requests_waited_total")] == 1);
    BOOST_TEST(away[of_sequence("next_id_requests_dry_total")] == 1);
    BOOST_TEST(away[of_sequence("next_id_window_left_ids")] == 0);
    BOOST_TEST(away["next_id_request_duration_seconds_sum{listener=\"http\"}"] >= 0.1);  // the wait

    outage.end();
    BOOST_CHECK(wait_until([&] { return scrape()["next_id_refills_total" + of_ok] > refills; }));
    BOOST_TEST(scrape()["next_id_database_connected"] == 1);
}

BOOST_AUTO_TEST_CASE(the_documentation_lists_what_is_served_and_nothing_else) {
    const Certificate authority = Certificate::authority("Test Authority");
    const Certificate certificate = authority.issue("localhost");
    sidecar.set("NEXT_ID_TLS_CERT", sidecar.write_file("cert.pem", certificate.pem()));
    sidecar.set("NEXT_ID_TLS_KEY", sidecar.write_file("cert.key", certificate.key_pem()));
    sidecar.start_filled(1000);
    const Scrape served = scrape();
    std::set<std::string> names;
    for (const Row& row : documented()) {
        BOOST_CHECK_MESSAGE(names.insert(row.name).second, row.name + " is there twice");
        const auto found = served.families.find(row.name);
        BOOST_REQUIRE_MESSAGE(found != served.families.end(), row.name + " is described, but not served");
        BOOST_TEST(row.type == found->second.type, row.name);
        BOOST_TEST(row.help == found->second.help, row.name);
        std::istringstream cells{row.labels};
        std::set<std::string> labels;
        for (std::string label; std::getline(cells >> std::ws, label, ',');) labels.insert(label);
        BOOST_TEST(joined(labels) == joined(found->second.labels), row.name);
    }
    for (const auto& [name, family] : served.families)
        BOOST_CHECK_MESSAGE(names.contains(name),
                            name + " is served, but not described in sidecar/metrics/README.md: | `" + name + "` | " +
                                family.type + " | " + joined(family.labels) + " | " + family.help + " |");
}

BOOST_AUTO_TEST_CASE(promtool_finds_nothing_to_say) {
    sidecar.start_filled(1000);
    const std::string page = sidecar.write_file("metrics.txt", sidecar.ask_admin("/metrics").body);
    const ProgramResult checked = run_program({"sh", "-c", "promtool check metrics <" + page});
    BOOST_TEST(checked.exit_code == 0);
    BOOST_TEST(checked.output == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
