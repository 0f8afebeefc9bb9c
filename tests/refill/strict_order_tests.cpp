// The refill in strict order: each ID is reserved after its request came.
#include "tests/refill/refill_fixture.h"

namespace next_id::test {
namespace {

struct StrictFixture : RefillFixture {
    StrictFixture() { settings.order = Order::strict; }

    std::int64_t id_of(std::size_t delivery) const {
        BOOST_REQUIRE(deliveries.size() > delivery && deliveries[delivery].result == WaitResult::served);
        return deliveries[delivery].ranges.at(0).first;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(strict_order_tests, StrictFixture)

BOOST_AUTO_TEST_CASE(nothing_is_reserved_before_anyone_asks) {
    start_afresh();
    run();
    BOOST_TEST(statements == 0u);
}

BOOST_AUTO_TEST_CASE(what_was_reserved_before_the_start_is_thrown_away) {
    settings.order = Order::window;
    start_afresh();
    run();
    const std::int64_t reserved = *sequence.last_value;
    BOOST_TEST(refill->left() > 0u);

    settings.order = Order::strict;
    start();
    BOOST_TEST(refill->left() == 0u);
    BOOST_TEST(reported("strict order"));
    park(1);
    run();
    BOOST_TEST(id_of(0) > reserved);
}

BOOST_AUTO_TEST_CASE(who_asks_while_a_statement_runs_waits_for_the_next) {
    start_afresh();
    park(1, 1);
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_CHECK(step([this] { park(1, 2); }) == Kind::reserve);
    BOOST_TEST(deliveries.size() == 1u);
    const std::int64_t first = *sequence.last_value;
    run();
    BOOST_TEST(id_of(0) <= first);
    BOOST_TEST(id_of(1) > first);
}

BOOST_AUTO_TEST_CASE(those_who_wait_together_share_a_statement_and_nothing_is_kept) {
    sequence.last_value = 100;  // one that was never called is asked for a single value first
    start_afresh();
    for (std::uint64_t request = 1; request <= 3; ++request) park(2, request);
    run();
    BOOST_TEST(statements == 1u);
    BOOST_TEST(deliveries.size() == 3u);
    BOOST_TEST(id_of(0) < id_of(1));
    BOOST_TEST(id_of(1) < id_of(2));
    BOOST_TEST(refill->left() == 0u);
}

BOOST_AUTO_TEST_CASE(a_sequence_with_a_cache_is_refused) {
    sequence.parameters.cache = 10;
    start_afresh();
    park(1);
    run();
    BOOST_CHECK(refill->state() == RefillState::refused);
    BOOST_TEST(refill->problem().find("CACHE 10") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
