#include "sidecar/refill/sequence_refill.h"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tests/refill/refill_fixture.h"

namespace next_id::test {

using namespace std::chrono_literals;
using Kind = RefillFixture::Kind;

BOOST_FIXTURE_TEST_SUITE(sequence_refill_tests, StartedRefill)

BOOST_AUTO_TEST_CASE(it_looks_before_it_takes) {
    sequence = {};
    start_afresh();
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_TEST(sequence.nextvals == 0u);
    BOOST_CHECK(step() == Kind::reserve);
}

BOOST_AUTO_TEST_CASE(a_dry_window_is_filled_to_its_target) {
    BOOST_TEST(left() == 1000u);
    BOOST_TEST(take_ids(2000) == 1000u);
    BOOST_TEST(issued.lowest() == 1);
    BOOST_TEST(issued.highest() == 1000);
    BOOST_TEST(refill->issued() == 1000u);
}

BOOST_AUTO_TEST_CASE(it_asks_again_at_the_reserve_and_not_before) {
    take_ids(400);
    BOOST_CHECK(step() == Kind::none);
    take_ids(200);
    BOOST_CHECK(step() == Kind::reserve);
    BOOST_TEST(left() == 1000u);
    BOOST_CHECK(step() == Kind::none);
}

BOOST_DATA_TEST_CASE(in_block_mode_postgresql_sees_one_statement_a_reserve,
                     boost::unit_test::data::make({1, 100, 10'000, 1'000'000}), demand) {
    settings = {.policy = {.reserve = 60s, .window_min = 100, .window_max = 1'000'000'000}, .mode = Increment::block};
    sequence = {};
    sequence.parameters.increment = sequence.start = 10 * demand;
    start_afresh();
    run_for(10s);
    const auto second = [&] {
        refill->tick(now);
        // What is taken while the statement runs.
        for (Kind kind = Kind::inspect; kind != Kind::none;) kind = step([&] { take_ids(std::uint64_t(demand) / 10); });
        take_ids(std::uint64_t(demand));
        now += 1s;
    };
    for (int i = 0; i < 600; ++i) second();
    statements = 0;
    std::uint64_t lowest = UINT64_MAX;
    for (int i = 0; i < 3600; ++i) {
        second();
        lowest = std::min(lowest, left());
    }
    BOOST_TEST(statements <= 70u);
    BOOST_TEST(statements >= 40u);
    BOOST_TEST(lowest >= std::uint64_t(0.87 * 60 * demand) - 2);
}

BOOST_AUTO_TEST_CASE(steady_demand_never_finds_it_dry) {
    for (int i = 0; i < 300; ++i) {
        take_ids(100'000);
        run_for(1s);
    }
    for (int i = 0; i < 60; ++i) {
        BOOST_REQUIRE_EQUAL(take_ids(100'000), 100'000u);
        run_for(1s);
    }
    BOOST_TEST(issued.highest() == std::int64_t(issued.count()));  // and nothing was lost
}

BOOST_AUTO_TEST_CASE(a_request_larger_than_the_window_is_answered_by_the_next_refill) {
    park(10'000);
    BOOST_CHECK(step() == Kind::reserve);
    BOOST_REQUIRE(deliveries.size() == 1u);
    BOOST_CHECK(deliveries[0].result == WaitResult::served);
    BOOST_TEST(count_of(deliveries[0].ranges) == 10'000u);
    BOOST_TEST(left() >= 1000u);
}

BOOST_AUTO_TEST_CASE(the_waiting_are_served_in_order_of_arrival) {
    take_ids(1000);
    for (std::uint64_t request = 1; request <= 5; ++request) park(100, request);
    run();
    BOOST_REQUIRE(deliveries.size() == 5u);
    for (std::uint64_t i = 0; i < 5; ++i) {
        BOOST_TEST(deliveries[i].request == i + 1);
        BOOST_TEST(issued.add(deliveries[i].ranges));
    }
}

BOOST_AUTO_TEST_CASE(a_window_found_dry_is_doubled_at_once) {
    const std::uint64_t before = refill->policy().target();
    take_ids(1000);
    park(1);
    run();
    BOOST_TEST(refill->policy().target() == 2 * before);
    BOOST_TEST(left() >= 1900u);
}

BOOST_AUTO_TEST_CASE(the_first_fill_is_no_sign_of_a_small_window) {
    sequence = {};
    start_afresh();
    park(1, 1), park(1, 2);
    run();
    BOOST_TEST(deliveries.size() == 2u);
    BOOST_TEST(refill->policy().target() == 1000u);
}

BOOST_AUTO_TEST_CASE(neither_the_dry_nor_the_impatient_shorten_a_backoff) {
    use_up();
    BOOST_CHECK(refill->next_step(now).kind == Kind::reserve);
    refill->on_failed(now, "57P01", "gone");
    take_ids(1000);
    park(1);
    BOOST_CHECK(refill->next_step(now).kind == Kind::none);
    BOOST_CHECK(refill->next_step_at(now) == now + 100ms);  // half of the first bound
    now += 99ms;
    BOOST_CHECK(refill->next_step(now).kind == Kind::none);
    now += 1ms;
    BOOST_CHECK(refill->next_step(now).kind == Kind::inspect);
}

BOOST_AUTO_TEST_CASE(failures_back_off_further_and_further_though_inspection_works) {
    use_up();
    Duration before{};
    for (int i = 0; i < 6; ++i) {
        Kind kind = refill->next_step(now).kind;
        if (kind == Kind::inspect) {
            refill->on_inspected(now, sequence.inspect());
            kind = refill->next_step(now).kind;
        }
        BOOST_CHECK(kind == Kind::reserve);
        refill->on_failed(now, "53100", "disk full");
        const Duration wait = refill->next_step_at(now) - now;
        BOOST_TEST((wait > before || wait == 2500ms));
        before = wait;
        now += wait;
    }
    BOOST_CHECK(before == 2500ms);
    BOOST_TEST(supply->trouble().error == "disk full");
}

BOOST_AUTO_TEST_CASE(a_new_connection_is_inspected_before_it_reserves_and_only_when_it_will) {
    refill->on_connected();
    BOOST_CHECK(step() == Kind::none);
    use_up();
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_CHECK(step() == Kind::reserve);
    use_up();
    BOOST_CHECK(step() == Kind::reserve);
}

BOOST_AUTO_TEST_CASE(the_next_look_is_when_demand_reaches_the_reserve) {
    BOOST_CHECK(refill->next_step_at(now) == now + 1h);  // no demand: some day
    for (int i = 0; i < 200; ++i) take_ids(100), run_for(1s);
    const Duration wait = refill->next_step_at(now) - now;
    const double above = double(left() - refill->policy().refill_level());
    BOOST_TEST(std::abs(std::chrono::duration<double>(wait).count() - above / refill->policy().demand_per_second()) <
               0.01);
    use_up();
    BOOST_CHECK(refill->next_step_at(now) == now);
}

BOOST_AUTO_TEST_CASE(statements_are_limited_halved_at_a_timeout_and_grow_back) {
    const auto asked = [&] {
        const auto step = refill->next_step(now);
        if (step.kind == Kind::inspect) refill->on_inspected(now, sequence.inspect());
        return step.kind == Kind::inspect ? refill->next_step(now).values : step.values;
    };
    const auto failed = [&](const char* sqlstate) {
        refill->on_failed(now, sqlstate, "canceling statement due to statement timeout");
        wait_out_the_backoff();
    };
    park(1'000'000);
    BOOST_TEST(asked() == 100'000u);
    failed("57014");
    BOOST_TEST(asked() == 50'000u);
    failed("55P03");
    BOOST_TEST(asked() == 25'000u);
    failed("53100");  // no timeout
    BOOST_TEST(asked() == 25'000u);
    for (int i = 0; i < 20; ++i) failed("57014"), (void)asked();
    BOOST_TEST(asked() == 100u);
    for (const std::uint64_t values : {200u, 400u, 800u, 1600u}) {
        refill->on_reserved(now, *sequence.reserve(values / 2));
        BOOST_TEST(asked() == values);
    }
}

BOOST_AUTO_TEST_CASE(what_timed_out_is_halved_and_not_the_limit) {
    use_up();
    const std::uint64_t asked = refill->next_step(now).values;
    refill->on_failed(now, "57014", "canceling statement due to statement timeout");
    wait_out_the_backoff();
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_TEST(refill->next_step(now).values == asked / 2);
}

BOOST_AUTO_TEST_CASE(an_inspection_that_timed_out_says_nothing_of_the_size) {
    refill->on_connected();
    park(1'000'000);
    BOOST_CHECK(refill->next_step(now).kind == Kind::inspect);
    refill->on_failed(now, "55P03", "canceling statement due to lock timeout");
    wait_out_the_backoff();
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_TEST(refill->next_step(now).values == 100'000u);
}

BOOST_AUTO_TEST_CASE(a_block_sequence_is_asked_for_blocks) {
    settings.mode = Increment::block;
    sequence.parameters.increment = 300;  // ALTER SEQUENCE ... INCREMENT 300
    start();
    use_up();
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_TEST(refill->next_step(now).values == 2u);  // 500 are missing
    BOOST_CHECK(step() == Kind::reserve);
    take_ids(10'000);
    BOOST_TEST(issued.highest() == 1600);
    BOOST_TEST(issued.count() == 1600u);
}

BOOST_AUTO_TEST_CASE(all_ids_up_to_the_end_are_given_out_once_and_then_the_end_is_told) {
    sequence.parameters.maximum = 5'500;
    for (int i = 0; i < 200; ++i) {
        take_ids(100);
        now += 6s;
        refill->tick(now);
        while (step() == Kind::reserve && refill->next_step(now).kind != Kind::none) continue;
    }
    BOOST_TEST(issued.count() == 5'500u);
    BOOST_TEST(issued.highest() == 5'500);
    BOOST_TEST(supply->trouble().error.find("maximum") != std::string::npos);
    BOOST_TEST(reported("nears its end"));
    sequence.parameters.maximum = 10'000;  // ALTER SEQUENCE ... MAXVALUE
    wait_out_the_backoff();
    run();
    BOOST_TEST(take_ids(10) == 10u);
}

// Other callers took what the last answer said was left.
BOOST_AUTO_TEST_CASE(after_meeting_the_end_it_asks_for_one) {
    sequence.parameters.maximum = 1600;
    use_up();
    run();
    sequence.last_value = 1590;
    use_up();
    (void)step();
    BOOST_TEST(sequence.nextvals > 0u);
    sequence.last_value = 1595;  // what it burned, say, was less
    wait_out_the_backoff();
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_TEST(refill->next_step(now).values <= 5u);
    refill->on_failed(now, "2200H", "nextval: reached maximum value of sequence");
    wait_out_the_backoff();
    BOOST_CHECK(refill->next_step(now).kind == Kind::inspect);
    refill->on_inspected(now, sequence.inspect());
    BOOST_TEST(refill->next_step(now).values >= 1u);
}

BOOST_AUTO_TEST_CASE(a_sequence_that_begins_near_its_end_is_not_burned) {
    sequence = {};
    sequence.parameters.maximum = 1000;
    sequence.start = 990;
    start_afresh();
    for (int i = 0; i < 20; ++i) run(), wait_out_the_backoff();
    take_ids(1000);
    BOOST_TEST(issued.count() == 11u);
}

BOOST_AUTO_TEST_CASE(descending_sequences_are_served_to_their_end) {
    sequence = {};
    sequence.parameters = {.minimum = -2500, .maximum = -1, .increment = -1};
    sequence.start = -1;
    start_afresh();
    for (int i = 0; i < 50; ++i) {
        run();
        take_ids(400);
        wait_out_the_backoff();
    }
    BOOST_TEST(issued.count() == 2500u);
    BOOST_TEST(issued.lowest() == -2500);
}

BOOST_AUTO_TEST_CASE(a_sequence_that_may_not_be_used_is_refused_and_cured) {
    const auto refused = [&](const SequenceParameters& bad, const std::string& cure) {
        const SequenceParameters good = sequence.parameters;
        sequence.parameters = bad;
        use_up();
        const std::uint64_t before = left();
        wait_out_the_backoff();
        run();
        BOOST_CHECK(refill->state() == RefillState::refused);
        BOOST_TEST(refill->problem().find(cure) != std::string::npos);
        BOOST_TEST(supply->trouble().error.find(cure) != std::string::npos);
        BOOST_TEST(left() == before);  // the answer that told was thrown away, and what was reserved before was not
        const std::uint64_t nextvals = sequence.nextvals;
        for (int i = 0; i < 10; ++i) wait_out_the_backoff(), run();
        BOOST_TEST(sequence.nextvals == nextvals);
        sequence.parameters = good;
        wait_out_the_backoff();
        run();
        BOOST_CHECK(refill->state() == RefillState::reserving);
        BOOST_TEST(refill->problem() == "");
        BOOST_TEST(supply->trouble().error == "");
        BOOST_TEST(left() > before);
    };
    refused({.cycles = true}, "NO CYCLE");
    refused({.persistence = 'u'}, "LOGGED");
    refused({.persistence = 't'}, "permanent");
    BOOST_TEST(take_ids(5000) > 0u);
}

BOOST_AUTO_TEST_CASE(a_descending_sequence_is_refused_in_block_mode) {
    settings.mode = Increment::block;
    sequence.parameters.increment = -10;
    start_afresh();
    run();
    BOOST_CHECK(refill->state() == RefillState::refused);
}

BOOST_AUTO_TEST_CASE(a_sequence_that_went_back_is_latched_and_the_window_thrown_away) {
    sequence.last_value = 300;
    const std::uint64_t nextvals = sequence.nextvals;
    find_it_gone_back();
    BOOST_TEST(left() == 0u);
    BOOST_TEST(take_ids(1) == 0u);
    BOOST_TEST(refill->discarded() > 0u);
    BOOST_TEST(refill->problem().find("1000") != std::string::npos);  // the mark
    BOOST_TEST(refill->problem().find("resume_past.sql") != std::string::npos);
    BOOST_TEST(supply->trouble().error == refill->problem());
    BOOST_TEST(reported("went back"));

    for (int i = 0; i < 50; ++i) {
        wait_out_the_backoff();
        refill->on_connected();
        refill->tick(now);
        run();
    }
    BOOST_TEST(sequence.nextvals == nextvals);
    BOOST_TEST(*sequence.last_value == 300);  // not moved on, into what others hold and past their marks
    BOOST_CHECK(refill->state() == RefillState::latched);
}

// Others moved it past the mark again before the answer was made: what was taken tells none the less.
BOOST_AUTO_TEST_CASE(a_statement_that_stopped_short_latches) {
    for (const std::uint64_t taken : {0u, 7u}) {
        use_up();
        const auto step = refill->next_step(now);
        BOOST_REQUIRE(step.kind == Kind::reserve);
        auto answer = *sequence.reserve(taken);
        const std::int64_t onward = 1'000'000 * (1 + std::int64_t(taken));
        sequence.last_value = answer.last_value = onward;
        refill->on_reserved(now, answer);
        BOOST_CHECK(refill->state() == RefillState::latched);
        BOOST_TEST(left() == 0u);
        sequence.resume_past(onward);
        wait_out_the_backoff();
        run();
        BOOST_REQUIRE(refill->state() == RefillState::reserving);
    }
}

BOOST_AUTO_TEST_CASE(a_setval_after_the_last_value_of_a_statement_latches) {
    use_up();
    const auto step = refill->next_step(now);
    BOOST_REQUIRE(step.kind == Kind::reserve);
    auto answer = *sequence.reserve(step.values, supply->window().mark());
    const std::int64_t last = *answer.last_value;
    answer.last_value = last - 1;
    refill->on_reserved(now, answer);
    BOOST_CHECK(refill->state() == RefillState::latched);
    BOOST_TEST(left() == 0u);
    BOOST_TEST(refill->problem().find("(this one's: " + std::to_string(last) + ")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_a_sequence_that_was_turned_round_the_lowest_id_is_told) {
    sequence.parameters.increment = -1;
    find_it_gone_back();
    BOOST_TEST(refill->problem().find("(this one's: 1)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(on_a_new_connection_it_is_latched_before_any_nextval) {
    sequence.last_value = 300;
    refill->on_connected();
    const std::uint64_t nextvals = sequence.nextvals;
    find_it_gone_back();
    BOOST_TEST(sequence.nextvals == nextvals);
}

BOOST_AUTO_TEST_CASE(every_way_of_going_back_latches) {
    const std::vector<std::function<void()>> ways{
        [&] { sequence.last_value = *sequence.last_value - 1; },  // an equal value comes next
        [&] { sequence.last_value = 1; },                         // setval
        [&] { sequence.last_value.reset(); },                     // RESTART
        [&] { sequence.recreate(1); },                            // DROP and CREATE
        [&] { sequence.parameters.increment = -1; },              // turned round
        [&] { sequence.parameters.cache = 10, sequence.last_value = 1; },
        [&] {
            sequence.before_nextval = [this, calls = 0]() mutable {
                if (++calls == 3) sequence.last_value = *sequence.last_value - 1;  // within one statement
            };
        }};
    for (std::size_t i = 0; i < ways.size(); ++i) {
        BOOST_TEST_CONTEXT("way " << i) {
            for (const bool reconnected : {false, true}) {
                const FakeSequence before = sequence;
                ways[i]();
                if (reconnected) refill->on_connected();
                find_it_gone_back();
                BOOST_TEST(left() == 0u);
                const SourceIdentity identity = sequence.identity;  // what was dropped does not come back
                sequence = before;
                sequence.identity = identity;
                sequence.resume_past(supply->window().mark().highest);
                wait_out_the_backoff();
                run();
                BOOST_REQUIRE(refill->state() == RefillState::reserving);
                BOOST_TEST(take_ids(100) == 100u);  // each for the first time
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_latch_opens_only_for_a_comment_at_or_beyond_the_mark) {
    sequence.last_value = 300;
    find_it_gone_back();
    const std::int64_t mark = supply->window().mark().highest;
    const auto tries = [&](std::int64_t last_value, const std::string& comment) {
        sequence.last_value = last_value;
        sequence.comment = comment;
        wait_out_the_backoff();
        run();
        return refill->state() == RefillState::reserving;
    };
    const std::uint64_t nextvals = sequence.nextvals;
    BOOST_TEST(!tries(mark + 5000, ""));
    BOOST_TEST(!tries(mark + 5000, "something else"));
    BOOST_TEST(!tries(mark + 5000, "next-id: resume past " + std::to_string(mark - 1)));
    BOOST_TEST(
        !tries(mark - 1, "next-id: resume past " + std::to_string(mark)));  // it was not moved, or went back again
    BOOST_TEST(sequence.nextvals == nextvals);
    BOOST_TEST(!tries(mark, "next-id: resume past " + std::to_string(mark)));
    BOOST_TEST(tries(mark + 1, "next-id: resume past " + std::to_string(mark + 1)));
    BOOST_TEST(reported("resumed"));
    BOOST_TEST(supply->trouble().error == "");
    BOOST_TEST(take_ids(10) == 10u);
}

// The comment stays on the sequence when it has served.
BOOST_AUTO_TEST_CASE(the_comment_of_the_last_time_does_not_open_the_latch_of_the_next) {
    sequence.last_value = 300;
    find_it_gone_back();
    sequence.resume_past(50'000);
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
    sequence.last_value = 2000;
    find_it_gone_back();
    const std::uint64_t nextvals = sequence.nextvals;
    for (int i = 0; i < 20; ++i) wait_out_the_backoff(), run();
    BOOST_CHECK(refill->state() == RefillState::latched);
    BOOST_TEST(sequence.nextvals == nextvals);
}

// Resumed, but the sequence went back before anything was reserved: the mark is still behind the comment's N.
BOOST_AUTO_TEST_CASE(a_comment_beyond_the_mark_opens_nothing_once_the_sequence_is_behind_it) {
    sequence.last_value = 300;
    find_it_gone_back();
    sequence.resume_past(50'000);
    sequence.last_value = 400;
    const std::uint64_t nextvals = sequence.nextvals;
    for (const std::int64_t now_at : {400, 60'000}) {  // others move it on
        sequence.last_value = now_at;
        for (int i = 0; i < 20; ++i) wait_out_the_backoff(), run();
        BOOST_TEST(sequence.nextvals == nextvals);
        BOOST_CHECK(refill->state() == RefillState::latched);
    }
    BOOST_TEST(refill->problem().find("(this one's: 50001)") != std::string::npos);
    sequence.resume_past(60'000);
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
}

BOOST_AUTO_TEST_CASE(the_latch_outlives_the_process) {
    sequence.last_value = 300;
    find_it_gone_back();
    const std::uint64_t nextvals = sequence.nextvals;
    sequence.last_value = 100'000;  // moved on by others: the values alone no longer tell
    for (int i = 0; i < 3; ++i) {
        start();
        for (int j = 0; j < 5; ++j) run(), wait_out_the_backoff();
        BOOST_CHECK(refill->state() == RefillState::latched);
    }
    BOOST_TEST(sequence.nextvals == nextvals);
    sequence.resume_past(100'000);
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
    start();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
}

BOOST_AUTO_TEST_CASE(a_latch_without_a_mark_is_opened_too) {
    sequence = {};
    sequence.parameters.minimum = -5000;
    sequence.start = sequence.parameters.minimum;
    sequence.before_nextval = [this, calls = 0]() mutable {
        if (++calls == 5) sequence.last_value = -5000;
    };
    settings.policy.window_min = 10;
    start_afresh();
    run(), run();
    BOOST_CHECK(refill->state() == RefillState::latched);
    sequence.before_nextval = [] {};
    sequence.resume_past(-4000);
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
    BOOST_TEST(take_ids(5) == 5u);
}

// What others took of it before they noticed may have moved it past this one's mark, and into their IDs.
BOOST_AUTO_TEST_CASE(a_sequence_created_again_is_latched_though_it_stands_beyond_the_mark) {
    sequence.recreate(5000);
    sequence.last_value = 5000;
    find_it_gone_back();
    BOOST_TEST(left() == 0u);
    sequence.resume_past(6000);
    wait_out_the_backoff();
    run();
    BOOST_CHECK(refill->state() == RefillState::reserving);
    BOOST_TEST(reported("created again"));
    const std::uint64_t had = issued.count();
    take_ids(1000);
    BOOST_TEST(issued.highest() > 6000);
    BOOST_TEST(refill->discarded() == 1000 - had);
}

// Refused for it, it would go on from where the others' refused statements left it, once it ascends again.
BOOST_AUTO_TEST_CASE(a_sequence_that_descends_is_latched_before_it_is_refused) {
    for (const bool inspected : {true, false}) {
        sequence = {};
        settings.mode = Increment::block;
        sequence.parameters.increment = 100;
        start_afresh();
        run();
        sequence.parameters.increment = -100;
        if (inspected) refill->on_connected();
        use_up();
        run();
        BOOST_TEST(supply->window().mark().latched);
        sequence.parameters.increment = 100;
        sequence.last_value = 1'000'000;
        wait_out_the_backoff();
        run();
        BOOST_CHECK(refill->state() == RefillState::latched);
    }
}

BOOST_AUTO_TEST_CASE(an_adopted_window_is_served_and_verified) {
    take_ids(100);
    start();
    BOOST_CHECK(supply->window().start() == WindowFile::Start::adopted);
    BOOST_TEST(left() == 900u);
    BOOST_TEST(take_ids(100) == 100u);
    BOOST_CHECK(step() == Kind::inspect);
    BOOST_TEST(left() == 800u);
    BOOST_TEST(refill->issued() == 100u);
}

BOOST_AUTO_TEST_CASE(a_late_answer_is_as_good_as_any) {
    use_up();
    const auto step = refill->next_step(now);
    BOOST_CHECK(step.kind == Kind::reserve);
    refill->on_trouble({"query seq failed", "late"});
    BOOST_TEST(supply->trouble().error == "late");
    now += 10min;
    refill->tick(now);
    const std::uint64_t before = left();
    refill->on_reserved(now, *sequence.reserve(step.values));
    BOOST_TEST(left() == before + step.values);
    refill->on_trouble({});
    BOOST_TEST(supply->trouble().error == "");
    BOOST_TEST(take_ids(5000) == before + step.values);
}

BOOST_AUTO_TEST_CASE(what_the_ring_has_no_room_for_is_published_in_order_later) {
    slot_count = 4;
    sequence = {};
    sequence.parameters.increment = 7;
    // Another caller comes after every fifth value.
    sequence.before_nextval = [this, calls = 0]() mutable {
        if (++calls % 5 == 0 && sequence.last_value) sequence.last_value = *sequence.last_value + 7;
    };
    settings.policy = {.reserve = 60s, .window_min = 100, .window_max = 100};
    start_afresh();
    run();
    BOOST_TEST(supply->window().left() < 40u);
    BOOST_TEST(left() >= 90u);
    std::int64_t previous = 0;
    std::uint64_t taken = 0;
    for (int i = 0; i < 200; ++i) {
        for (const Range& range : take(*supply, 3)) {
            BOOST_TEST(range.first > previous);
            previous = last_of(range);
            taken += range.count;
        }
        refill->tick(now);
        run();
    }
    BOOST_TEST(taken > 500u);
    BOOST_TEST(refill->issued() == taken);
}

BOOST_AUTO_TEST_CASE(a_block_larger_than_the_ring_is_published_in_parts) {
    slot_count = 4;
    settings.mode = Increment::block;
    sequence = {.start = 100'000'000};
    sequence.parameters.increment = 100'000'000;
    start_afresh();
    for (run(); take_ids(30'000'000) != 0 && issued.count() < 500'000'000;) run_for(1s);
    BOOST_TEST(issued.highest() - issued.lowest() + 1 == std::int64_t(issued.count()));
}

BOOST_AUTO_TEST_CASE(pending_ids_go_with_the_window) {
    slot_count = 4;
    sequence = {};
    sequence.before_nextval = [this] { sequence.last_value = sequence.last_value.value_or(0) + 2; };
    settings.policy = {.reserve = 60s, .window_min = 100, .window_max = 100};
    start_afresh();
    run();
    BOOST_TEST(left() > supply->window().left());
    const std::uint64_t all = left();
    sequence.before_nextval = [] {};
    sequence.last_value = 1;
    refill->on_connected();
    take_ids(4);
    park(200);
    run();
    BOOST_CHECK(refill->state() == RefillState::latched);
    BOOST_TEST(refill->discarded() == all - 4);
    BOOST_TEST(left() == 0u);
}

// The state directory is gone, or full, at the moment of a discard.
BOOST_AUTO_TEST_CASE(no_ids_are_asked_for_while_there_is_no_place_for_them) {
    take_ids(100);
    const auto state = dir.path() / "state", elsewhere = dir.path() / "elsewhere";
    std::filesystem::rename(state, elsewhere);
    ++sequence.identity.system_identifier;
    refill->on_connected();
    park(2000);
    run();
    BOOST_TEST(left() == 0u);
    BOOST_TEST(refill->discarded() == 900u);
    BOOST_TEST(refill->issued() == 100u);
    const std::uint64_t nextvals = sequence.nextvals;
    sequence.resume_past(5000);
    for (int i = 0; i < 20; ++i) {
        wait_out_the_backoff();
        run();
        refill->tick(now);
    }
    BOOST_CHECK(refill->state() == RefillState::reserving);
    BOOST_TEST(sequence.nextvals == nextvals);
    BOOST_TEST(refill->discarded() == 900u);
    BOOST_TEST(refill->issued() == 100u);
    BOOST_TEST(reports.size() < 6u);
    BOOST_TEST(supply->trouble().error.find("window file") != std::string::npos);

    std::filesystem::rename(elsewhere, state);
    refill->tick(now);
    run();
    BOOST_TEST(refill->discarded() == 900u);
    BOOST_REQUIRE(deliveries.size() == 1u);
    BOOST_TEST(issued.add(deliveries[0].ranges));
    BOOST_TEST(supply->trouble().error == "");
    BOOST_TEST(refill->policy().demand_per_second() < 10'000);
}

BOOST_AUTO_TEST_CASE(trouble_of_the_connection_is_told_and_forgotten) {
    refill->on_trouble({"connect postgresql failed", "refused"});
    BOOST_TEST(supply->trouble().error == "refused");
    refill->on_trouble({});
    BOOST_TEST(supply->trouble().error == "");
    sequence.last_value = 300;
    find_it_gone_back();
    refill->on_trouble({"connect postgresql failed", "refused"});
    BOOST_TEST(supply->trouble().error == refill->problem());  // the worse one
}

// Whatever happens, and in whatever order, no ID is given out twice by this sidecar and another on the same sequence.
BOOST_AUTO_TEST_CASE(no_id_is_given_out_twice_whatever_happens) {
    const std::uint64_t seed = random_seed();
    BOOST_TEST_CONTEXT("seed " << seed) {
        std::mt19937_64 random{seed};
        const auto chance = [&](unsigned one_in) { return random() % one_in == 0; };
        for (int round = 0; round < 20; ++round) {
            const bool block = chance(2);
            sequence = {};
            issued = {};
            settings = {.policy = {.reserve = 1s, .window_min = 50, .window_max = 5000},
                        .mode = block ? Increment::block : Increment::step};
            slot_count = chance(2) ? 4 : 1024;
            start_afresh();
            for (int i = 0; i < 500; ++i) {
                now += std::chrono::milliseconds{random() % 3000};
                refill->tick(now);
                if (chance(20)) sequence.parameters.increment = 1 + std::int64_t(random() % (block ? 500 : 3));
                if (chance(5) && !sequence.parameters.cycles) {  // another program of the same mode
                    if (const auto value = sequence.nextval())
                        BOOST_REQUIRE(
                            issued.add(*owned_ranges({{{*value, 1}}, sequence.parameters, *value, {}}, settings.mode)));
                }
                if (chance(10)) refill->on_connected();
                if (chance(15)) park(1 + random() % 3000);
                const auto next = refill->next_step(now);
                if (next.kind == Kind::inspect) {
                    chance(5) ? refill->on_failed(now, "55P03", "lock") : refill->on_inspected(now, sequence.inspect());
                } else if (next.kind == Kind::reserve) {
                    const auto answer = sequence.reserve(next.values);
                    chance(5) ? refill->on_failed(now, "57014", "lost") : refill->on_reserved(now, answer.value());
                }
                if (chance(3)) take_ids(random() % 2000);
                if (chance(40)) start();
                for (const Delivery& delivery : std::exchange(deliveries, {}))
                    BOOST_REQUIRE(issued.add(delivery.ranges));
            }
            BOOST_TEST(issued.count() > 0u);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
