#include <fcntl.h>

#include <atomic>
#include <boost/test/unit_test.hpp>

#include "sidecar/app/check.h"
#include "sidecar/app/get.h"
#include "sidecar/base/exit_code.h"
#include "tests/app/fake_server.h"

namespace next_id {
namespace {

using namespace std::chrono_literals;

struct Outcome {
    int exit_code;
    std::string out, err;
};

std::string all_of(std::FILE* file) {
    std::rewind(file);
    std::string text;
    for (int byte; (byte = std::fgetc(file)) != EOF;) text += static_cast<char>(byte);
    std::fclose(file);
    return text;
}

template <class Run>
Outcome outcome_of(Run run, const Config& config, const CommandLine& line) {
    std::FILE *out = std::tmpfile(), *err = std::tmpfile();
    const int exit_code = run(config, line, out, err);
    return {exit_code, all_of(out), all_of(err)};
}

// Counts up from 1, for as many IDs as the target asks.
FakeServer::Answer counting(std::int64_t& next, std::int64_t last = INT64_MAX) {
    return [&next, last](const std::string& target) {
        std::string body;
        for (auto left = std::stoll(target.substr(target.find("count=") + 6)); left > 0; --left)
            body += std::to_string(next++) + "\n";
        if (next - 1 > last)
            return http_answer("503 Service Unavailable",
                               R"({"code":503,"msg":"query seq failed","error":"no \"id\" left"})");
        return http_answer("200 OK", body);
    };
}

Config over_socket(const FakeServer& server) {
    Config config;
    config.socket_path = server.socket_path();
    return config;
}

CommandLine wanted(std::int64_t ids, std::string sequence = {}) {
    CommandLine line;
    line.ids = ids;
    line.sequence = std::move(sequence);
    return line;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(get_check_tests)

BOOST_AUTO_TEST_CASE(get_prints_any_number_of_ids_in_batches) {
    std::int64_t next = 1;
    FakeServer server{FakeServer::Kind::unix_socket, counting(next)};
    const Outcome outcome = outcome_of(get, over_socket(server), wanted(20'001));
    std::string expected;
    for (int id = 1; id <= 20'001; ++id) expected += std::to_string(id) + "\n";
    BOOST_TEST(outcome.exit_code == 0);
    BOOST_TEST((outcome.out == expected));
    BOOST_TEST(server.requests().size() == 3U);
    BOOST_TEST(server.requests().back().starts_with("GET /next-id?count=1&format=text "));
}

BOOST_AUTO_TEST_CASE(get_asks_for_the_sequence_that_was_named) {
    std::int64_t next = 7;
    FakeServer server{FakeServer::Kind::tcp, counting(next)};
    Config config;
    config.http = server.address();
    BOOST_TEST(outcome_of(get, config, wanted(1, "s.\"A b\"")).out == "7\n");
    BOOST_TEST(server.requests().at(0).starts_with("GET /next-id/s.%22A%20b%22?count=1&format=text "));
}

BOOST_AUTO_TEST_CASE(get_says_what_the_server_said_and_how_many_ids_are_missing) {
    std::int64_t next = 1;
    FakeServer server{FakeServer::Kind::unix_socket, counting(next, 10'000)};
    const Outcome outcome = outcome_of(get, over_socket(server), wanted(12'000));
    BOOST_TEST(outcome.exit_code == 1);
    BOOST_TEST(outcome.err == "next-id: query seq failed: no \"id\" left (2000 of 12000 IDs are missing)\n");
    BOOST_TEST(outcome.out.ends_with("\n10000\n"));
}

BOOST_AUTO_TEST_CASE(get_prints_nothing_that_is_not_the_ids_it_asked_for) {
    for (const char* body :
         {"", "1\n", "1\n2\n3\n", "1\n2", "1\nx\n", "1\n9223372036854775808\n", "<html>\n</html>\n"}) {
        FakeServer server{FakeServer::Kind::unix_socket,
                          [&](const std::string&) { return http_answer("200 OK", body); }};
        const Outcome outcome = outcome_of(get, over_socket(server), wanted(2));
        BOOST_TEST(outcome.exit_code == 1);
        BOOST_TEST(outcome.out == "");
        BOOST_TEST(outcome.err.starts_with("next-id: the answer is not the IDs that were asked for"), outcome.err);
    }
}

BOOST_AUTO_TEST_CASE(get_says_when_standard_output_is_closed) {
    for (const auto& [ids, missing] :
         {std::pair{30'000, " (30000 of 30000 IDs may not have been printed)"}, std::pair{1, ""}}) {
        std::int64_t next = 1;
        FakeServer server{FakeServer::Kind::unix_socket, counting(next)};
        int ends[2];
        BOOST_TEST_REQUIRE(pipe(ends) == 0);
        close(ends[0]);
        std::FILE *out = fdopen(ends[1], "w"), *err = std::tmpfile();
        BOOST_TEST(get(over_socket(server), wanted(ids), out, err) == 1);
        std::fclose(out);
        BOOST_TEST(all_of(err) ==
                   std::string{"next-id: writing to standard output failed: Broken pipe"} + missing + "\n");
        BOOST_TEST(server.requests().size() == 1U);  // and takes no more
    }
}

BOOST_AUTO_TEST_CASE(an_error_that_is_not_ours_is_told_in_short) {
    BOOST_TEST(error_sentence(502, "<html>\nbad") == "HTTP status 502: <html>\\nbad");
    BOOST_TEST(error_sentence(502, std::string(1000, 'x')).size() < 250U);
    BOOST_TEST(error_sentence(404, R"({"code":404,"msg":"not found"})") == "not found");
}

BOOST_AUTO_TEST_CASE(check_says_ready_or_why_not) {
    std::atomic<bool> ready = false;
    FakeServer server{FakeServer::Kind::tcp, [&](const std::string& target) {
                          BOOST_TEST(target == "/readyz");
                          return ready ? http_answer("200 OK", "ready\n")
                                       : http_answer("503 Service Unavailable", "no ID left\n");
                      }};
    Config config;
    config.admin = HostPort{"0.0.0.0", server.address().port};
    Outcome outcome = outcome_of(check, config, {});
    BOOST_TEST((outcome.exit_code == 1 && outcome.out == ""));
    BOOST_TEST(outcome.err == "next-id: not ready: no ID left\n");
    ready = true;
    outcome = outcome_of(check, config, {});
    BOOST_TEST((outcome.exit_code == 0 && outcome.out == "ready\n" && outcome.err == ""));
}

BOOST_AUTO_TEST_CASE(check_waits_until_it_is_ready) {
    int asked = 0;
    FakeServer server{FakeServer::Kind::tcp,
                      [&](const std::string&) { return ++asked < 3 ? "" : http_answer("200 OK", ""); }};
    Config config;
    config.admin = server.address();
    CommandLine line;
    line.wait_max = 30s;
    BOOST_TEST(outcome_of(check, config, line).out == "ready\n");
    BOOST_TEST(server.requests().size() == 3U);
}

BOOST_AUTO_TEST_CASE(check_gives_up_when_the_time_is_over) {
    Config config;
    config.admin = HostPort{"127.0.0.1", 1};
    CommandLine line;
    line.wait_max = 150ms;
    const Instant start = Clock::now();
    const Outcome outcome = outcome_of(check, config, line);
    BOOST_TEST((Clock::now() - start >= 150ms));
    BOOST_TEST(outcome.exit_code == 1);
    BOOST_TEST(outcome.err ==
               "next-id: nobody listens on 127.0.0.1:1: next-id serve must be running, with the same address\n");
}

BOOST_AUTO_TEST_CASE(check_without_an_admin_address_has_nobody_to_ask) {
    const Outcome outcome = outcome_of(check, Config{}, {});
    BOOST_TEST(outcome.exit_code == 78);
    BOOST_TEST(outcome.err.starts_with("next-id: admin is none"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
