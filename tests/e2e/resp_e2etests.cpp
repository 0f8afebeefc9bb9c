// RESP as the clients of Redis speak it that people use: redis-cli, redis-benchmark, hiredis, redis-py, ioredis and
// node-redis, each of them unchanged.
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "tests/protocol/resp_outcome.h"
#include "tests/support/certificates.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

constexpr std::int64_t first_id = 9'223'372'036'854'700'000;  // far beyond what a double holds

struct RespFixture {
    SidecarProcess& run(const SidecarSettings& settings = {}) {
        for (const auto& [name, value] : settings) sidecar.set(name, *value);
        sidecar.start_ready();
        return sidecar;
    }

    // What redis-cli prints.
    std::string cli(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"redis-cli", "-s", sidecar.socket()});
        return run_program(arguments).output;
    }
    std::string cli_over_tcp(std::vector<std::string> arguments) const {
        const std::string address = sidecar.resp();
        arguments.insert(arguments.begin(),
                         {"redis-cli", "-h", "127.0.0.1", "-p", address.substr(address.find(':') + 1)});
        return run_program(arguments).output;
    }

    const std::string key = new_sequence("START " + std::to_string(first_id));
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", key}, {"NEXT_ID_RESP", "127.0.0.1:0"}}};
};

struct ClientProgram {
    const char* name;
    std::vector<std::string> command;
    bool has_name = true;  // it tells its name to the server
};

std::vector<ClientProgram> client_programs() {
    const std::string folder = NEXT_ID_REDIS_CLIENTS "/";
    const std::string modules = "NEXT_ID_NODE_MODULES=" NEXT_ID_NODE_MODULES;
    return {{"hiredis", {NEXT_ID_HIREDIS_CLIENT}, false},
            {"redis-py", {"/usr/bin/python3", folder + "redis_py.py"}},
            {"ioredis", {"env", modules, "node", folder + "ioredis.mjs"}},
            {"node-redis", {"env", modules, "node", folder + "node_redis.mjs"}}};
}

// One ID, the last of a hundred, five in a pipeline: 106 in all, from `first` on.
void check_told(const ClientProgram& program, const std::string& output, std::int64_t first) {
    std::istringstream lines{output};
    const auto check_line = [&](const std::string& expected) {
        std::string line;
        std::getline(lines, line);
        BOOST_CHECK_EQUAL(line, expected);
    };
    check_line("one " + std::to_string(first));
    check_line("hundred " + std::to_string(first + 100));
    std::string five = "five";
    for (int i = 1; i <= 5; ++i) five += " " + std::to_string(first + 100 + i);
    check_line(five);
    std::string refused;
    std::getline(lines, refused);
    BOOST_CHECK_MESSAGE(refused.ends_with("is refused"), refused);
    if (program.has_name) check_line(std::string{"name "} + program.name);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(resp_e2etests, RespFixture)

BOOST_AUTO_TEST_CASE(clients_of_redis_are_clients) {
    run();
    std::int64_t next = first_id;
    for (const ClientProgram& program : client_programs())
        for (const std::string& address : {sidecar.socket(), sidecar.resp()}) {
            std::vector<std::string> command = program.command;
            command.insert(command.end(), {address, key});
            const ProgramResult result = run_program(command);
            BOOST_TEST_CONTEXT(program.name << " at " << address << " said: " << result.output) {
                BOOST_CHECK_EQUAL(result.exit_code, 0);
                check_told(program, result.output, next);
            }
            next += 106;
        }
}

BOOST_AUTO_TEST_CASE(their_passwords_are_tokens) {
    run({{"NEXT_ID_TOKEN_FILE", sidecar.write_file("tokens", "sesame\n")}});
    std::int64_t next = first_id;
    for (const ClientProgram& program : client_programs()) {
        std::vector<std::string> command = program.command;
        command.insert(command.end(), {sidecar.resp(), key, "sesame"});
        const ProgramResult result = run_program(command);
        BOOST_TEST_CONTEXT(program.name << " said: " << result.output) {
            check_told(program, result.output, next);
        }
        next += 106;
    }
    BOOST_CHECK_EQUAL(cli_over_tcp({"INCR", key}), "NOAUTH Authentication required.\n\n");
    const std::string wrong = cli_over_tcp({"--no-auth-warning", "-a", "wrong", "INCR", key});
    BOOST_CHECK_MESSAGE(wrong.starts_with("AUTH failed: WRONGPASS"), wrong);
    BOOST_CHECK_EQUAL(cli_over_tcp({"--no-auth-warning", "-3", "-a", "sesame", "INCR", key}),
                      std::to_string(next) + "\n");
    BOOST_CHECK_EQUAL(cli({"INCR", key}), std::to_string(next + 1) + "\n");  // the socket asks for none
    BOOST_CHECK(sidecar.log().find("sesame") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(redis_cli_is_answered_in_both_versions) {
    run();
    for (const char* version : {"-2", "-3"}) {
        BOOST_CHECK_EQUAL(cli({version, "PING"}), "PONG\n");
        BOOST_CHECK_EQUAL(cli({version, "ECHO", "a b"}), "a b\n");
        BOOST_CHECK_EQUAL(cli({version, "-n", "0", "SELECT", "0"}), "OK\n");
        BOOST_CHECK_EQUAL(cli({version, "COMMAND", "COUNT"}), "13\n");
        BOOST_CHECK(cli({version, "INFO"}).find("sequence0:" + key) != std::string::npos);
        BOOST_CHECK(cli({version, "COMMAND", "DOCS"}).find("Takes one ID") != std::string::npos);
        BOOST_CHECK(cli({version, "DECR", key}).starts_with("ERR 'DECR' is refused: it would move a sequence back"));
        BOOST_CHECK(cli({version, "INCRBY", key, "-1"}).starts_with("ERR INCRBY with a negative number is refused"));
        BOOST_CHECK(cli({version, "INCR", "other"}).starts_with("ERR no such sequence: 'other'. Configured: " + key));
    }
    BOOST_CHECK_EQUAL(sidecar.status("ids_issued"), "0");
}

BOOST_AUTO_TEST_CASE(redis_benchmark_takes_each_id_once) {
    run({{"NEXT_ID_THREADS", "2"}});
    const int requests = 10'000;
    const ProgramResult result = run_program({"redis-benchmark", "-s", sidecar.socket(), "-n", std::to_string(requests),
                                              "-c", "8", "-P", "16", "-q", "INCR", key});
    BOOST_CHECK_MESSAGE(result.exit_code == 0, result.output);
    const std::int64_t next = std::stoll(cli({"INCR", key}));
    BOOST_CHECK_EQUAL(next, first_id + requests);
}

BOOST_AUTO_TEST_CASE(without_postgresql_they_wait_and_are_told_to_try_again) {
    sidecar.set("PG_PORT", "1");
    sidecar.set("NEXT_ID_WAIT_MAX", "100ms");
    sidecar.start();
    BOOST_CHECK(cli({"INCR", key}).starts_with("TRYAGAIN connect postgresql failed: "));
    BOOST_CHECK(cli({"INCRBY", key, "10"}).starts_with("TRYAGAIN connect postgresql failed: "));
    BOOST_CHECK_EQUAL(cli({"PING"}), "PONG\n");
}

BOOST_AUTO_TEST_CASE(through_tls_it_is_rediss) {
    const Certificate authority = Certificate::authority("Test Authority"), issued = authority.issue("localhost");
    const std::string ca = sidecar.write_file("ca.pem", authority.pem());
    run({{"NEXT_ID_TLS_CERT", sidecar.write_file("cert.pem", issued.pem())},
         {"NEXT_ID_TLS_KEY", sidecar.write_file("key.pem", issued.key_pem())}});
    const std::string address = sidecar.resp();
    const std::string port = address.substr(address.find(':') + 1);
    const auto tls = [&](const std::string& command) {
        return run_program({"redis-cli", "-h", "localhost", "-p", port, "--tls", "--cacert", ca, command, key}).output;
    };
    BOOST_CHECK_EQUAL(tls("INCR"), std::to_string(first_id) + "\n");
    BOOST_CHECK(cli_over_tcp({"INCR", key}).find("this port speaks TLS") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_web_page_cannot_smuggle_commands) {
    run();
    const std::string command = sidecar.write_file("page", resp({"INCR", key}));
    const auto post = [&](const std::string& address) {
        return run_program({"curl", "-sS", "--http0.9", "--max-time", "20", "--data-binary", "@" + command,
                            "http://" + address})
            .output;
    };
    BOOST_CHECK(post(sidecar.resp()).find("-ERR Protocol error: expected '*', got 'P'") != std::string::npos);
    BOOST_CHECK(post(sidecar.http()).find("\"code\":413") != std::string::npos);
    BOOST_CHECK_EQUAL(sidecar.status("ids_issued"), "0");
}

BOOST_AUTO_TEST_CASE(limits_hold_as_for_http) {
    run({{"NEXT_ID_RATE", "3/h"}, {"NEXT_ID_CONNECTIONS_MAX", "2"}, {"NEXT_ID_IDLE_TIMEOUT", "1h"}});
    BOOST_CHECK_EQUAL(cli({"INCR", key}), std::to_string(first_id) + "\n");
    BOOST_CHECK_EQUAL(cli({"FOO"}).substr(0, 19), "ERR unknown command");
    BOOST_CHECK_EQUAL(TestClient{sidecar.socket()}.get("/next-id").status, 200);
    BOOST_CHECK(cli({"INCR", key}).starts_with("RATELIMITED this client has used up"));

    BOOST_REQUIRE(wait_until([&] {  // until then those above may still have the seats
        return sidecar.ask_admin("/metrics").body.find("next_id_connections{listener=\"socket\"} 0\n") !=
               std::string::npos;
    }));
    TestClient one{sidecar.socket()}, two{sidecar.resp()};
    BOOST_CHECK(wait_until(
        [&] { return cli({"PING"}).find("as many connections as --connections-max allows") != std::string::npos; }));
    BOOST_CHECK(cli_over_tcp({"PING"}).find("--connections-max") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_in_flight_is_answered_before_it_stops) {
    sidecar.set("PG_PORT", "1");
    sidecar.set("NEXT_ID_WAIT_MAX", "1s");
    sidecar.start();
    TestClient client{sidecar.socket()}, idle{sidecar.resp()};
    client.send(resp({"PING"}) + resp({"INCR", key}) + resp({"PING"}));
    BOOST_CHECK(wait_until([&] { return sidecar.status("requests_waiting") == "1"; }));
    sidecar.signal(SIGTERM);
    BOOST_CHECK(idle.is_closed());
    const std::string answers = client.end();
    BOOST_CHECK_MESSAGE(answers.starts_with("+PONG\r\n-TRYAGAIN ") && answers.ends_with("\r\n"), answers);
    BOOST_CHECK_EQUAL(answers.find("PONG", 3), std::string::npos);
    BOOST_CHECK_EQUAL(sidecar.wait_for_exit(), 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
