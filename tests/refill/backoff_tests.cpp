#include "sidecar/refill/backoff.h"

#include <boost/test/unit_test.hpp>

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

std::int64_t ms(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(backoff_tests)

BOOST_AUTO_TEST_CASE(the_bound_doubles_up_to_the_longest) {
    Backoff backoff{60s};
    for (const std::int64_t bound : {200, 400, 800, 1600, 3200, 5000, 5000, 5000})
        BOOST_TEST(std::abs(ms(backoff.next(0.999999)) - bound) <= 1);
}

BOOST_AUTO_TEST_CASE(no_wait_is_longer_than_a_twelfth_of_the_reserve) {
    for (const auto& [reserve, longest] :
         {std::pair<std::chrono::milliseconds, int>{1h, 5000}, {60s, 5000}, {12s, 1000}, {1s, 400}}) {
        Backoff backoff{reserve};
        for (int i = 0; i < 10; ++i) (void)backoff.next(0.5);
        BOOST_TEST(std::abs(ms(backoff.next(0.999999)) - longest) <= 1);
    }
}

BOOST_AUTO_TEST_CASE(the_dice_spread_the_wait_over_all_of_it) {
    for (const double dice : {0.0, 0.25, 0.5, 0.75}) {
        Backoff backoff{60s};
        BOOST_TEST(ms(backoff.next(dice)) == std::int64_t(200 * dice));
        BOOST_TEST(ms(backoff.next(dice)) == std::int64_t(400 * dice));
    }
}

BOOST_AUTO_TEST_CASE(success_begins_anew) {
    Backoff backoff{60s};
    BOOST_TEST(backoff.untried());
    for (int i = 0; i < 10; ++i) (void)backoff.next(0.5);
    BOOST_TEST(!backoff.untried());
    backoff.reset();
    BOOST_TEST(backoff.untried());
    BOOST_TEST(ms(backoff.next(0.5)) == 100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
