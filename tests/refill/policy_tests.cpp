#include "sidecar/refill/policy.h"

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/refill/issued_ids.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t plenty = 1'000'000'000'000;
constexpr double reserve_s = 60;

// A window under steady demand. A reservation takes a quarter of a second, and what it brings is rounded up to blocks.
struct World {
    RefillPolicy policy;
    std::uint64_t block = 1;
    std::mt19937_64 random{1};
    Instant now{1000s};
    double taken = 0, left = 0;
    std::uint64_t on_the_way = 0, reservations = 0;
    double lowest = 0, highest = 0;

    explicit World(PolicySettings settings, std::uint64_t block_size = 1) : policy{settings}, block{block_size} {}

    void run(Duration time, double demand) {
        lowest = 1e18, highest = 0, reservations = 0;
        for (const Instant end = now + time; now < end; now += 250ms) {
            left += static_cast<double>(std::exchange(on_the_way, 0));
            highest = std::max(highest, left);
            const double took = std::min(left, demand / 4);
            left -= took;
            taken += took;
            lowest = std::min(lowest, left);
            // Once a second, as the refiller's timer does.
            if ((now.time_since_epoch() / 250ms) % 4 == 0) policy.observe(now, static_cast<std::uint64_t>(taken));
            const double dice = std::uniform_real_distribution<double>{0, 1}(random);
            const std::uint64_t wanted = policy.wanted(static_cast<std::uint64_t>(left), 0, dice);
            if (took < demand / 4) policy.found_dry();
            if (wanted == 0) continue;
            ++reservations;
            on_the_way = (wanted + block - 1) / block * block;
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(policy_tests)

BOOST_DATA_TEST_CASE(the_window_stays_between_the_reserve_and_twice_that,
                     boost::unit_test::data::make({1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6}), demand) {
    World world{{.reserve = 60s, .window_min = 10, .window_max = plenty}};
    world.run(15min, demand);
    world.run(60min, demand);
    const double reserve = reserve_s * demand;
    BOOST_TEST(world.lowest >= 0.89 * reserve - 2);  // the jitter of a tenth, and what is taken while it refills
    BOOST_TEST(world.highest <= 2.05 * reserve + 2);
    BOOST_TEST(world.reservations >= 45u);
    BOOST_TEST(world.reservations <= 66u);  // about one a reserve: 60 in an hour
}

BOOST_DATA_TEST_CASE(blocks_change_neither_the_pace_nor_the_floor, boost::unit_test::data::make({1.0, 1e2, 1e4, 1e6}),
                     demand) {
    const auto block = static_cast<std::uint64_t>(10 * demand);
    World world{{.reserve = 60s, .window_min = 10, .window_max = plenty}, block};
    world.run(15min, demand);
    world.run(60min, demand);
    BOOST_TEST(world.lowest >= 0.89 * reserve_s * demand - 2);
    BOOST_TEST(world.highest <= 2.05 * reserve_s * demand + static_cast<double>(block));
    BOOST_TEST(world.reservations <= 66u);
}

BOOST_AUTO_TEST_CASE(a_window_that_is_too_small_for_the_demand_is_filled_once_a_half) {
    World world{{.reserve = 60s, .window_min = 1000, .window_max = 10'000'000}, 1000};
    world.run(2min, 1e6);
    world.run(10min, 1e6);  // ten seconds of demand fit, so five are left when it asks
    BOOST_TEST(world.lowest >= 4e6);
    BOOST_TEST(world.reservations <= 600u / 4);
}

BOOST_AUTO_TEST_CASE(without_demand_nothing_is_asked_for_after_the_first_fill) {
    World world{{.reserve = 60s, .window_min = 1000, .window_max = plenty}};
    world.run(10min, 0);
    BOOST_TEST(world.reservations == 1u);
    BOOST_TEST(world.left == 1000);
}

BOOST_AUTO_TEST_CASE(after_a_quiet_night_there_is_no_demand) {
    World world{{.reserve = 60s, .window_min = 1000, .window_max = plenty}};
    world.run(60s, 1000);
    BOOST_TEST(world.policy.demand_per_second() > 0);
    world.run(8h, 0);
    BOOST_TEST(world.policy.demand_per_second() == 0);
}

BOOST_AUTO_TEST_CASE(demand_that_jumps_is_followed_within_seconds) {
    World world{{.reserve = 60s, .window_min = 1000, .window_max = plenty}};
    world.run(10min, 10);
    world.run(10s, 1e6);
    BOOST_TEST(world.left >= 50e6);
    world.run(5min, 1e6);
    BOOST_TEST(world.lowest > 0);
}

BOOST_AUTO_TEST_CASE(a_window_found_dry_grows_at_once) {
    RefillPolicy policy{{.reserve = 60s, .window_min = 1000, .window_max = 3000}};
    BOOST_TEST(policy.target() == 1000u);
    policy.found_dry();
    BOOST_TEST(policy.target() == 2000u);
    policy.found_dry();
    BOOST_TEST(policy.target() == 3000u);
    policy.found_dry();
    BOOST_TEST(policy.target() == 3000u);
}

BOOST_AUTO_TEST_CASE(it_shrinks_slowly) {
    World world{{.reserve = 60s, .window_min = 1000, .window_max = plenty}};
    world.run(10min, 10'000);
    const auto before = static_cast<double>(world.policy.target());
    world.run(30s, 0);
    BOOST_TEST(static_cast<double>(world.policy.target()) >= 0.9 * before);
    world.run(90s, 0);
    BOOST_TEST(static_cast<double>(world.policy.target()) >= 0.4 * before);
    world.run(60min, 0);
    BOOST_TEST(world.policy.target() < 1100u);
}

BOOST_AUTO_TEST_CASE(the_threshold_moves_by_a_tenth_at_most) {
    for (const double dice : {0.0, 0.3, 0.999999}) {
        RefillPolicy policy{{.reserve = 60s, .window_min = 100'000, .window_max = plenty}};
        BOOST_TEST(policy.wanted(0, 0, dice) == 100'000u);
        BOOST_TEST(policy.wanted(100'000, 0, 0.5) == 0u);  // the fill is over
        const std::uint64_t level = policy.refill_level();
        BOOST_TEST(level <= 50'000u);
        BOOST_TEST(level >= 45'000u);
        BOOST_TEST(std::abs(static_cast<double>(level) - 50'000 * (1 - 0.1 * dice)) <= 1);
        BOOST_TEST(policy.wanted(level + 1, 0, dice) == 0u);
        BOOST_TEST(policy.wanted(level, 0, dice) == 100'000 - level);
    }
}

BOOST_AUTO_TEST_CASE(a_fill_goes_on_until_the_window_is_nearly_full) {
    RefillPolicy policy{{.reserve = 60s, .window_min = 1000, .window_max = plenty}};
    BOOST_TEST(policy.wanted(500, 0, 0) == 500u);
    BOOST_TEST(policy.wanted(700, 0, 0) == 300u);
    BOOST_TEST(policy.wanted(899, 0, 0) == 101u);
    BOOST_TEST(policy.wanted(950, 0, 0) == 0u);  // taken while it was filled
    BOOST_TEST(policy.wanted(700, 0, 0) == 0u);
    BOOST_TEST(policy.wanted(500, 0, 0) == 500u);
}

BOOST_AUTO_TEST_CASE(what_is_waited_for_is_as_good_as_gone) {
    RefillPolicy policy{{.reserve = 60s, .window_min = 1000, .window_max = 2000}};
    BOOST_TEST(policy.wanted(1000, 10'000, 0) == 10'000u);  // beyond the greatest window too
    BOOST_TEST(policy.wanted(11'000, 10'000, 0) == 0u);
    BOOST_TEST(policy.wanted(1000, 0, 0) == 0u);
    BOOST_TEST(policy.wanted(1000, 500, 0) == 500u);
    BOOST_TEST(policy.wanted(5, UINT64_MAX, 0) > 0u);
}

BOOST_AUTO_TEST_CASE(bounds_hold_whatever_the_demand) {
    World world{{.reserve = 60s, .window_min = 1000, .window_max = 5000}};
    world.run(1min, 1e6);
    BOOST_TEST(world.policy.target() == 5000u);
    World quiet{{.reserve = 60s, .window_min = 1000, .window_max = 5000}};
    quiet.run(2h, 0.001);
    BOOST_TEST(quiet.policy.target() == 1000u);
}

BOOST_AUTO_TEST_CASE(a_count_that_went_back_is_no_demand) {
    RefillPolicy policy{{.reserve = 60s, .window_min = 1000, .window_max = plenty}};
    policy.observe(Instant{1s}, 500);
    policy.observe(Instant{2s}, 400);
    BOOST_TEST(policy.demand_per_second() == 0);
    policy.observe(Instant{3s}, 500);
    BOOST_TEST(policy.demand_per_second() > 0);
    BOOST_TEST(policy.demand_per_second() <= 100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
