// The client library against the real sidecar: from C++, from C, and from Python as any language would bind it.
#include <next_id/client.h>
#include <next_id/id_pool.h>

#include <boost/test/unit_test.hpp>
#include <future>
#include <sstream>

#include "tests/support/load.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::int64_t>;

struct SidecarFixture {
    std::string sequence = new_sequence("");
    std::unique_ptr<SidecarProcess> sidecar(SidecarSettings settings = {}) const {
        settings.emplace("PG_SEQUENCE", sequence);
        return std::make_unique<SidecarProcess>(shared_postgres(), settings);
    }
};

Options at(const std::string& address, std::chrono::milliseconds timeout = 20s) {
    Options options;
    options.address = address;
    options.timeout = timeout;
    return options;
}

Error error_of(Client& client) {
    try {
        client.next();
    } catch (const Error& error) {
        return error;
    }
    throw std::runtime_error{"no error"};
}

// The IDs in lines "who ID".
Ids ids_in(const std::string& output) {
    Ids ids;
    std::istringstream lines{output};
    for (std::string who, rest; lines >> who && std::getline(lines, rest);)
        if (who != "error") ids.push_back(std::stoll(rest));
    return ids;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_e2etests, SidecarFixture)

BOOST_AUTO_TEST_CASE(ids_come_over_the_unix_socket_and_tcp) {
    const auto one = sidecar();
    one->start_filled(1000);
    Client unix_client{at(one->socket())}, tcp_client{at(one->http())};
    BOOST_TEST(unix_client.next() == 1);
    BOOST_TEST(tcp_client.next() == 2);
    BOOST_TEST(unix_client.next(3) == (Ids{3, 4, 5}));
    BOOST_TEST(tcp_client.next(3) == (Ids{6, 7, 8}));
    BOOST_TEST(unix_client.next() == 9);
}

BOOST_AUTO_TEST_CASE(ids_are_exact_to_both_ends_of_64_bits) {
    const std::string high = new_sequence("START 9223372036854775800");
    const std::string low = new_sequence("INCREMENT -2 MINVALUE -9223372036854775808 START -9223372036854775800");
    const auto one = sidecar({{"PG_SEQUENCE", high + "," + low}});
    one->start();
    Options options = at(one->socket());
    options.sequence = low;
    Client from_high{at(one->socket())}, from_low{options};
    BOOST_TEST(from_high.next(7).back() == 9223372036854775806);
    BOOST_TEST(from_high.next() == INT64_MAX);
    BOOST_TEST(from_low.next(4) == (Ids{INT64_MIN + 8, INT64_MIN + 6, INT64_MIN + 4, INT64_MIN + 2}));
    BOOST_TEST(from_low.next() == INT64_MIN);
}

BOOST_AUTO_TEST_CASE(what_the_sidecar_refuses_is_a_typed_error_in_its_words) {
    const auto one = sidecar({{"NEXT_ID_WAIT_MAX", "0s"}});
    one->set("NEXT_ID_TOKEN_FILE", one->write_file("tokens", "0123456789abcdef0123456789abcdef\n"));
    one->start_filled(1000);
    Client without_token{at(one->http())};
    BOOST_TEST((error_of(without_token).code() == ErrorCode::not_allowed));
    Options options = at(one->http());
    options.token_file = one->setting("NEXT_ID_TOKEN_FILE");
    BOOST_TEST(Client{options}.next() == 1);
    options.sequence = "unknown";
    Client of_unknown{options};
    const Error unknown = error_of(of_unknown);
    BOOST_TEST((unknown.code() == ErrorCode::rejected));
    BOOST_TEST(std::string{unknown.what()}.find("unknown") != std::string::npos, unknown.what());

    const Outage outage;
    Client patient{at(one->socket(), 20s)}, hasty{at(one->socket(), 500ms)};
    BOOST_TEST(hasty.next(999).size() == 999u);
    BOOST_REQUIRE(one->wait_for_log("no connection to PostgreSQL"));
    const Error dry = error_of(hasty);
    BOOST_TEST((dry.code() == ErrorCode::no_ids));
    BOOST_TEST(dry.retry_after().count() > 0);
    BOOST_TEST(std::string{dry.what()}.find("503 (connect postgresql failed: ") != std::string::npos, dry.what());
}

BOOST_AUTO_TEST_CASE(an_outage_is_waited_for_as_long_as_the_deadline_allows) {
    const auto one = sidecar({{"NEXT_ID_WAIT_MAX", "0s"}});
    one->start_filled(1000);
    Client client{at(one->socket())};
    Outage outage;
    client.next(1000);
    auto next = std::async(std::launch::async, [&] { return client.next(); });
    BOOST_TEST((next.wait_for(200ms) == std::future_status::timeout));
    outage.end();
    BOOST_TEST(next.get() == 1001);
}

BOOST_AUTO_TEST_CASE(pools_and_clients_get_no_id_twice_while_the_sidecar_is_killed_again_and_again) {
    const auto one = sidecar();
    one->start_filled(1000);
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> taken = 0;
    IdPool pool{at(one->socket()), {100}};
    const auto from_pool = [&] {
        Ids ids;
        for (; !stop; ++taken, std::this_thread::yield()) ids.push_back(pool.next());
        return ids;
    };
    const auto from_client = [&] {
        Client client{at(one->socket())};
        Ids ids;
        for (int i = 0; !stop; ++i) {
            const Ids more = client.next(std::size_t(1 + i % 20));
            ids.insert(ids.end(), more.begin(), more.end());
            taken += more.size();
        }
        return ids;
    };
    std::vector<std::future<Ids>> takers;
    for (int i = 0; i < 2; ++i) {
        takers.push_back(std::async(std::launch::async, from_pool));
        takers.push_back(std::async(std::launch::async, from_client));
    }
    for (int i = 0; i < 5; ++i) {
        const std::size_t enough = taken + 300;
        BOOST_TEST(wait_until([&] { return taken >= enough; }));
        one->stop(i % 2 == 0 ? SIGKILL : SIGTERM);
        one->start();
    }
    stop = true;
    Ids all;
    for (auto& taker : takers) {
        const Ids ids = taker.get();
        all.insert(all.end(), ids.begin(), ids.end());
    }
    BOOST_TEST(count_repeated(all) == 0u);
}

BOOST_AUTO_TEST_CASE(a_c_program_uses_all_of_the_interface) {
    const auto one = sidecar();
    one->start_filled(1000);
    const ProgramResult result = run_program({NEXT_ID_C_PROGRAM, one->socket()});
    BOOST_TEST_REQUIRE(result.exit_code == 0, result.output);
    const Ids ids = ids_in(result.output);
    BOOST_TEST(ids.size() == 1 + 3 + 5 + 20 + 20u);
    BOOST_TEST(Ids(ids.begin(), ids.begin() + 4) == (Ids{1, 2, 3, 4}));
    BOOST_TEST(count_repeated(ids) == 0u);
    BOOST_TEST(result.output.find("error there is no socket /nonexistent/s") != std::string::npos, result.output);
}

BOOST_AUTO_TEST_CASE(python_binds_it_with_ctypes) {
    const auto one = sidecar();
    one->start_filled(1000);
    // A library with AddressSanitizer in it wants that to be loaded before all else. (Python itself leaks.)
    const ProgramResult result = run_program(
        {"/usr/bin/env", std::string{"LD_PRELOAD="} + NEXT_ID_PRELOAD, "ASAN_OPTIONS=detect_leaks=0", "python3",
         std::string{NEXT_ID_SOURCE_DIR} + "/tests/client/python_program.py", NEXT_ID_CLIENT_LIBRARY, one->socket()});
    BOOST_TEST_REQUIRE(result.exit_code == 0, result.output);
    const Ids ids = ids_in(result.output);
    BOOST_TEST(ids.size() == 600u);
    BOOST_TEST(count_repeated(ids) == 0u);
    BOOST_TEST(result.output.find("error 1: the address \"nowhere\"") != std::string::npos, result.output);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
