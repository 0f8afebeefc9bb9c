// PostgreSQL goes away, hangs and comes back: what the window holds is given out all the same, and then it heals by
// itself.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/support/load.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr char one_id[] = "GET /next-id HTTP/1.1\r\nHost: test\r\n\r\n";

// The postmaster and all its children stand still: connections stay open, and nothing answers.
class Freeze {
 public:
    Freeze() {
        const pid_t postmaster = shared_postgres().server();
        frozen_.push_back(postmaster);
        kill(postmaster, SIGSTOP);
        for (const auto& process : std::filesystem::directory_iterator{"/proc"}) {
            const pid_t pid = std::atoi(process.path().filename().c_str());
            if (pid > 0 && parent_of(pid) == postmaster) frozen_.push_back(pid), kill(pid, SIGSTOP);
        }
    }
    ~Freeze() { end(); }
    void end() {
        for (const pid_t pid : frozen_) kill(pid, SIGCONT);
        frozen_.clear();
    }

 private:
    static pid_t parent_of(pid_t pid) {
        std::ifstream file{"/proc/" + std::to_string(pid) + "/status"};
        for (std::string key; file >> key;)
            if (key == "PPid:" && file >> pid) return pid;
        return -1;
    }
    std::vector<pid_t> frozen_;
};

struct OutageFixture {
    std::string sequence = new_sequence();

    std::unique_ptr<SidecarProcess> sidecar(SidecarSettings settings = {}) const {
        settings.emplace("PG_SEQUENCE", sequence);
        return std::make_unique<SidecarProcess>(shared_postgres(), settings);
    }
};

void check_unavailable(const TestAnswer& answer, const std::string& msg, const std::string& reason) {
    BOOST_TEST_CONTEXT(answer.head << answer.body) {
        BOOST_CHECK_EQUAL(answer.status, 503);
        BOOST_CHECK_EQUAL(answer.header("Retry-After"), "1");
        BOOST_CHECK(answer.body.starts_with(R"({"code":503,"msg":")" + msg + R"(","error":")"));
        BOOST_CHECK(answer.body.find(reason) != std::string::npos);
    }
}

bool gives_ids_again(TestClient& client) {
    return wait_until([&] { return client.get("/next-id").status == 200; });
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(outage_e2etests, OutageFixture)

BOOST_AUTO_TEST_CASE(the_whole_window_is_given_out_then_503_says_why_then_ids_come_again) {
    const auto one = sidecar({{"NEXT_ID_WINDOW_MIN", "3000"}, {"NEXT_ID_WAIT_MAX", "100ms"}});
    one->start_filled(3000);
    Outage outage;
    TestClient client{one->http()};
    for (int id = 1; id <= 3000; ++id) BOOST_REQUIRE_EQUAL(id_of(client.get("/next-id")), id);
    check_unavailable(client.get("/next-id"), "connect postgresql failed", "Connection refused");
    check_unavailable(client.get("/next-id?count=5&format=text"), "connect postgresql failed", "Connection refused");
    outage.end();
    BOOST_CHECK(gives_ids_again(client));
    BOOST_CHECK(one->wait_for_log("PostgreSQL is back"));
}

BOOST_AUTO_TEST_CASE(under_load_nobody_notices_an_outage_shorter_than_the_reserve) {
    sequence = new_sequence("START 100000 INCREMENT 100000");
    const auto one = sidecar({{"NEXT_ID_INCREMENT", "block"}, {"NEXT_ID_WINDOW_MIN", "5000000"}});
    one->start_ready();
    Load load{one->socket(), 64, 4};
    std::this_thread::sleep_for(500ms);  // not to wait for anything: under load for a while
    {
        const Outage outage;
        std::this_thread::sleep_for(1500ms);
    }
    const Load::Result result = load.wait();
    BOOST_CHECK_GT(result.done, 1000U);
    BOOST_CHECK_EQUAL(result.refused, 0U);
    BOOST_CHECK_EQUAL(result.lost, 0U);
    BOOST_CHECK_EQUAL(count_repeated(load.ids()), 0U);
}

BOOST_AUTO_TEST_CASE(backends_that_are_killed_do_no_harm) {
    const auto one = sidecar({{"NEXT_ID_DB_IDLE_CLOSE", "1h"}});
    one->start_filled(1000);
    TestClient client{one->http()};
    for (int i = 0; i < 5; ++i) {
        shared_postgres().psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
        for (int k = 0; k < 900; ++k) BOOST_REQUIRE_EQUAL(client.get("/next-id").status, 200);
        BOOST_REQUIRE(wait_until([&] { return std::stoi(one->status("ids_left")) > 500; }));
    }
}

BOOST_AUTO_TEST_CASE(started_without_postgresql_it_fills_as_soon_as_that_is_there) {
    Outage outage;
    const auto one = sidecar();
    one->start();
    BOOST_CHECK(one->wait_for_log("no connection to PostgreSQL"));
    TestClient client{one->socket()};
    client.send(one_id);
    outage.end();
    BOOST_CHECK_EQUAL(id_of(client.receive()), 1);
    one->wait_until_ready();
}

BOOST_AUTO_TEST_CASE(requests_wait_for_no_longer_than_wait_max) {
    const Outage outage;
    const auto one = sidecar({{"NEXT_ID_WAIT_MAX", "600ms"}});
    one->start();
    BOOST_CHECK(one->wait_for_log("no connection to PostgreSQL"));
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 30; ++i) clients.push_back(std::make_unique<TestClient>(one->http()));
    const auto begin = Clock::now();
    for (const auto& client : clients) client->send(one_id);
    for (const auto& client : clients)
        check_unavailable(client->receive(), "connect postgresql failed", "Connection refused");
    const auto waited = Clock::now() - begin;
    BOOST_CHECK(waited >= 600ms);
    BOOST_CHECK_MESSAGE(waited < 600ms + 2s, "they waited for " << waited / 1ms << " ms");
}

BOOST_AUTO_TEST_CASE(a_request_for_more_than_a_fresh_window_holds_is_answered) {
    const auto one = sidecar({{"NEXT_ID_WINDOW_MIN", "1000"}});
    one->start();
    TestClient client{one->http()};
    BOOST_CHECK_EQUAL(client.get("/next-id?count=10000").status, 200);
    BOOST_CHECK_EQUAL(client.get("/next-id?count=10000").status, 200);
    const TestAnswer ranges = client.get("/next-id?count=1000000&format=ranges");
    BOOST_CHECK_MESSAGE(ranges.body.find(R"({"count":1000000,"ranges":[[)") != std::string::npos, ranges.body);
}

BOOST_AUTO_TEST_CASE(a_large_request_is_not_overtaken_for_ever_by_small_ones) {
    const auto one = sidecar();
    one->start_ready();
    Load load{one->socket(), 16, 2};
    TestClient client{one->http()};
    for (int i = 0; i < 3; ++i) BOOST_CHECK_EQUAL(client.get("/next-id?count=10000").status, 200);
    BOOST_CHECK_EQUAL(load.wait().refused, 0U);
}

BOOST_AUTO_TEST_CASE(a_postgresql_that_hangs_delays_no_answer_that_the_window_has) {
    const auto one = sidecar({{"NEXT_ID_WINDOW_MIN", "3000"},
                              {"NEXT_ID_WAIT_MAX", "200ms"},
                              {"NEXT_ID_DB_TIMEOUT", "300ms"},
                              {"NEXT_ID_DB_IDLE_CLOSE", "1h"}});
    one->start_filled(3000);
    Freeze freeze;
    TestClient client{one->http()};
    auto longest = 0ns;
    for (int id = 1; id <= 3000; ++id) {
        const auto begin = Clock::now();
        BOOST_REQUIRE_EQUAL(id_of(client.get("/next-id")), id);
        longest = std::max<std::chrono::nanoseconds>(longest, Clock::now() - begin);
    }
    BOOST_CHECK_MESSAGE(longest < 200ms, "an answer took " << longest / 1ms << " ms");
    BOOST_CHECK(one->wait_for_log("PostgreSQL has not answered for 0.3 s"));
    check_unavailable(client.get("/next-id"), "query seq failed", "PostgreSQL has not answered for 0.3 s");
    freeze.end();
    BOOST_CHECK(gives_ids_again(client));
}

BOOST_AUTO_TEST_CASE(a_postgresql_that_hangs_while_connecting_is_given_up_and_tried_again) {
    const auto one = sidecar({{"NEXT_ID_WAIT_MAX", "100ms"}, {"NEXT_ID_DB_TIMEOUT", "300ms"}});
    Freeze freeze;
    one->start();
    BOOST_CHECK(one->wait_for_log("not connected within 300 ms"));
    TestClient client{one->http()};
    check_unavailable(client.get("/next-id"), "connect postgresql failed", "not connected within 300 ms");
    freeze.end();
    BOOST_CHECK(gives_ids_again(client));
}

BOOST_AUTO_TEST_CASE(a_sequence_that_went_back_is_latched_until_it_is_moved_past) {
    const auto one = sidecar({{"NEXT_ID_WAIT_MAX", "100ms"}});
    one->start_filled(1000);
    TestClient client{one->http()};
    BOOST_CHECK_EQUAL(id_of(client.get("/next-id")), 1);
    shared_postgres().psql("SELECT setval('" + sequence + "', 10)");  // as a failover that lost data
    BOOST_CHECK_EQUAL(client.get("/next-id?count=900").status, 200);
    BOOST_CHECK(one->wait_for_log("the sequence went back"));
    check_unavailable(client.get("/next-id"), "query seq failed", "sql/resume_past.sql");
    const std::string mark = one->status("highest_reserved");
    BOOST_CHECK_EQUAL(mark, "1000");
    const auto [exit_code, output] =
        shared_postgres().script("resume_past.sql", {"sequence=" + sequence, "past=" + mark});
    BOOST_CHECK_MESSAGE(exit_code == 0, output);
    BOOST_CHECK(gives_ids_again(client));
    BOOST_CHECK_GT(id_of(client.get("/next-id")), 1000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
