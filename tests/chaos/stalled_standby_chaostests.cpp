// The synchronous standby is away, so no commit ends: refills wait, what the windows hold is given out, no backends
// pile up, and when the standby is back the late answers are used.
#include <boost/test/unit_test.hpp>

#include "tests/chaos/ledger.h"
#include "tests/chaos/replication.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr int sidecar_count = 3;

struct StalledStandby {
    Pair pair;
    std::vector<std::unique_ptr<SidecarProcess>> sidecars;
    Ledger ledger;

    StalledStandby() {
        pair.make_synchronous();
        for (int i = 0; i < sidecar_count; ++i) {
            // Connecting, which may take more than 300 ms, is over before the standby stops.
            sidecars.push_back(pair.sidecar({{"NEXT_ID_WINDOW_MIN", "3000"},
                                             {"NEXT_ID_DB_TIMEOUT", "300ms"},
                                             {"NEXT_ID_DB_IDLE_CLOSE", "1h"},
                                             {"NEXT_ID_WAIT_MAX", "200ms"}}));
            sidecars.back()->start_filled(3000);
        }
    }

    void take_from_all(int count) {
        for (int i = 0; i < sidecar_count; ++i) {
            TestClient client{sidecars[i]->socket()};
            const auto begin = Clock::now();
            const auto ids = take(client, count);
            BOOST_TEST((Clock::now() - begin < 1s), "a window that holds IDs must not keep a request waiting");
            BOOST_REQUIRE_EQUAL(int(ids.size()), count);
            ledger.add_sidecar(i, ids);
        }
    }

    int number(const std::string& sql) const { return std::stoi(pair.primary->psql(sql)); }
    int backends() const {
        // By their name: the backend of the look before may take a moment to go.
        return number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'next-id'");
    }
    int waiting_for_standby() const {
        return number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    }
    int left() const {
        int sum = 0;
        for (const auto& sidecar : sidecars) sum += std::stoi(sidecar->status("ids_left"));
        return sum;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stalled_standby_chaostests, StalledStandby)

BOOST_AUTO_TEST_CASE(refills_wait_without_harm_and_their_late_answers_are_used) {
    std::vector<std::size_t> said_before;
    for (const auto& sidecar : sidecars) said_before.push_back(sidecar->log().size());
    pair.standby->stop();
    take_from_all(1000);
    take_from_all(900);  // below the reserve: they ask, and no commit ends
    for (const auto& sidecar : sidecars) BOOST_TEST(sidecar->wait_for_log("PostgreSQL has not answered for 0.3 s"));

    BOOST_REQUIRE(wait_until([&] { return waiting_for_standby() == sidecar_count; }));

    const auto until = Clock::now() + (long_form() ? 120s : 4s);
    for (int i = 0; Clock::now() < until; ++i) {
        if (i < 100) take_from_all(10);
        BOOST_REQUIRE_LE(backends(), sidecar_count);  // which also says that others can connect
        BOOST_REQUIRE_EQUAL(waiting_for_standby(), sidecar_count);
        std::this_thread::sleep_for(20ms);
    }
    for (int i = 0; i < sidecar_count; ++i) {  // the rest, until they have none
        TestClient client{sidecars[i]->http()};
        TestAnswer answer;
        std::vector<std::int64_t> ids;
        while ((answer = client.get("/next-id")).status == 200) ids.push_back(id_of(answer));
        ledger.add_sidecar(i, ids);
        BOOST_TEST(answer.body.find("PostgreSQL has not answered for 0.3 s") != std::string::npos, answer.body);
    }
    BOOST_TEST(ledger.ids() == 3000U * sidecar_count);
    BOOST_TEST(backends() == sidecar_count);

    pair.standby->start();
    for (int i = 0; i < sidecar_count; ++i) {
        sidecars[i]->wait_until_ready();
        BOOST_TEST(sidecars[i]->wait_for_log("PostgreSQL has answered the late statement"));
        BOOST_TEST(sidecars[i]->log().find("no connection to PostgreSQL", said_before[i]) == std::string::npos);
        TestClient client{sidecars[i]->http()};
        ledger.add_sidecar(i, take(client, 100));
    }
    // Every value that the sequence gave was given out or is in a window: no late answer was thrown away.
    BOOST_TEST(wait_until([&] { return number("SELECT last_value FROM ids") == int(ledger.ids()) + left(); }));
    BOOST_TEST(ledger.repeated() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
