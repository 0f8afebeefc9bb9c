#include "sidecar/refill/reservation.h"

#include <boost/test/unit_test.hpp>

#include "tests/refill/fake_sequence.h"
#include "tests/refill/issued_ids.h"

namespace next_id {
inline std::ostream& operator<<(std::ostream& out, const Range& range) {
    return out << range.first << " step " << range.step << " x " << range.count;
}
}  // namespace next_id

namespace next_id::test {
namespace {

ReserveAnswer answer(const SequenceParameters& parameters, const std::vector<Run>& runs) {
    return {runs, parameters, runs.empty() ? 0 : runs.back().first, {}};
}

std::vector<Range> owned(const SequenceParameters& parameters, const std::vector<Run>& runs, Increment mode) {
    const auto ranges = owned_ranges(answer(parameters, runs), mode);
    BOOST_REQUIRE_MESSAGE(ranges, (ranges ? "" : ranges.error()));
    return *ranges;
}

void check(const std::vector<Range>& ranges, const std::vector<Range>& expected) {
    BOOST_TEST(ranges == expected, boost::test_tools::per_element());
}

bool refused(const SequenceParameters& parameters, const std::vector<Run>& runs, Increment mode = Increment::step) {
    return !owned_ranges(answer(parameters, runs), mode).has_value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reservation_tests)

BOOST_AUTO_TEST_CASE(in_step_mode_only_the_values_are_ours) {
    check(owned({.increment = 1}, {{1, 1000}}, Increment::step), {{1, 1, 1000}});
    check(owned({.increment = 2}, {{2, 3}, {10, 1}}, Increment::step), {{2, 2, 3}, {10, 2, 1}});
    check(owned({.minimum = -100, .maximum = -1, .increment = -1}, {{-1, 3}}, Increment::step), {{-1, -1, 3}});
}

BOOST_AUTO_TEST_CASE(in_block_mode_a_value_owns_what_lies_behind_it) {
    check(owned({.increment = 1000}, {{1000, 1}}, Increment::block), {{1, 1, 1000}});
    check(owned({.increment = 1000}, {{3000, 3}}, Increment::block), {{2001, 1, 3000}});
    check(owned({.increment = 1000}, {{1000, 1}, {3000, 1}}, Increment::block), {{1, 1, 1000}, {2001, 1, 1000}});
}

BOOST_AUTO_TEST_CASE(the_first_block_is_clipped_where_the_sequence_begins) {
    check(owned({.increment = 1000}, {{1, 1}}, Increment::block), {{1, 1, 1}});
    check(owned({.increment = 1000}, {{1, 2}}, Increment::block), {{1, 1, 1001}});
    check(owned({.minimum = 500, .increment = 1000}, {{700, 1}}, Increment::block), {{500, 1, 201}});
    check(owned({.minimum = -10, .increment = 1000}, {{-10, 1}}, Increment::block), {{-10, 1, 1}});
}

BOOST_AUTO_TEST_CASE(runs_that_follow_one_another_are_one_range) {
    check(owned({.increment = 5}, {{5, 2}, {15, 1}, {25, 1}}, Increment::step), {{5, 5, 3}, {25, 5, 1}});
    check(owned({.increment = 10}, {{10, 1}, {20, 1}}, Increment::block), {{1, 1, 20}});
}

BOOST_AUTO_TEST_CASE(the_ends_of_int64_are_reached_and_not_passed) {
    const SequenceParameters whole{.minimum = INT64_MIN, .maximum = INT64_MAX};
    check(owned(whole, {{INT64_MAX - 2, 3}}, Increment::step), {{INT64_MAX - 2, 1, 3}});
    check(owned(whole, {{INT64_MIN, 3}}, Increment::step), {{INT64_MIN, 1, 3}});
    BOOST_TEST(refused(whole, {{INT64_MAX - 2, 4}}));
    BOOST_TEST(refused(whole, {{0, UINT64_MAX}}));

    SequenceParameters blocks = whole;
    blocks.increment = 1000;
    check(owned(blocks, {{INT64_MAX, 1}}, Increment::block), {{INT64_MAX - 999, 1, 1000}});
    check(owned(blocks, {{INT64_MIN + 1, 1}}, Increment::block), {{INT64_MIN, 1, 2}});
    blocks.increment = INT64_MAX;
    check(owned(blocks, {{-1, 1}}, Increment::block), {{INT64_MIN + 1, 1, INT64_MAX}});

    // All 2^64 IDs are one more than a range can count.
    check(owned(blocks, {{INT64_MIN + 1, 3}}, Increment::block), {{INT64_MIN + 1, 1, UINT64_MAX}});
    check(owned(whole, {{INT64_MIN, std::uint64_t{1} << 63}, {0, std::uint64_t{1} << 63}}, Increment::step),
          {{INT64_MIN, 1, std::uint64_t{1} << 63}, {0, 1, std::uint64_t{1} << 63}});

    SequenceParameters descending = whole;
    descending.increment = INT64_MIN;
    check(owned(descending, {{0, 1}}, Increment::step), {{0, INT64_MIN, 1}});
    check(owned(descending, {{0, 2}}, Increment::step), {{0, INT64_MIN, 2}});
    BOOST_TEST(refused(descending, {{-1, 2}}));
}

BOOST_AUTO_TEST_CASE(values_that_such_a_sequence_cannot_return_are_an_error) {
    BOOST_TEST(refused({.minimum = 1, .maximum = 100, .increment = 1}, {{99, 3}}));
    BOOST_TEST(refused({.minimum = 1, .maximum = 100, .increment = 1}, {{0, 1}}));
    BOOST_TEST(refused({.minimum = 1, .maximum = 100, .increment = -10}, {{5, 2}}));
    BOOST_TEST(refused({.increment = 1}, {{5, 0}}));
    BOOST_TEST(refused({.increment = 0}, {{5, 1}}));
    BOOST_TEST(refused({.increment = 1}, {{5, 1}, {INT64_MAX, 2}}));
}

BOOST_AUTO_TEST_CASE(sequences_that_repeat_ids_are_refused_with_the_cure) {
    const auto refusal = [](const SequenceParameters& parameters, Increment mode = Increment::step) {
        return refusal_of(parameters, mode);
    };
    BOOST_TEST(refusal({}) == "");
    BOOST_TEST(refusal({}, Increment::block) == "");
    BOOST_TEST(refusal({.cache = 50}) == "");
    BOOST_TEST(refusal({.cycles = true}).find("NO CYCLE") != std::string::npos);
    BOOST_TEST(refusal({.persistence = 'u'}).find("SET LOGGED") != std::string::npos);
    BOOST_TEST(refusal({.persistence = 't'}).find("permanent") != std::string::npos);
    BOOST_TEST(refusal({.persistence = '?'}) != "");
    BOOST_TEST(refusal({.increment = -1}) == "");
    BOOST_TEST(refusal({.increment = -1}, Increment::block).find("--increment step") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_left_is_counted_to_the_end_in_either_direction) {
    BOOST_TEST(values_left({.maximum = 100}, 90) == 10u);
    BOOST_TEST(values_left({.maximum = 100, .increment = 3}, 90) == 3u);
    BOOST_TEST(values_left({.maximum = 100}, 100) == 0u);
    BOOST_TEST(values_left({.maximum = 100}, 200) == 0u);
    BOOST_TEST(values_left({.minimum = -100, .maximum = -1, .increment = -3}, -90) == 3u);
    BOOST_TEST(values_left({.minimum = INT64_MIN}, INT64_MIN) == UINT64_MAX);
    BOOST_TEST(values_left({.minimum = INT64_MIN, .increment = INT64_MIN}, 0) == 1u);
}

BOOST_AUTO_TEST_CASE(what_lies_before_the_first_value_may_be_given_out) {
    ReserveAnswer restarted = answer({.increment = 1000}, {{3500, 3}});
    restarted.uncalled = true;
    check(*owned_ranges(restarted, Increment::block), {{3500, 1, 2001}});
    restarted.runs = {{1000, 2}, {5000, 1}};  // also where the block is the first there can be
    check(*owned_ranges(restarted, Increment::block), {{1000, 1, 1001}, {4001, 1, 1000}});
    check(*owned_ranges(restarted, Increment::step), {{1000, 1000, 2}, {5000, 1000, 1}});
}

// Two programs in block mode and one ALTER after another: no ID is ever owned twice.
BOOST_AUTO_TEST_CASE(blocks_never_overlap_whatever_becomes_of_the_increment) {
    const std::uint64_t seed = random_seed();
    BOOST_TEST_CONTEXT("seed " << seed) {
        std::mt19937_64 random{seed};
        const auto below = [&](std::int64_t bound) {
            return static_cast<std::int64_t>(random() % std::uint64_t(bound));
        };
        for (int round = 0; round < 200; ++round) {
            FakeSequence sequence;
            sequence.parameters.minimum = below(2) == 0 ? 1 : -below(10'000);
            sequence.parameters.increment = 1 + below(5000);
            sequence.start = sequence.parameters.minimum + below(3000);
            IssuedIds issued;
            const auto reserve = [&](std::uint64_t values) {
                const auto reserved = sequence.reserve(values);
                BOOST_REQUIRE(reserved);
                const auto ranges = owned_ranges(*reserved, Increment::block);
                BOOST_REQUIRE(ranges);
                BOOST_REQUIRE(issued.add(*ranges));
            };
            for (int i = 0; i < 50; ++i) {
                if (below(3) == 0) sequence.parameters.increment = 1 + below(below(2) == 0 ? 10 : 5000);
                if (below(5) == 0 && sequence.last_value) {  // RESTART WITH, beyond all that was given
                    sequence.restarted_with = *sequence.last_value + 1 + below(3000);
                    sequence.last_value.reset();
                }
                // The other program comes between two values of our statement, under the same increment.
                bool within = false;
                sequence.before_nextval = [&] {
                    if (within || below(4) != 0) return;
                    within = true;
                    reserve(1 + std::uint64_t(below(3)));
                    within = false;
                };
                reserve(1 + std::uint64_t(below(20)));
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
