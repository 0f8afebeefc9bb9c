// A standby that lacked the last records takes over: the sequence goes back. A sidecar that had reserved what was lost
// gives none of it out once it has noticed, leaves the sequence alone and says what to do; after resume_past.sql with
// the fleet's highest mark all go on beyond it.
//
// What no sidecar can prevent: one that has no mark beyond what the standby knew (a new one, or one that reserved
// nothing since the records were lost) has no way to know, and reserves again what others have given out, or still
// have in their windows. So has any other program that calls nextval(). And it moves the sequence on, perhaps past the
// marks of others, who then cannot notice either. Whoever can know takes nothing. A synchronous standby is the remedy.
#include <boost/test/unit_test.hpp>

#include "tests/chaos/adversity.h"
#include "tests/chaos/ledger.h"
#include "tests/chaos/replication.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Sidecars = std::vector<std::unique_ptr<SidecarProcess>>;

std::int64_t mark_of(const SidecarProcess& sidecar) {
    return std::stoll(sidecar.status("highest_reserved"));
}

std::int64_t highest_mark(const Sidecars& sidecars) {
    std::int64_t highest = 0;
    for (const auto& sidecar : sidecars) highest = std::max(highest, mark_of(*sidecar));
    return highest;
}

struct LostRecords {
    Pair pair;
    Sidecars sidecars;
    Ledger ledger;

    // The windows are bounded, so that who gives out little has no reason to reserve more.
    void start(int count, SidecarSettings settings) {
        settings.emplace("NEXT_ID_WINDOW_MAX", "1000");
        for (int i = 0; i < count; ++i) {
            sidecars.push_back(pair.sidecar(settings));
            sidecars.back()->start_filled(1000);
        }
    }

    // Gives out most of its window, and reserves anew.
    void reserve_more(int number) {
        TestClient client{sidecars[number]->http()};
        const std::int64_t mark = mark_of(*sidecars[number]);
        ledger.add_sidecar(number, take(client, 900));
        BOOST_REQUIRE(wait_until([&] { return mark_of(*sidecars[number]) > mark; }));
    }

    // All that it has, ID by ID: whoever has no more to reserve ends with 503.
    void drain(int number, int ids_max) {
        TestClient client{sidecars[number]->http()};
        std::vector<std::int64_t> ids;
        for (TestAnswer answer; int(ids.size()) < ids_max && (answer = client.get("/next-id")).status == 200;)
            ids.push_back(id_of(answer));
        ledger.add_sidecar(number, ids);
    }

    static void check_latched(const SidecarProcess& sidecar) {
        BOOST_TEST(sidecar.wait_for_log("the sequence went back"));
        BOOST_TEST(sidecar.log().find("with sql/resume_past.sql") != std::string::npos);
        const std::string report = sidecar.ask_admin("/status").body;
        BOOST_TEST(report.find("\"state\": \"latched\"") != std::string::npos, report);
        BOOST_TEST(report.find("with sql/resume_past.sql") != std::string::npos, report);
        BOOST_TEST(sidecar.status("ids_left") == "0");
        const TestAnswer answer = TestClient{sidecar.http()}.get("/next-id");
        BOOST_TEST(answer.status == 503);
        BOOST_TEST(answer.body.find("sql/resume_past.sql") != std::string::npos, answer.body);
    }

    void resume_past(std::int64_t mark) {
        const auto [exit_code, output] =
            pair.standby->script("resume_past.sql", {"sequence=ids", "past=" + std::to_string(mark)});
        BOOST_TEST(exit_code == 0, output);
        for (const auto& sidecar : sidecars) {
            TestClient client{sidecar->http()};
            BOOST_TEST(wait_until([&] { return client.get("/next-id?count=1&format=text").status == 200; }));
        }
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lost_records_chaostests, LostRecords)

// Two of four have reserved what is lost; the windows of the others are known to the new primary too.
BOOST_AUTO_TEST_CASE(who_reserved_what_is_lost_stops_and_the_others_go_on) {
    start(4, {{"NEXT_ID_WAIT_MAX", "100ms"}});
    pair.cut_off_standby();
    for (const int number : {0, 1}) reserve_more(number);
    pair.fail_over();
    const std::int64_t known = last_value(*pair.standby);
    for (const int number : {0, 1}) {
        BOOST_REQUIRE_GT(mark_of(*sidecars[number]), known);
        drain(number, 5000);
        check_latched(*sidecars[number]);
    }
    for (const int number : {2, 3}) drain(number, 100);
    const auto until = std::chrono::steady_clock::now() + (long_form() ? 30s : 1s);
    while (std::chrono::steady_clock::now() < until)  // they come and look, and take nothing
        for (const int number : {0, 1})
            BOOST_REQUIRE_EQUAL(TestClient{sidecars[number]->http()}.get("/next-id").status, 503);
    BOOST_TEST(last_value(*pair.standby) == known);

    const std::int64_t mark = highest_mark(sidecars);
    resume_past(mark);
    for (const int number : {0, 1, 2, 3}) drain(number, 2000);
    for (const int number : {0, 1, 2, 3})
        BOOST_TEST(id_of(TestClient{sidecars[number]->http()}.get("/next-id")) > mark);
    BOOST_TEST(ledger.repeated() == 0U);
}

// All have reserved since the records were lost, so all notice, whenever each of them comes to look.
BOOST_AUTO_TEST_CASE(four_under_load_give_no_id_twice) {
    start(4, {{"NEXT_ID_WAIT_MAX", "100ms"}, {"NEXT_ID_WINDOW_MAX", "2000"}});
    std::vector<std::unique_ptr<Load>> loads;
    const auto load_for = [&](double seconds) {
        for (const auto& sidecar : sidecars) loads.push_back(std::make_unique<Load>(sidecar->socket(), 4, seconds));
    };
    const auto end_load = [&] {
        std::vector<std::int64_t> all;
        for (std::size_t i = 0; i < loads.size(); ++i) {
            loads[i]->wait();
            const auto ids = loads[i]->ids();
            ledger.add_sidecar(int(i), ids);
            all.insert(all.end(), ids.begin(), ids.end());
        }
        loads.clear();
        return all;
    };

    pair.cut_off_standby();
    const std::int64_t lost_after = last_value(*pair.standby);
    load_for(long_form() ? 20 : 5);
    for (const auto& sidecar : sidecars) BOOST_REQUIRE(wait_until([&] { return mark_of(*sidecar) > lost_after; }));
    pair.fail_over();
    const std::int64_t known = last_value(*pair.standby);
    for (const auto& sidecar : sidecars) BOOST_TEST(sidecar->wait_for_log("the sequence went back"));
    end_load();
    BOOST_TEST(last_value(*pair.standby) == known);
    for (const auto& sidecar : sidecars) check_latched(*sidecar);

    const std::int64_t mark = highest_mark(sidecars);
    resume_past(mark);
    load_for(1);
    const auto ids = end_load();
    BOOST_REQUIRE_GT(ids.size(), 100U);
    BOOST_TEST(*std::min_element(ids.begin(), ids.end()) > mark);
    BOOST_TEST(ledger.repeated() == 0U);
}

// The limit of what can be promised; and the proof that these failovers lose something.
BOOST_AUTO_TEST_CASE(a_new_sidecar_cannot_know_and_repeats_ids) {
    start(1, {});
    pair.cut_off_standby();
    reserve_more(0);
    TestClient old{sidecars[0]->http()};
    ledger.add_sidecar(0, take(old, 900));
    pair.fail_over();
    const auto fresh = pair.sidecar({});
    fresh->start_ready();
    TestClient client{fresh->http()};
    ledger.add_sidecar(1, take(client, 900));
    BOOST_TEST(ledger.repeated() > 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
