// What keeps a service going when a whole database goes: a data centre with odd IDs beside one with even IDs, and a
// reserve that outlasts an outage, at whatever moment it begins.
#include <boost/test/unit_test.hpp>

#include "tests/chaos/id_takers.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double number(const SidecarProcess& sidecar, const std::string& key) {
    const std::string text = sidecar.status(key);
    return text == "null" ? 0 : std::stod(text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(data_centres_chaostests)

BOOST_AUTO_TEST_CASE(odd_ids_here_and_even_ids_there_though_one_goes_down) {
    PgCluster east;
    shared_postgres().psql("CREATE SEQUENCE odd_and_even START 1 INCREMENT 2");
    east.psql("CREATE SEQUENCE odd_and_even START 2 INCREMENT 2");
    const SidecarSettings settings{{"PG_SEQUENCE", "odd_and_even"}, {"NEXT_ID_RESERVE", "1s"}};
    SidecarProcess odd{shared_postgres(), settings}, even{east, settings};
    odd.start_ready();
    even.start_ready();
    IdTakers odd_takers{{odd.http(), odd.socket()}}, even_takers{{even.http(), even.socket()}};
    for (int i = 0; i < times_longer(20); ++i) {
        BOOST_REQUIRE(odd_takers.get_more(10'000) && even_takers.get_more(10'000));
        east.stop(PgStop::immediate);
        BOOST_REQUIRE(odd_takers.get_more(20'000));
        east.start();
        BOOST_REQUIRE(even_takers.get_more(20'000));
    }
    BOOST_CHECK_EQUAL(odd_takers.refused() + even_takers.refused(), 0U);
    Ids all = odd_takers.stop();
    const Ids evens = even_takers.stop();
    BOOST_CHECK_EQUAL(std::ranges::count_if(all, [](std::int64_t id) { return id % 2 == 0; }), 0);
    BOOST_CHECK_EQUAL(std::ranges::count_if(evens, [](std::int64_t id) { return id % 2 != 0; }), 0);
    append(all, evens);
    BOOST_CHECK_EQUAL(count_repeated(all), 0U);
}

// The worst moment is just before a refill: then no more than the reserve is left, less a tenth for the jitter. What is
// missing of it here is for the back-off, a twelfth at most, and for the start of PostgreSQL on a busy machine.
BOOST_AUTO_TEST_CASE(an_outage_shorter_than_the_reserve_fails_no_request_though_it_begins_just_before_a_refill) {
    constexpr auto reserve = 12s;
    for (int i = 0; i < times_longer(10); ++i) {
        const std::string sequence = new_sequence();
        SidecarProcess sidecar{shared_postgres(),
                               {{"PG_SEQUENCE", sequence},
                                {"NEXT_ID_RESERVE", std::to_string(reserve / 1ms) + "ms"},
                                {"NEXT_ID_WINDOW_MIN", "100"},
                                {"NEXT_ID_WAIT_MAX", "0s"}}};
        sidecar.start_ready();
        IdTakers takers{{sidecar.http()}, 2, 2ms};  // a thousand IDs a second
        const auto demand_is_known = [&] { return number(sidecar, "demand_per_second") > 900; };
        BOOST_REQUIRE(wait_until(demand_is_known));
        const auto level = [&] { return number(sidecar, "ids_target") / 2; };
        BOOST_REQUIRE(wait_until([&] { return number(sidecar, "ids_left") > 1.5 * level(); }));
        const std::uint64_t refused_before = takers.refused();  // while the demand was learnt
        BOOST_REQUIRE(wait_until([&] { return number(sidecar, "ids_left") < level() + 100; }));
        const auto begin = Clock::now();
        shared_postgres().stop(PgStop::immediate);
        BOOST_TEST_MESSAGE("stopped with " << sidecar.status("ids_left") << " left, which last "
                                           << sidecar.status("seconds_left") << " s");
        const auto down_for = [&] { return Clock::now() - begin; };
        BOOST_CHECK(wait_until([&] { return down_for() > reserve * 2 / 3; }));
        shared_postgres().start();
        BOOST_TEST_MESSAGE("it was away for " << down_for() / 1ms << " ms");
        BOOST_CHECK(wait_until([&] { return number(sidecar, "ids_left") > level(); }));
        BOOST_CHECK_EQUAL(takers.refused() - refused_before, 0U);
        BOOST_TEST_MESSAGE("filled again after " << down_for() / 1ms << " ms");
        BOOST_CHECK_EQUAL(count_repeated(takers.stop()), 0U);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
