// No ID twice: over several sidecars, their crashes, and other programs that call nextval() on the same sequence; and
// every ID exact, to the ends of the 64 bits.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <memory>
#include <thread>

#include "tests/refill/pg_sessions.h"
#include "tests/support/load.h"
#include "tests/support/nextval_caller.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

struct Collected {
    Ids sidecars;  // what they gave out
    Ids callers;   // what the callers of nextval() got
};

std::unique_ptr<SidecarProcess> sidecar_of(const std::string& sequence, SidecarSettings settings = {}) {
    settings.emplace("PG_SEQUENCE", sequence);
    return std::make_unique<SidecarProcess>(shared_postgres(), settings);
}

// Two sidecars with short windows, under load, and two callers, for so long; one sidecar is killed and started again
// meanwhile.
Collected collect(const std::string& sequence, const std::string& increment, double seconds) {
    const SidecarSettings settings{
        {"NEXT_ID_INCREMENT", increment}, {"NEXT_ID_RESERVE", "1s"}, {"NEXT_ID_THREADS", "2"}};
    const auto killed = sidecar_of(sequence, settings), spared = sidecar_of(sequence, settings);
    killed->start_ready();
    spared->start_ready();
    NextvalCaller first{sequence}, second{sequence};
    Load load{killed->socket(), 64, seconds}, other{spared->http(), 64, seconds};
    for (int i = 0; i < 3; ++i) {
        std::this_thread::sleep_for(std::chrono::duration<double>{seconds / 4});  // so that it is killed under load
        BOOST_CHECK_EQUAL(killed->stop(SIGKILL), 128 + SIGKILL);
        killed->start();
        BOOST_CHECK(killed->log().find("window adopted") != std::string::npos);
    }
    const Load::Result result = load.wait();
    BOOST_CHECK_GT(result.done, 1000U);
    BOOST_CHECK_GT(result.lost, 0U);
    BOOST_CHECK_EQUAL(other.wait().refused, 0U);
    Collected all{load.ids(), {}};
    const Ids ids = other.ids();
    all.sidecars.insert(all.sidecars.end(), ids.begin(), ids.end());
    for (NextvalCaller* caller : {&first, &second}) {
        const Ids values = caller->stop();
        BOOST_CHECK_GT(values.size(), 100U);
        all.callers.insert(all.callers.end(), values.begin(), values.end());
    }
    BOOST_TEST_MESSAGE(all.sidecars.size() << " IDs from the sidecars, " << all.callers.size() << " beside them");
    return all;
}

// All IDs that are left, one after the other, until the answer is no ID.
Ids drain(TestClient& client, TestAnswer& last) {
    Ids ids;
    while ((last = client.get("/next-id")).status == 200) ids.push_back(id_of(last));
    return ids;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(uniqueness_e2etests)

BOOST_AUTO_TEST_CASE(no_id_comes_twice_from_two_sidecars_their_crashes_and_callers_of_nextval) {
    const std::string sequence = new_sequence();
    Collected all = collect(sequence, "step", 10);
    all.sidecars.insert(all.sidecars.end(), all.callers.begin(), all.callers.end());
    BOOST_CHECK_EQUAL(count_repeated(all.sidecars), 0U);
}

BOOST_AUTO_TEST_CASE(no_id_comes_twice_in_block_mode) {
    constexpr std::int64_t block = 1000;
    const std::string sequence = new_sequence("START 1000 INCREMENT 1000");
    const Collected all = collect(sequence, "block", 6);
    BOOST_CHECK_EQUAL(count_repeated(all.sidecars), 0U);
    BOOST_CHECK_EQUAL(count_repeated(all.callers), 0U);
    Ids callers = all.callers;  // whoever got v owns v - 999 to v
    std::sort(callers.begin(), callers.end());
    const auto is_a_callers = [&](std::int64_t id) {
        return std::binary_search(callers.begin(), callers.end(), (id + block - 1) / block * block);
    };
    BOOST_CHECK_EQUAL(std::count_if(all.sidecars.begin(), all.sidecars.end(), is_a_callers), 0);
}

BOOST_AUTO_TEST_CASE(a_sequence_is_given_out_to_its_very_end_and_then_503_says_so) {
    constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
    const std::string sequence = new_sequence();
    shared_postgres().psql("SELECT setval('" + sequence + "', " + std::to_string(end - 150) + ")");
    const auto sidecar = sidecar_of(sequence, {{"NEXT_ID_WAIT_MAX", "1s"}});
    sidecar->start_ready();
    TestClient client{sidecar->http()};
    TestAnswer last;
    const Ids ids = drain(client, last);
    BOOST_REQUIRE_EQUAL(ids.size(), 150U);
    for (std::size_t i = 0; i < ids.size(); ++i) BOOST_REQUIRE_EQUAL(ids[i], end - 149 + std::int64_t(i));
    BOOST_CHECK_EQUAL(last.status, 503);
    BOOST_TEST_INFO(last.body);
    BOOST_CHECK(last.body.find("query seq failed") != std::string::npos);
    BOOST_CHECK(last.body.find("reached maximum value of sequence") != std::string::npos);
    BOOST_CHECK(sidecar->log().find("the sequence nears its end") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_sequence_that_starts_near_its_end_loses_none_of_what_it_has) {
    const std::string started = new_sequence("START 900 MAXVALUE 1000"), restarted = new_sequence("MAXVALUE 1000");
    shared_postgres().psql("ALTER SEQUENCE " + restarted + " RESTART 900");
    for (const std::string& sequence : {started, restarted}) {
        const auto sidecar = sidecar_of(sequence, {{"NEXT_ID_WAIT_MAX", "1s"}});
        sidecar->start_ready();
        TestClient client{sidecar->http()};
        TestAnswer last;
        const Ids ids = drain(client, last);
        BOOST_REQUIRE_EQUAL(ids.size(), 101U);
        BOOST_CHECK_EQUAL(ids.front(), 900);
        BOOST_CHECK_EQUAL(ids.back(), 1000);
    }
}

BOOST_AUTO_TEST_CASE(block_mode_gives_out_the_last_whole_block_and_ends) {
    const std::string sequence = new_sequence("START 9223372036854775000 INCREMENT 500");
    const auto sidecar = sidecar_of(sequence, {{"NEXT_ID_INCREMENT", "block"}, {"NEXT_ID_WAIT_MAX", "1s"}});
    shared_postgres().psql("SELECT nextval('" + sequence + "')");
    sidecar->start_ready();
    TestClient client{sidecar->http()};
    TestAnswer last;
    const Ids ids = drain(client, last);
    BOOST_REQUIRE_EQUAL(ids.size(), 500U);
    BOOST_CHECK_EQUAL(ids.front(), 9223372036854775001);
    BOOST_CHECK_EQUAL(ids.back(), 9223372036854775500);
}

BOOST_AUTO_TEST_CASE(ids_above_2_to_the_53_are_exact_in_every_format) {
    const std::string sequence = new_sequence("START 9007199254740993");
    const auto sidecar = sidecar_of(sequence);
    sidecar->start_ready();
    TestClient client{sidecar->socket()};
    const auto body = [&](const std::string& query) { return client.get("/next-id" + query).body; };
    const std::string front = R"({"code":0,"msg":"success","data":{)";
    BOOST_CHECK_EQUAL(body(""), front + "\"id\":9007199254740993}}\n");
    BOOST_CHECK_EQUAL(body("?count=2"), front + "\"ids\":[9007199254740994,9007199254740995]}}\n");
    BOOST_CHECK_EQUAL(body("?format=string"), front + "\"id\":\"9007199254740996\"}}\n");
    BOOST_CHECK_EQUAL(body("?format=text"), "9007199254740997\n");
    BOOST_CHECK_EQUAL(body("?count=3&format=ranges"),
                      front + "\"count\":3,\"ranges\":[[9007199254740998,9007199254741000]]}}\n");
}

BOOST_AUTO_TEST_CASE(stepped_and_descending_sequences_are_exact) {
    struct Case {
        const char* clauses;
        std::int64_t first, step;
    };
    for (const Case& one :
         {Case{"INCREMENT 7 START 3", 3, 7}, Case{"INCREMENT -5 START -1", -1, -5},
          Case{"INCREMENT -1 MINVALUE -9223372036854775808 START -9223372036854770000", -9223372036854770000, -1},
          Case{"INCREMENT -3 MINVALUE -100000 MAXVALUE 100 START 100", 100, -3}}) {
        BOOST_TEST_CONTEXT(one.clauses) {
            const auto sidecar = sidecar_of(new_sequence(one.clauses));
            sidecar->start_ready();
            TestClient client{sidecar->http()};
            for (int i = 0; i < 2500; ++i) BOOST_REQUIRE_EQUAL(id_of(client.get("/next-id")), one.first + i * one.step);
            const std::int64_t next = one.first + 2500 * one.step, last = next + 9 * one.step;
            BOOST_CHECK_EQUAL(client.get("/next-id?count=10&format=ranges").body,
                              R"({"code":0,"msg":"success","data":{"count":10,"ranges":[[)" + std::to_string(next) +
                                  "," + std::to_string(last) + "," + std::to_string(one.step) + "]]}}\n");
        }
    }
}

BOOST_AUTO_TEST_CASE(altered_under_way_a_sequence_still_gives_no_id_twice) {
    const std::string sequence = new_sequence("START 100 INCREMENT 100");
    const SidecarSettings settings{
        {"NEXT_ID_INCREMENT", "block"}, {"NEXT_ID_RESERVE", "1s"}, {"NEXT_ID_WINDOW_MAX", "5000"}};
    const auto one = sidecar_of(sequence, settings), two = sidecar_of(sequence, settings);
    one->start_ready();
    two->start_ready();
    Load load{one->socket(), 16, 3}, other{two->socket(), 16, 3};
    for (const int increment : {700, 50, 1, 1000, 100, 333})
        shared_postgres().psql("SELECT pg_sleep(0.4); ALTER SEQUENCE " + sequence + " INCREMENT " +
                               std::to_string(increment));
    BOOST_CHECK_EQUAL(load.wait().refused + other.wait().refused, 0U);
    Ids ids = load.ids();
    const Ids more = other.ids();
    ids.insert(ids.end(), more.begin(), more.end());
    BOOST_CHECK_EQUAL(count_repeated(ids), 0U);
}

BOOST_AUTO_TEST_CASE(sequences_that_would_repeat_ids_are_refused_in_words) {
    const std::string cycle = new_sequence("CYCLE");
    const auto sidecar = sidecar_of(cycle, {{"NEXT_ID_WAIT_MAX", "0s"}});
    sidecar->start();
    BOOST_CHECK(sidecar->wait_for_log("sequence refused: the sequence has CYCLE"));
    const TestAnswer answer = TestClient{sidecar->http()}.get("/next-id");
    BOOST_CHECK_EQUAL(answer.status, 503);
    BOOST_CHECK_MESSAGE(answer.body.find("NO CYCLE") != std::string::npos, answer.body);
    BOOST_CHECK_EQUAL(shared_postgres().psql("SELECT is_called FROM " + cycle), "f");  // and none was taken
    shared_postgres().psql("ALTER SEQUENCE " + cycle + " NO CYCLE");
    sidecar->wait_until_ready();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
