// --order strict: whoever asks after an answer was given gets a greater ID than that answer's, at whatever sidecar.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "tests/chaos/id_takers.h"
#include "tests/support/tcp_gate.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct StrictFixture {
    static std::unique_ptr<SidecarProcess> strict(const std::string& sequence, SidecarSettings settings = {}) {
        settings.emplace("PG_SEQUENCE", sequence);
        settings.emplace("NEXT_ID_ORDER", "strict");
        return std::make_unique<SidecarProcess>(shared_postgres(), settings);
    }
};

struct Asked {
    Clock::time_point sent, answered;
    std::int64_t first, last;
};

// How many were sent when an answer with a greater ID had been received.
std::size_t count_out_of_order(std::vector<Asked> all) {
    std::vector<Asked> by_answer = all;
    std::ranges::sort(all, {}, &Asked::sent);
    std::ranges::sort(by_answer, {}, &Asked::answered);
    std::size_t out_of_order = 0, next = 0;
    std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
    for (const Asked& one : all) {
        for (; next < by_answer.size() && by_answer[next].answered < one.sent; ++next)
            greatest = std::max(greatest, by_answer[next].last);
        out_of_order += one.first <= greatest;
    }
    return out_of_order;
}

std::vector<std::int64_t> ids_of(const TestAnswer& answer) {
    std::vector<std::int64_t> ids;
    const std::size_t list = answer.body.find('[');
    if (answer.status != 200 || list == std::string::npos) throw std::runtime_error{answer.head + answer.body};
    for (std::size_t at = list; answer.body[at] != ']'; at = answer.body.find_first_of(",]", at + 1))
        ids.push_back(std::stoll(answer.body.substr(at + 1)));
    return ids;
}

// Clients that ask one sidecar and the other in turn, every third time for several IDs.
std::vector<Asked> ask_in_turn(const std::vector<std::string>& addresses, int clients, int rounds) {
    std::vector<std::vector<Asked>> asked(static_cast<std::size_t>(clients));
    std::atomic<int> failed = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < asked.size(); ++i)
        threads.emplace_back([&, i] {
            try {
                std::vector<std::unique_ptr<TestClient>> connections;
                for (const std::string& address : addresses)
                    connections.push_back(std::make_unique<TestClient>(address));
                for (std::size_t round = 0; round < std::size_t(rounds); ++round) {
                    const std::string target = round % 3 == i % 3 ? "/next-id?count=3" : "/next-id?count=1";
                    const auto sent = Clock::now();
                    const auto ids = ids_of(connections[(round + i) % connections.size()]->get(target));
                    asked[i].push_back({sent, Clock::now(), ids.front(), ids.back()});
                }
            } catch (const std::exception&) {
                ++failed;
            }
        });
    for (std::thread& thread : threads) thread.join();
    BOOST_CHECK_EQUAL(failed, 0);
    std::vector<Asked> all;
    for (const auto& some : asked) all.insert(all.end(), some.begin(), some.end());
    return all;
}

std::size_t count_repeated_in(const std::vector<Asked>& all) {
    Ids firsts;
    for (const Asked& one : all) firsts.push_back(one.first);
    return count_repeated(firsts);
}

std::int64_t next_xid() {
    return std::stoll(shared_postgres().psql("SELECT pg_current_xact_id()::text"));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(strict_order_chaostests, StrictFixture)

BOOST_AUTO_TEST_CASE(whoever_asks_later_gets_a_greater_id_at_either_sidecar) {
    const std::string sequence = new_sequence();
    const auto one = strict(sequence), two = strict(sequence, {{"NEXT_ID_THREADS", "2"}});
    one->start_ready();
    two->start_ready();
    NextvalCaller caller{sequence};
    const auto asked = ask_in_turn({one->http(), two->socket()}, 8, 300 * times_longer(30));
    caller.stop();
    BOOST_CHECK_EQUAL(count_out_of_order(asked), 0U);
    BOOST_CHECK_EQUAL(count_repeated_in(asked), 0U);
}

// A block holds more than was waited for, and its rest is too old for those who came after the statement.
BOOST_AUTO_TEST_CASE(it_is_so_in_block_mode_too) {
    const std::string sequence = new_sequence("START 100 INCREMENT 100");
    const SidecarSettings block{{"NEXT_ID_INCREMENT", "block"}};
    const auto one = strict(sequence, block), two = strict(sequence, block);
    one->start_ready();
    two->start_ready();
    const auto asked = ask_in_turn({one->http(), two->socket()}, 8, 300 * times_longer(30));
    BOOST_CHECK_EQUAL(count_out_of_order(asked), 0U);
    BOOST_CHECK_EQUAL(count_repeated_in(asked), 0U);
}

// The answer of a statement lies in the network while others are given out elsewhere; who asks now must not get what it
// brings.
BOOST_AUTO_TEST_CASE(a_request_gets_nothing_that_was_reserved_before_it_came) {
    for (const bool block : {false, true}) {
        const std::string sequence = new_sequence(block ? "START 1000 INCREMENT 1000" : "");
        TcpGate gate{shared_postgres().port()};
        const SidecarSettings mode{{"NEXT_ID_INCREMENT", block ? "block" : "step"}};
        SidecarSettings slow = mode;
        slow["PG_PORT"] = gate.port();
        const auto far = strict(sequence, slow), near = strict(sequence, mode);
        far->start_ready();
        near->start_ready();
        TestClient first{far->http()}, second{far->http()}, elsewhere{near->http()};
        id_of(first.get("/next-id"));
        gate.slow(300ms);
        const std::int64_t before = last_value(sequence);
        first.send("GET /next-id HTTP/1.1\r\nHost: test\r\n\r\n");
        BOOST_REQUIRE(wait_until([&] { return last_value(sequence) != before; }));  // reserved; the answer is under way
        const std::int64_t meanwhile = id_of(elsewhere.get("/next-id"));
        const std::int64_t later = id_of(second.get("/next-id"));
        BOOST_CHECK_LT(id_of(first.receive()), meanwhile);
        BOOST_CHECK_GT(later, meanwhile);
    }
}

BOOST_AUTO_TEST_CASE(requests_that_wait_together_share_a_statement) {
    const std::string sequence = new_sequence();
    const auto one = strict(sequence);
    one->start_ready();
    const std::int64_t before = next_xid();
    Load load{one->socket(), 64, 2};
    const Load::Result result = load.wait();
    const auto statements = std::uint64_t(next_xid() - before - 1);  // each has a transaction number
    BOOST_TEST_MESSAGE(result.done << " requests, " << statements << " statements");
    BOOST_CHECK_GT(result.done, 100U);
    BOOST_CHECK_EQUAL(result.refused, 0U);
    BOOST_CHECK_LT(statements * 10, result.done);
    BOOST_CHECK_EQUAL(count_repeated(load.ids()), 0U);
    BOOST_CHECK_LE(last_value(sequence), std::int64_t(result.done) + 64);  // nothing is reserved that nobody waits for
}

BOOST_AUTO_TEST_CASE(cache_above_1_is_refused_and_cured) {
    const std::string sequence = new_sequence("CACHE 2");
    const auto one = strict(sequence, {{"NEXT_ID_WAIT_MAX", "200ms"}});
    one->start();
    BOOST_REQUIRE(one->wait_for_log("sequence refused"));
    TestClient client{one->http()};
    const TestAnswer answer = client.get("/next-id");
    BOOST_CHECK_EQUAL(answer.status, 503);
    BOOST_CHECK_MESSAGE(answer.body.find("the sequence has CACHE 2, with which strict order cannot be kept: "
                                         "ALTER SEQUENCE ... CACHE 1") != std::string::npos,
                        answer.body);
    BOOST_CHECK_EQUAL(shared_postgres().psql("SELECT is_called FROM " + sequence), "f");
    shared_postgres().psql("ALTER SEQUENCE " + sequence + " CACHE 1");
    BOOST_CHECK(wait_until([&] { return client.get("/next-id").status == 200; }));
    shared_postgres().psql("ALTER SEQUENCE " + sequence + " CACHE 2");  // under way
    BOOST_CHECK_EQUAL(client.get("/next-id").status, 503);
}

BOOST_AUTO_TEST_CASE(a_restart_gives_out_nothing_that_was_reserved_before) {
    const std::string sequence = new_sequence();
    for (const char* before : {"window", "strict"}) {
        const auto one = strict(sequence, {{"NEXT_ID_ORDER", before}});
        one->start_ready();
        BOOST_CHECK(wait_until([&] { return TestClient{one->http()}.get("/next-id").status == 200; }));
        for (const int signal : {SIGTERM, SIGKILL}) {
            one->stop(signal);
            one->set("NEXT_ID_ORDER", "strict");
            const std::int64_t reserved = last_value(sequence);
            one->start();
            BOOST_CHECK_GT(id_of(TestClient{one->http()}.get("/next-id")), reserved);
        }
    }
}

BOOST_AUTO_TEST_CASE(several_ids_of_one_request_are_its_own_and_all_later) {
    const std::string sequence = new_sequence();
    const auto one = strict(sequence);
    one->start_ready();
    TestClient client{one->http()};
    BOOST_CHECK_EQUAL(id_of(client.get("/next-id")), 1);
    const std::string front = R"({"code":0,"msg":"success","data":{"ids":)";
    BOOST_CHECK_EQUAL(client.get("/next-id?count=3").body, front + "[2,3,4]}}\n");
    BOOST_CHECK_EQUAL(shared_postgres().psql("SELECT nextval('" + sequence + "')"), "5");
    BOOST_CHECK_EQUAL(client.get("/next-id?count=3").body, front + "[6,7,8]}}\n");
    BOOST_CHECK_EQUAL(last_value(sequence), 8);
}

BOOST_AUTO_TEST_CASE(without_postgresql_a_request_gets_503_when_wait_max_is_over) {
    const std::string sequence = new_sequence();
    const auto one = strict(sequence, {{"NEXT_ID_WAIT_MAX", "400ms"}});
    one->start_ready();
    TestClient client{one->http()};
    BOOST_CHECK_EQUAL(id_of(client.get("/next-id")), 1);
    {
        const Outage outage;
        const auto begin = Clock::now();
        const TestAnswer answer = client.get("/next-id");
        const auto waited = Clock::now() - begin;
        BOOST_CHECK_EQUAL(answer.status, 503);
        BOOST_CHECK_EQUAL(answer.header("Retry-After"), "1");
        BOOST_CHECK_MESSAGE(answer.body.find("connect postgresql failed") != std::string::npos, answer.body);
        BOOST_CHECK_MESSAGE(waited >= 400ms && waited < 2s, "it waited for " << waited / 1ms << " ms");
    }
    BOOST_CHECK(wait_until([&] { return client.get("/next-id").status == 200; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
