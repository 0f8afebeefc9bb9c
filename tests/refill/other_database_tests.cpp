// Another database answers than before: what becomes of the window and of the mark.
#include <boost/test/unit_test.hpp>

#include "tests/refill/refill_fixture.h"

namespace next_id::test {
namespace {

const SourceIdentity other_databases[] = {{7001, 5, 16384}, {7000, 6, 16384}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(other_database_tests, StartedRefill)

// A restore, of an older state.
BOOST_AUTO_TEST_CASE(another_database_under_the_same_settings_latches_if_it_stands_behind) {
    for (const SourceIdentity& other : other_databases) {
        sequence = {};
        start_afresh();
        run();
        sequence.last_value = 500;
        sequence.identity = other;
        refill->on_connected();
        find_it_gone_back();
        BOOST_TEST(left() == 0u);
        BOOST_CHECK(supply->window().identity() == other);
    }
}

// Beyond this sidecar's mark it may be within that of others.
BOOST_AUTO_TEST_CASE(another_database_under_the_same_settings_latches_also_if_it_stands_beyond) {
    for (const SourceIdentity& other : other_databases) {
        sequence = {};
        start_afresh();
        run();
        take_ids(400);
        sequence.last_value = 5000;
        sequence.identity = other;
        refill->on_connected();
        take_ids(400);
        find_it_gone_back();
        BOOST_TEST(refill->discarded() == 200u);
        BOOST_TEST(reported("another database"));
        BOOST_CHECK(supply->window().identity() == other);
        sequence.resume_past(4999);
        wait_out_the_backoff();
        run();
        BOOST_CHECK(refill->state() == RefillState::latched);  // it stood at 5000 already
        sequence.resume_past(5000);
        wait_out_the_backoff();
        run();
        BOOST_CHECK(refill->state() == RefillState::reserving);
        BOOST_TEST(supply->window().mark().lowest == 1);
        BOOST_TEST(take_ids(10) == 10u);
        BOOST_TEST(issued.highest() > 5000);
    }
}

BOOST_AUTO_TEST_CASE(another_database_opens_no_latch) {
    sequence.last_value = 300;
    find_it_gone_back();
    sequence.last_value = 5000;
    sequence.identity.system_identifier = 8000;
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::latched);
}

BOOST_AUTO_TEST_CASE(other_settings_that_name_the_same_sequence_keep_mark_and_latch) {
    digest = "the same database by another name";
    sequence.last_value = 300;
    for (int i = 0; i < 3; ++i) {
        start();
        BOOST_TEST(left() == 0u);
        run();
        BOOST_CHECK(refill->state() == RefillState::latched);
    }
    sequence.resume_past(2000);
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
}

BOOST_AUTO_TEST_CASE(other_settings_that_name_another_database_begin_a_new_mark) {
    for (const bool latched : {false, true}) {
        digest = "digest";
        sequence = {};
        start_afresh();
        run();
        if (latched) sequence.last_value = 300, find_it_gone_back();
        digest = "another database";
        sequence = {};
        sequence.identity.database_oid = 6;
        for (int i = 0; i < 3; ++i) start();  // PostgreSQL is away, at first
        run();
        BOOST_CHECK(refill->state() == RefillState::reserving);
        BOOST_TEST(reported("(this one's: 1000, which is forgotten now)"));
        BOOST_TEST(supply->window().mark().highest == 1000);
        BOOST_TEST(!supply->window().source_changed());
        issued = {};
        BOOST_TEST(take_ids(1000) == 1000u);
        BOOST_TEST(issued.lowest() == 1);
        start();
        sequence.last_value = 300;
        run();
        BOOST_CHECK(refill->state() == RefillState::latched);
    }
}

// A pooler led the statement there.
BOOST_AUTO_TEST_CASE(another_database_that_stands_behind_gives_nothing) {
    use_up();
    const auto step = refill->next_step(now);
    sequence = {};
    sequence.identity.system_identifier = 7001;
    refill->on_reserved(now, *sequence.reserve(step.values, supply->window().mark()));
    BOOST_TEST(left() == 0u);
    BOOST_TEST(sequence.nextvals == 0u);
    BOOST_CHECK(refill->state() == RefillState::latched);
}

// pg_dump brings the comment along.
BOOST_AUTO_TEST_CASE(the_comment_of_an_earlier_resumption_opens_no_latch_after_a_restore) {
    sequence.recreate(1);
    sequence.resume_past(5000);
    sequence.last_value = 6900;
    find_it_gone_back();
    for (int i = 0; i < 3; ++i) {
        wait_out_the_backoff();
        run();
        BOOST_CHECK(refill->state() == RefillState::latched);
    }
    sequence.resume_past(9750);
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
}

// resume_past.sql cannot move it to where it does not reach.
BOOST_AUTO_TEST_CASE(a_sequence_that_begins_beyond_the_mark_resumes_though_it_has_given_nothing) {
    sequence.recreate(1'000'001);
    sequence.parameters.minimum = 1'000'001;
    find_it_gone_back();
    sequence.comment = "next-id: resume past 1000000";
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
    BOOST_TEST(take_ids(10) == 10u);
    BOOST_TEST(issued.highest() == 1'000'010);
}

BOOST_AUTO_TEST_CASE(an_adopted_window_of_another_sequence_is_discarded) {
    for (const bool same_database : {true, false}) {
        start();
        same_database ? ++sequence.identity.sequence_oid : ++sequence.identity.system_identifier;
        BOOST_TEST(left() > 0u);
        BOOST_CHECK(step() == Kind::inspect);
        BOOST_TEST(left() == 0u);
        sequence.resume_past(*sequence.last_value);
        wait_out_the_backoff();
        run();
        BOOST_TEST(left() > 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
