// What a real Prometheus makes of two sidecars under load: it scrapes them, no panel of the dashboard stays empty, and
// no alert fires.
#include <rapidjson/document.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/certificates.h"
#include "tests/support/load.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

constexpr const char* monitoring = NEXT_ID_SOURCE_DIR "/k8s/monitoring/";

std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream{path}.rdbuf();
    return text.str();
}

// On a loopback port of its own, with its data in a directory that goes away with it.
class Prometheus {
 public:
    explicit Prometheus(const std::string& targets) {
        directory_.write("prometheus.yml", "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [" +
                                               std::string{monitoring} + "rules.yml]\nscrape_configs:\n" + targets);
        const int output = open((directory_.path / "log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        pid_ = start_program({"prometheus", "--config.file=" + (directory_.path / "prometheus.yml").string(),
                              "--storage.tsdb.path=" + (directory_.path / "data").string(),
                              "--web.listen-address=" + address_, "--log.level=warn"},
                             output);
        close(output);
    }
    ~Prometheus() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Prometheus(const Prometheus&) = delete;
    Prometheus& operator=(const Prometheus&) = delete;

    // The data of an answer of its API; throws with its log when there is none.
    rapidjson::Document ask(const std::string& path, const std::string& query = "") const {
        const ProgramResult answer = run_program({"curl", "-sG", "--max-time", "20", "--data-urlencode",
                                                  "query=" + query, "http://" + address_ + "/api/v1/" + path});
        rapidjson::Document document;
        document.Parse(answer.output.c_str());
        if (document.HasParseError() || !document.HasMember("data"))
            throw std::runtime_error{path + " " + query + ": " + answer.output + text_of(directory_.path / "log")};
        return document;
    }

    // Whether there is a sample that is a number.
    bool has_value(const std::string& query) const {
        const auto answer = ask("query", query);
        for (const auto& sample : answer["data"]["result"].GetArray())
            if (sample["value"][1].GetString() != std::string{"NaN"}) return true;
        return false;
    }
    bool is_ready() const { return can_connect(address_) && TestClient{address_}.get("/-/ready").status == 200; }

 private:
    TempDir directory_;
    const std::string address_ = "127.0.0.1:" + free_port();
    pid_t pid_ = -1;
};

std::string target(const std::string& pod, const std::string& address) {
    return "- {job_name: " + pod + ", static_configs: [{targets: [\"" + address +
           "\"], labels: {namespace: apps, pod: " + pod + "}}]}\n";
}

void replace(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
}

struct Panel {
    std::string title, expression;  // as Grafana sends it, when everything is chosen
};

std::vector<Panel> panels() {
    rapidjson::Document dashboard;
    dashboard.Parse(text_of(std::string{monitoring} + "dashboard.json").c_str());
    std::vector<Panel> found;
    for (const auto& panel : dashboard["panels"].GetArray()) {
        if (!panel.HasMember("targets")) continue;
        for (const auto& one : panel["targets"].GetArray()) {
            std::string expression = one["expr"].GetString();
            replace(expression, "$__rate_interval", "15s");
            for (const char* variable : {"$namespace", "$pod", "$sequence"}) replace(expression, variable, ".*");
            found.push_back({panel["title"].GetString(), expression});
        }
    }
    return found;
}

// Refills often, so that there is something to see of them.
struct MonitoredSidecar : SidecarProcess {
    MonitoredSidecar() : SidecarProcess{shared_postgres()} {
        set("PG_SEQUENCE", new_sequence());
        set("NEXT_ID_RESERVE", "2s");
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(monitoring_e2etests)

BOOST_AUTO_TEST_CASE(no_panel_is_empty_and_no_alert_fires_under_load) {
    const Certificate certificate = Certificate::authority("Test Authority").issue("localhost");
    MonitoredSidecar one, other;
    other.set("NEXT_ID_TLS_CERT", other.write_file("cert.pem", certificate.pem()));
    other.set("NEXT_ID_TLS_KEY", other.write_file("cert.key", certificate.key_pem()));
    one.start_filled(1000);
    other.start_filled(1000);
    const Load over_http{one.http(), 4, 300, 1000}, over_socket{other.socket(), 4, 300, 1000};
    const Prometheus prometheus{target("one", one.admin()) + target("other", other.admin())};
    BOOST_REQUIRE(wait_until([&] { return prometheus.is_ready(); }));
    BOOST_REQUIRE(wait_until([&] { return prometheus.has_value("sum(up) == 2"); }));

    std::vector<Panel> empty = panels();
    BOOST_TEST(empty.size() > 30U);
    wait_until(
        [&] {
            std::erase_if(empty, [&](const Panel& panel) { return prometheus.has_value(panel.expression); });
            return empty.empty();
        },
        std::chrono::seconds{60});
    for (const Panel& panel : empty) BOOST_ERROR("the panel \"" << panel.title << "\" is empty: " << panel.expression);

    const auto rules = prometheus.ask("rules");
    for (const auto& rule : rules["data"]["groups"][0]["rules"].GetArray()) {
        BOOST_TEST(rule["health"].GetString() == std::string{"ok"}, rule["name"].GetString());
        BOOST_TEST(rule["state"].GetString() != std::string{"firing"}, rule["name"].GetString());
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
