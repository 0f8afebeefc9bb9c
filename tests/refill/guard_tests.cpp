#include "sidecar/refill/guard.h"

#include <boost/test/unit_test.hpp>

namespace next_id::test {
namespace {

const SequenceParameters ascending{}, descending{.minimum = -1000, .maximum = -1, .increment = -1}, cached{.cache = 10};
const Mark none{}, at_100{1, 1, 100, 100, false}, at_minus_100{-1, -100, -1, -100, false};

Expected<Mark> advance(const Mark& mark, const SequenceParameters& parameters, std::int64_t last_value,
                       const std::vector<Range>& ranges) {
    return advance_mark(mark, {{}, parameters, last_value, {}}, ranges);
}

// Why the answer must not be published; empty if it may.
std::string obstacle(const Mark& mark, const SequenceParameters& parameters, std::int64_t last_value,
                     const std::vector<Range>& ranges) {
    const ReserveAnswer answer{{}, parameters, last_value, {}};
    const std::string how = how_it_went_back(mark, answer, 0);
    if (!how.empty()) return how;
    const auto advanced = advance(mark, parameters, last_value, ranges);
    return advanced ? how_it_went_back(*advanced, answer, 0) : advanced.error();
}

InspectAnswer standing(std::optional<std::int64_t> last_value, const SequenceParameters& parameters = ascending) {
    return {parameters, last_value, {}, {}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guard_tests)

BOOST_AUTO_TEST_CASE(the_mark_begins_with_the_first_answer_and_grows_with_each) {
    Mark mark = *advance(none, ascending, 10, {{1, 1, 10}});
    BOOST_CHECK((mark == Mark{1, 1, 10, 10, false}));
    mark = *advance(mark, ascending, 40, {{11, 1, 5}, {31, 1, 5}});
    BOOST_CHECK((mark == Mark{1, 1, 35, 40, false}));
    mark = *advance(none, descending, -7, {{-1, -1, 3}, {-5, -1, 3}});
    BOOST_CHECK((mark == Mark{-1, -7, -1, -7, false}));
}

BOOST_AUTO_TEST_CASE(a_lower_value_is_seen) {
    BOOST_TEST(obstacle(at_100, ascending, 60, {{51, 1, 10}}) != "");
    BOOST_TEST(obstacle(at_100, ascending, 110, {{51, 1, 10}}) != "");  // whatever it says of its last value
    BOOST_TEST(obstacle(at_100, ascending, 60, {{101, 1, 10}}) != "");
    BOOST_TEST(obstacle(at_100, ascending, 110, {{101, 1, 10}}) == "");
    BOOST_TEST(obstacle(at_minus_100, descending, -60, {{-51, -1, 10}}) != "");
    BOOST_TEST(obstacle(at_minus_100, descending, -110, {{-101, -1, 10}}) == "");
}

BOOST_AUTO_TEST_CASE(an_equal_value_is_seen) {
    BOOST_TEST(obstacle(at_100, ascending, 109, {{100, 1, 10}}) != "");
    BOOST_TEST(obstacle(at_minus_100, descending, -109, {{-100, -1, 10}}) != "");
}

BOOST_AUTO_TEST_CASE(a_block_that_reaches_behind_the_mark_is_seen) {
    BOOST_TEST(obstacle(at_100, {.increment = 50}, 149, {{100, 1, 50}}) != "");
    BOOST_TEST(obstacle(at_100, {.increment = 50}, 150, {{101, 1, 50}}) == "");
}

BOOST_AUTO_TEST_CASE(a_change_of_direction_is_seen) {
    BOOST_TEST(obstacle(at_100, {.increment = -1}, 199, {{200, -1, 2}}).find("descending") != std::string::npos);
    BOOST_TEST(obstacle(at_minus_100, ascending, 5, {{5, 1, 1}}).find("ascending") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(going_back_within_one_answer_is_seen) {
    BOOST_TEST(obstacle(none, ascending, 7, {{1, 1, 10}, {5, 1, 3}}) != "");
    BOOST_TEST(obstacle(none, ascending, 10, {{1, 1, 10}, {10, 1, 1}}) != "");
    BOOST_TEST(obstacle(at_100, ascending, 130, {{121, 1, 10}, {111, 1, 10}}) != "");
    BOOST_TEST(obstacle(none, descending, -3, {{-1, -1, 5}, {-3, -1, 1}}) != "");
}

// A setval() after the last of its values.
BOOST_AUTO_TEST_CASE(a_last_value_behind_the_values_of_the_same_answer_is_seen) {
    for (const Mark& mark : {none, at_100}) {
        BOOST_TEST(obstacle(mark, ascending, 209, {{201, 1, 10}}) != "");
        BOOST_TEST(obstacle(mark, ascending, 210, {{201, 1, 10}}) == "");
        BOOST_TEST(obstacle(mark, cached, 209, {{201, 1, 10}}) != "");
        BOOST_CHECK((advance(mark, ascending, 109, {{201, 1, 10}})->last_value == 210));
    }
    BOOST_TEST(obstacle(none, descending, -9, {{-1, -1, 10}}) != "");
}

// Sessions hand out their caches in any order, so only the sequence's own last value tells.
BOOST_AUTO_TEST_CASE(with_a_cache_a_last_value_that_went_back_is_seen) {
    BOOST_TEST(obstacle(at_100, cached, 120, {{81, 1, 5}, {91, 1, 5}}) == "");
    BOOST_TEST(obstacle(at_100, cached, 100, {{91, 1, 5}}) == "");
    BOOST_TEST(obstacle(at_100, cached, 90, {{101, 1, 5}}) != "");
    const Mark mark = *advance(at_100, cached, 120, {{-5, 1, 2}, {111, 1, 5}});
    BOOST_CHECK((mark == Mark{1, -5, 115, 120, false}));
}

// Someone's setval between two of the statement's own values.
BOOST_AUTO_TEST_CASE(with_a_cache_too_going_back_within_one_answer_is_seen) {
    BOOST_TEST(obstacle(none, cached, 70, {{50, 1, 10}, {55, 1, 10}}) != "");
    BOOST_TEST(obstacle(at_100, cached, 120, {{91, 1, 5}, {81, 1, 5}}) != "");
    const SequenceParameters cached_down{.minimum = -1000, .maximum = -1, .increment = -1, .cache = 10};
    BOOST_TEST(obstacle(none, cached_down, -70, {{-50, -1, 10}, {-55, -1, 10}}) != "");
    BOOST_TEST(obstacle(none, cached_down, -70, {{-50, -1, 5}, {-55, -1, 10}}) == "");
}

BOOST_AUTO_TEST_CASE(inspection_sees_it_too) {
    BOOST_TEST(how_it_went_back(none, standing(std::nullopt)) == "");
    BOOST_TEST(how_it_went_back(at_100, standing(100)) == "");
    BOOST_TEST(how_it_went_back(at_100, standing(101)) == "");
    BOOST_TEST(how_it_went_back(at_100, standing(99)) != "");
    BOOST_TEST(how_it_went_back(at_100, standing(std::nullopt)) != "");  // created again, or restarted
    BOOST_TEST(how_it_went_back(at_100, standing(200, descending)) != "");
    BOOST_TEST(how_it_went_back(at_minus_100, standing(-100, descending)) == "");
    BOOST_TEST(how_it_went_back(at_minus_100, standing(-99, descending)) != "");
}

BOOST_AUTO_TEST_CASE(fewer_values_than_were_asked_for_are_seen_whatever_the_sequence_says_by_then) {
    const ReserveAnswer five{{{101, 2}, {201, 3}}, ascending, 203, {}}, nothing{{}, ascending, 203, {}};
    BOOST_TEST(how_it_went_back(at_100, five, 5) == "");
    BOOST_TEST(how_it_went_back(at_100, five, 6) != "");
    BOOST_TEST(how_it_went_back(at_100, nothing, 1) != "");
    BOOST_TEST(how_it_went_back(none, nothing, 1) == "");
}

BOOST_AUTO_TEST_CASE(the_comment_of_an_operator_is_read_exactly) {
    BOOST_TEST(resume_past("next-id: resume past 12345").value_or(0) == 12345);
    BOOST_TEST(resume_past("next-id: resume past -5").value_or(0) == -5);
    BOOST_TEST(resume_past("next-id: resume past 9223372036854775807").value_or(0) == INT64_MAX);
    for (const char* text : {"", "next-id: resume past ", "next-id: resume past 12 ", "next-id: resume past 12x",
                             "next-id: resume past x", "next-id: resume past 9223372036854775808",
                             "Next-id: resume past 1", " next-id: resume past 1", "resume past 1"})
        BOOST_TEST(!resume_past(text), "\"" << text << "\"");
}

// It was moved past N when the comment was made, and is behind it now.
BOOST_AUTO_TEST_CASE(a_comment_that_the_sequence_is_behind_clears_nothing_from_then_on) {
    const Mark mark = past_comment(at_100, 500, standing(90));
    BOOST_CHECK((mark == Mark{1, 1, 100, 501, false}));
    BOOST_TEST(clears_mark(at_100, 500, standing(600)));
    BOOST_TEST(!clears_mark(mark, 500, standing(600)));
    BOOST_TEST(clears_mark(mark, 501, standing(600)));
    BOOST_TEST(past_comment(at_100, 500, standing(std::nullopt)).last_value == 501);
    BOOST_TEST(past_comment(at_100, INT64_MAX, standing(90)).last_value == INT64_MAX);
    BOOST_TEST(past_comment(at_minus_100, -500, standing(-90, descending)).last_value == -501);
    BOOST_CHECK(past_comment(at_100, 99, standing(90)) == at_100);  // which would clear nothing anyway
    BOOST_CHECK(past_comment(at_100, 500, standing(500)) == at_100);
    BOOST_CHECK(past_comment(at_100, 500, standing(90, descending)) == at_100);
    BOOST_CHECK(past_comment(none, 500, standing(90)) == none);
}

// An old comment of an operator, and a sequence that went back less far than where others had moved it.
BOOST_AUTO_TEST_CASE(a_mark_is_not_cleared_below_the_last_value_that_was_seen) {
    const Mark seen_at_150{1, 1, 100, 150, true};
    BOOST_TEST(!clears_mark(seen_at_150, 100, standing(120)));
    BOOST_TEST(!clears_mark(seen_at_150, 149, standing(149)));
    BOOST_TEST(clears_mark(seen_at_150, 150, standing(150)));
    const Mark seen_at_minus_150{-1, -100, -1, -150, true};
    BOOST_TEST(!clears_mark(seen_at_minus_150, -149, standing(-200, descending)));
    BOOST_TEST(clears_mark(seen_at_minus_150, -150, standing(-150, descending)));
}

BOOST_AUTO_TEST_CASE(a_mark_is_cleared_by_what_reaches_it) {
    BOOST_TEST(!clears_mark(at_100, 99, standing(500)));
    BOOST_TEST(clears_mark(at_100, 100, standing(500)));
    BOOST_TEST(clears_mark(at_100, 100, standing(100)));
    BOOST_TEST(!clears_mark(at_minus_100, -99, standing(-500, descending)));
    BOOST_TEST(clears_mark(at_minus_100, -100, standing(-100, descending)));
    BOOST_TEST(clears_mark(none, 5, standing(5)));
    // It was turned round: what it gives next lies beyond the mark's other end.
    BOOST_TEST(!clears_mark(at_100, 100, standing(-50, descending)));
    BOOST_TEST(clears_mark(at_100, 0, standing(-50, descending)));
}

BOOST_AUTO_TEST_CASE(a_comment_of_long_ago_clears_nothing) {
    BOOST_TEST(!clears_mark(at_100, 1000, standing(50)));
    BOOST_TEST(!clears_mark(at_100, 1000, standing(999)));
    BOOST_TEST(!clears_mark(at_100, 1000, standing(std::nullopt)));
    BOOST_TEST(!clears_mark(none, 1000, standing(50)));
    BOOST_TEST(!clears_mark(at_minus_100, -500, standing(-499, descending)));
    BOOST_TEST(!clears_mark(at_minus_100, -500, standing(std::nullopt, descending)));
    // Whatever its first value will be, it lies beyond.
    BOOST_TEST(clears_mark(at_100, 1000, standing(std::nullopt, {.minimum = 1001})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
