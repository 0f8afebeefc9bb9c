// What the refill counts of itself.
#include <array>

#include "sidecar/refill/refill.h"
#include "tests/refill/refill_fixture.h"

namespace next_id::test {
namespace {

using Results = std::array<std::uint64_t, RefillTally::result_names.size()>;  // ok, failed, refused, lost
using Reasons = std::array<std::uint64_t, RefillTally::reason_names.size()>;  // went_back, strict_order

// One that does nothing by itself.
struct FakeDatabase final : Database {
    PgState state() const override { return now; }
    void connect() override { now = PgState::connecting; }
    void query(std::string_view, std::span<const std::string>) override { now = PgState::busy; }
    void close() override { now = PgState::closed; }

    PgState now = PgState::closed;
};

struct TallyFixture : RefillFixture {
    // A new sequence is asked for one value first, since where it begins cannot be seen.
    TallyFixture() {
        start_afresh();
        run();
    }
    const RefillTally& tally() const { return refill->tally(); }
    Results results() const { return tally().results; }
    // The next one reserves.
    void use_up() {
        take_ids(100'000);
        refill->tick(now);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(refill_tally_tests, TallyFixture)

BOOST_AUTO_TEST_CASE(each_reservation_counts_once_by_its_end_and_inspections_do_not) {
    BOOST_TEST((results() == Results{2, 0, 0, 0}));
    BOOST_TEST(tally().reserved_ids == 1000U);
    use_up();
    BOOST_TEST((refill->next_step(now).kind == Kind::reserve));
    refill->on_failed(now, "55P03", "a lock");
    BOOST_TEST((results() == Results{2, 1, 0, 0}));
    now += std::chrono::seconds{10};
    BOOST_TEST((refill->next_step(now).kind == Kind::inspect));
    refill->on_failed(now, "55P03", "a lock");
    BOOST_TEST((results() == Results{2, 1, 0, 0}));
    now += std::chrono::seconds{10};
    BOOST_TEST((step() == Kind::inspect));
    BOOST_TEST((refill->next_step(now).kind == Kind::reserve));
    refill->on_lost();
    BOOST_TEST((results() == Results{2, 1, 0, 1}));
    run();
    BOOST_TEST(results()[0] > 2U);
    BOOST_TEST(tally().durations.read().count() == results()[0] + 1);  // what is lost has no end
}

BOOST_AUTO_TEST_CASE(a_duration_is_from_the_statement_to_its_answer) {
    use_up();
    step([this] { now += std::chrono::milliseconds{250}; });
    BOOST_TEST(tally().durations.read().counts[9] == 1U);  // above 100 ms, to 300 ms
    BOOST_TEST(tally().durations.read().nanoseconds == 250'000'000U);
}

BOOST_AUTO_TEST_CASE(an_answer_that_may_not_be_used_is_refused_and_its_window_discarded) {
    const std::uint64_t left = refill->left();
    take_ids(left - 10);
    refill->tick(now);
    sequence.last_value = 300;
    run();
    BOOST_TEST((refill->state() == RefillState::latched));
    BOOST_TEST((results() == Results{2, 0, 1, 0}));
    BOOST_TEST(tally().latched == 1U);
    BOOST_TEST((tally().discarded == Reasons{10, 0}));
    BOOST_TEST(refill->discarded() == 10U);
}

BOOST_AUTO_TEST_CASE(what_strict_order_leaves_is_counted) {
    settings.order = Order::strict;
    start();  // over the window of the other order
    BOOST_TEST((tally().discarded == Reasons{0, 1000}));
}

BOOST_AUTO_TEST_CASE(the_used_part_is_between_the_sequences_ends) {
    sequence.parameters.minimum = 1;
    sequence.parameters.maximum = 10'000;
    sequence.last_value = 4'000;
    start_afresh();
    BOOST_TEST(!refill->used_share().has_value());
    run();
    BOOST_TEST(*refill->used_share() == 0.5, boost::test_tools::tolerance(0.001));  // with the window of 1000
    take_ids(100'000);
    run();
    BOOST_TEST(*refill->used_share() > 0.59);
}

BOOST_AUTO_TEST_CASE(connects_count_by_their_end) {
    FakeDatabase database;
    Refill refill_of_all{database, {}, {supply.get()}, [] { return 0.5; }};
    take_ids(1000);
    refill_of_all.drive(now);
    BOOST_TEST((database.now == PgState::connecting));
    const auto told = [&](std::uint64_t ok, std::uint64_t failed, std::uint64_t lost) {
        const Refill::Connects& connects = refill_of_all.connects();
        return connects.ok == ok && connects.failed == failed && connects.lost == lost;
    };
    database.now = PgState::broken;
    refill_of_all.on_disconnected(now, "refused");
    BOOST_TEST(told(0, 1, 0));
    now += std::chrono::seconds{10};
    refill_of_all.drive(now);
    database.now = PgState::idle;
    refill_of_all.on_connected(now);
    BOOST_TEST(told(1, 1, 0));
    refill_of_all.drive(now);
    BOOST_TEST((database.now == PgState::busy));
    database.now = PgState::broken;
    refill_of_all.on_disconnected(now, "the server went");
    BOOST_TEST(told(1, 1, 1));
    now += std::chrono::seconds{10};
    refill_of_all.drive(now);
    database.now = PgState::broken;
    refill_of_all.on_disconnected(now, "refused again");
    BOOST_TEST(told(1, 2, 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
