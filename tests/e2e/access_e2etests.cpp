// Who gets IDs from the real program, how many and how fast; and what becomes of those who only hold connections.
#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>

#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

namespace fs = std::filesystem;

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

struct AccessFixture {
    SidecarProcess& run(const SidecarSettings& settings) {
        for (const auto& [name, value] : settings) sidecar.set(name, *value);
        sidecar.start_ready();
        return sidecar;
    }

    // What curl prints: the status, and the headers if asked for.
    static std::string curl(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(),
                         {"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "20"});
        return run_program(arguments).output;
    }
    std::string over_tcp(std::vector<std::string> more = {}, const std::string& target = "/next-id") const {
        more.push_back("http://" + sidecar.http() + target);
        return curl(more);
    }
    std::string over_socket(std::vector<std::string> more = {}, const std::string& target = "/next-id") const {
        more.insert(more.end(), {"--unix-socket", sidecar.socket(), "http://localhost" + target});
        return curl(more);
    }

    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", new_sequence()}}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(access_e2etests, AccessFixture)

BOOST_AUTO_TEST_CASE(a_token_is_wanted_on_tcp_and_where_asked_on_the_socket) {
    const std::string tokens = sidecar.write_file("tokens", "# for the shop\nsesame-one\nsesame-two\n");
    run({{"NEXT_ID_TOKEN_FILE", tokens}});
    BOOST_CHECK_EQUAL(over_tcp(), "401");
    BOOST_CHECK_EQUAL(over_tcp({"-H", "Authorization: Bearer sesame-one"}), "200");
    BOOST_CHECK_EQUAL(over_tcp({"-H", "X-Api-Token: sesame-two"}), "200");
    BOOST_CHECK_EQUAL(over_tcp({"-H", "X-Api-Token: sesame-three"}), "401");
    BOOST_CHECK_EQUAL(over_socket(), "200");
    BOOST_CHECK_EQUAL(TestClient{sidecar.http()}.get("/next-id").header("WWW-Authenticate"), "Bearer");
    const auto get = [&](const Environment& more) {
        Environment environment{{"NEXT_ID_SOCKET", "none"}, {"NEXT_ID_HTTP", sidecar.http()}};
        environment.insert(more.begin(), more.end());
        return run_next_id({"get"}, environment);
    };
    BOOST_CHECK_EQUAL(get({{"NEXT_ID_TOKEN_FILE", tokens}}).exit_code, 0);
    const ProgramResult without = get({});
    BOOST_CHECK_EQUAL(without.exit_code, 1);
    BOOST_CHECK(without.output.starts_with("next-id: the sidecar wants a token; name a file"));

    sidecar.stop();
    run({{"NEXT_ID_SOCKET_AUTH", "yes"}});
    BOOST_CHECK_EQUAL(over_socket(), "401");
    BOOST_CHECK_EQUAL(over_socket({"-H", "X-Api-Token: sesame-two"}), "200");
    BOOST_CHECK_EQUAL(count_of(sidecar.log(), "sesame"), 0);
}

BOOST_AUTO_TEST_CASE(tokens_are_rotated_behind_a_link_and_a_broken_file_changes_nothing) {
    sidecar.write_file("v1/tokens", "old-token\n");
    sidecar.write_file("v2/tokens", "old-token\nnew-token\n");
    sidecar.write_file("v3/tokens", "new-token and what should not be here\n");
    sidecar.write_file("v4/tokens", "new-token\n");
    const fs::path dir{sidecar.directory()};
    const auto swap_to = [&](const std::string& version) {
        fs::create_directory_symlink(version, dir / "next");
        fs::rename(dir / "next", dir / "..data");
    };
    swap_to("v1");
    fs::create_symlink("..data/tokens", dir / "tokens");
    run({{"NEXT_ID_TOKEN_FILE", dir / "tokens"}});

    TestClient client{sidecar.http()};  // it stays connected, and sends the same bytes again and again
    const auto status_with = [&](const std::string& token) {
        client.send("GET /next-id HTTP/1.1\r\nHost: test\r\nX-Api-Token: " + token + "\r\n\r\n");
        return client.receive().status;
    };
    BOOST_CHECK_EQUAL(status_with("old-token"), 200);
    BOOST_CHECK_EQUAL(status_with("new-token"), 401);
    swap_to("v2");
    BOOST_CHECK(wait_until([&] { return status_with("new-token") == 200; }));
    BOOST_CHECK_EQUAL(status_with("old-token"), 200);
    swap_to("v3");
    BOOST_CHECK(sidecar.wait_for_log("the tokens that were read before stay valid"));
    BOOST_CHECK_EQUAL(status_with("old-token"), 200);
    swap_to("v4");
    BOOST_CHECK(wait_until([&] { return status_with("old-token") == 401; }));
    BOOST_CHECK_EQUAL(status_with("new-token"), 200);
    BOOST_CHECK_EQUAL(count_of(sidecar.log(), "stay valid"), 1);
    BOOST_CHECK_EQUAL(count_of(sidecar.log(), "-token"), count_of(sidecar.log(), "--token-file"));
}

BOOST_AUTO_TEST_CASE(without_tokens_it_does_not_start) {
    sidecar.set("NEXT_ID_TOKEN_FILE", sidecar.write_file("tokens", "# none yet\n"));
    BOOST_CHECK_EQUAL(sidecar.run_to_exit(), 78);
    BOOST_CHECK(sidecar.log().find("/tokens: it holds no token; write one a line") != std::string::npos);
    sidecar.set("NEXT_ID_TOKEN_FILE", sidecar.directory() + "/nothing");
    BOOST_CHECK_EQUAL(sidecar.run_to_exit(), 78);
    BOOST_CHECK(sidecar.log().find("/nothing: No such file or directory") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(status_wants_a_token_of_its_own_and_health_none) {
    const std::string tokens = sidecar.write_file("tokens", "sesame\n");
    run({{"NEXT_ID_ADMIN_TOKEN_FILE", tokens}});
    const std::string admin = "http://" + sidecar.admin();
    BOOST_CHECK_EQUAL(curl({admin + "/status"}), "401");
    BOOST_CHECK_EQUAL(curl({admin + "/status", "-H", "Authorization: Bearer sesame"}), "200");
    for (const char* page : {"/livez", "/startupz", "/readyz"}) BOOST_CHECK_EQUAL(curl({admin + page}), "200");
    BOOST_CHECK_EQUAL(run_next_id({"status"}, {{"NEXT_ID_ADMIN", sidecar.admin()}}).exit_code, 1);
    BOOST_CHECK_EQUAL(
        run_next_id({"status"}, {{"NEXT_ID_ADMIN", sidecar.admin()}, {"NEXT_ID_ADMIN_TOKEN_FILE", tokens}}).exit_code,
        0);
}

BOOST_AUTO_TEST_CASE(users_who_are_not_named_are_turned_away) {
    run({{"NEXT_ID_SOCKET_ALLOW_UID", std::to_string(getuid() + 1) + "," + std::to_string(getuid() + 2)}});
    BOOST_CHECK_EQUAL(over_socket(), "403");
    BOOST_CHECK_EQUAL(over_tcp(), "200");
    sidecar.stop();
    run({{"NEXT_ID_SOCKET_ALLOW_UID", std::to_string(getuid() + 1) + "," + std::to_string(getuid())}});
    BOOST_CHECK_EQUAL(over_socket(), "200");
}

BOOST_AUTO_TEST_CASE(too_many_requests_are_told_when_to_come_again) {
    run({{"NEXT_ID_RATE", "2/h"}, {"NEXT_ID_THREADS", "2"}});  // one bucket, whichever thread serves
    for (const bool tcp : {true, false}) {
        const auto ask = [&] { return TestClient{tcp ? sidecar.http() : sidecar.socket()}.get("/next-id"); };
        BOOST_CHECK_EQUAL(ask().status, 200);
        BOOST_CHECK_EQUAL(ask().status, 200);
        const TestAnswer refused = ask();
        BOOST_CHECK_EQUAL(refused.status, 429);
        const int seconds = std::stoi(refused.header("Retry-After"));
        BOOST_CHECK(seconds > 1700 && seconds <= 1800);
    }
    BOOST_CHECK_EQUAL(sidecar.ask_admin("/readyz").status, 200);
}

BOOST_AUTO_TEST_CASE(a_large_count_is_no_way_round_a_rate_of_ids) {
    run({{"NEXT_ID_RATE", "100/h"}, {"NEXT_ID_BURST", "50"}, {"NEXT_ID_RATE_IDS", "yes"}});
    TestClient client{sidecar.http()};
    const TestAnswer never = client.get("/next-id?count=51");
    BOOST_CHECK_EQUAL(never.status, 400);
    BOOST_CHECK(never.body.find("from 1 to 50, not '51'") != std::string::npos);
    BOOST_CHECK_EQUAL(client.get("/next-id?count=49").status, 200);
    BOOST_CHECK_EQUAL(client.get("/next-id").status, 429);
}

BOOST_AUTO_TEST_CASE(slow_and_silent_clients_are_let_go) {
    run({{"NEXT_ID_REQUEST_TIMEOUT", "1s"}, {"NEXT_ID_IDLE_TIMEOUT", "2s"}});
    TestClient slow{sidecar.http()}, silent{sidecar.socket()};
    slow.send("GET /next-id HT");
    BOOST_CHECK(slow.is_closed());
    BOOST_CHECK(silent.is_closed());
    BOOST_CHECK_EQUAL(over_tcp(), "200");
}

BOOST_AUTO_TEST_CASE(a_request_may_be_as_long_as_set) {
    run({{"NEXT_ID_HEAD_BYTES_MAX", "600"}});
    BOOST_CHECK_EQUAL(over_tcp({"-H", "X: " + std::string(300, 'x')}), "200");
    TestClient client{sidecar.http()};
    client.send("GET /next-id HTTP/1.1\r\nHost: a\r\nX: " + std::string(600, 'x') + "\r\n\r\n");
    const TestAnswer answer = client.receive();
    BOOST_CHECK_EQUAL(answer.status, 431);
    BOOST_CHECK(answer.body.find("longer than 600 bytes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(as_many_requests_wait_for_a_dry_window_as_set) {
    sidecar.set("PG_SEQUENCE", "of_this_name_there_is_none");
    sidecar.set("NEXT_ID_WAITING_MAX", "1");
    sidecar.set("NEXT_ID_WAIT_MAX", "60s");
    sidecar.start();
    TestClient waiting{sidecar.socket()};
    waiting.send("GET /next-id HTTP/1.1\r\nHost: a\r\n\r\n");
    BOOST_REQUIRE(wait_until([&] { return sidecar.status("requests_waiting") == "1"; }));
    const TestAnswer refused = TestClient{sidecar.socket()}.get("/next-id");
    BOOST_CHECK_EQUAL(refused.status, 503);
    BOOST_CHECK(refused.body.find("too many requests wait") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(at_the_limit_of_connections_one_more_is_told_so_and_operators_still_get_through) {
    run({{"NEXT_ID_CONNECTIONS_MAX", "20"}, {"NEXT_ID_CONNECTIONS_PER_CLIENT", "15"}, {"NEXT_ID_THREADS", "2"}});
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 15; ++i) {
        clients.push_back(std::make_unique<TestClient>(sidecar.http()));
        BOOST_CHECK_EQUAL(clients.back()->get("/next-id").status, 200);
    }
    const TestAnswer one_client = TestClient{sidecar.http()}.receive();  // at once, without having asked
    BOOST_CHECK_EQUAL(one_client.status, 503);
    BOOST_CHECK_EQUAL(one_client.header("Connection"), "close");
    BOOST_CHECK(one_client.body.find("--connections-per-client") != std::string::npos);
    for (int i = 0; i < 5; ++i) {
        clients.push_back(std::make_unique<TestClient>(sidecar.socket()));
        BOOST_CHECK_EQUAL(clients.back()->get("/next-id").status, 200);
    }
    BOOST_CHECK(TestClient{sidecar.socket()}.get("/next-id").body.find("--connections-max") != std::string::npos);
    BOOST_CHECK_EQUAL(over_tcp(), "503");
    BOOST_CHECK_EQUAL(sidecar.ask_admin("/readyz").status, 200);
    for (const auto& client : clients) BOOST_CHECK_EQUAL(client->get("/next-id").status, 200);
    clients.clear();
    BOOST_CHECK(wait_until([&] { return over_tcp() == "200"; }));
}

BOOST_AUTO_TEST_CASE(no_more_connections_are_allowed_than_there_are_descriptors_for) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few{600, 600};
    BOOST_REQUIRE_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    run({{"NEXT_ID_CONNECTIONS_MAX", "1000"}});
    setrlimit(RLIMIT_NOFILE, &before);  // only root may; the tests behind this one need few, too
    BOOST_CHECK(sidecar.wait_for_log("connections=344"));
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 344; ++i) clients.push_back(std::make_unique<TestClient>(sidecar.socket()));
    for (const auto& client : clients) BOOST_REQUIRE_EQUAL(client->get("/next-id").status, 200);
    const TestAnswer one_more = TestClient{sidecar.socket()}.get("/next-id");
    BOOST_CHECK_EQUAL(one_more.status, 503);
    BOOST_CHECK(one_more.body.find("--connections-max") != std::string::npos);
    BOOST_CHECK_EQUAL(sidecar.ask_admin("/readyz").status, 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
