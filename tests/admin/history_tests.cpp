#include "sidecar/admin/history.h"

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

using namespace std::chrono_literals;

struct HistoryFixture {
    Instant now{1000s};
    History history{now, {{.ids_left = 100, .ids_issued = 0, .ids_received = 100}}};

    void after(Duration time, const History::Totals& totals) {
        now += time;
        history.record(now, {totals});
    }
    // As in "100/5/0 - 95/0/20": left, issued in a second, reserved; a gap is a dash.
    std::string told(std::uint64_t from = 0) const {
        std::string text;
        for (const auto& point : history.points_of(0, from)) {
            text += text.empty() ? "" : " ";
            text += point ? std::to_string(point->ids_left) + "/" + std::to_string(point->issued_per_second) + "/" +
                                std::to_string(point->ids_reserved)
                          : "-";
        }
        return text;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(history_tests, HistoryFixture)

BOOST_AUTO_TEST_CASE(each_second_is_a_point_with_what_happened_in_it) {
    BOOST_TEST(told() == "");
    BOOST_TEST(history.next() == 0U);
    after(1s, {.ids_left = 95, .ids_issued = 5, .ids_received = 100});
    after(1s, {.ids_left = 185, .ids_issued = 15, .ids_received = 200});
    after(1s, {.ids_left = 185, .ids_issued = 15, .ids_received = 200});
    BOOST_TEST(told() == "95/5/0 185/10/100 185/0/0");
    BOOST_TEST(history.next() == 3U);
}

BOOST_AUTO_TEST_CASE(what_was_there_at_the_start_is_no_refill_and_what_is_thrown_away_is_not_issued) {
    after(1s, {.ids_left = 0, .ids_issued = 0, .ids_received = 100});  // 100 discarded
    BOOST_TEST(told() == "0/0/0");
}

BOOST_AUTO_TEST_CASE(rates_are_of_the_time_that_passed_and_a_late_timer_leaves_no_gap) {
    after(1400ms, {.ids_left = 0, .ids_issued = 70, .ids_received = 100});
    after(600ms, {.ids_left = 0, .ids_issued = 100, .ids_received = 100});
    BOOST_TEST(told() == "0/50/0 0/50/0");
}

BOOST_AUTO_TEST_CASE(a_timer_that_catches_up_does_not_count_twice) {
    after(1s, {.ids_left = 90, .ids_issued = 10, .ids_received = 100});
    after(100ms, {.ids_left = 85, .ids_issued = 15, .ids_received = 100});
    after(900ms, {.ids_left = 80, .ids_issued = 20, .ids_received = 100});
    BOOST_TEST(told() == "90/10/0 80/10/0");
}

BOOST_AUTO_TEST_CASE(seconds_in_which_the_process_was_stopped_are_gaps) {
    after(1s, {.ids_left = 100, .ids_issued = 0, .ids_received = 100});
    after(4s, {.ids_left = 60, .ids_issued = 40, .ids_received = 100});
    BOOST_TEST(told() == "100/0/0 - - - 60/10/0");
    after(std::chrono::hours{24}, {.ids_left = 60, .ids_issued = 40, .ids_received = 100});
    BOOST_TEST(told(history.next() - 2) == "- 60/0/0");
    BOOST_TEST(history.points_of(0, 0).size() == History::points_max);
}

BOOST_AUTO_TEST_CASE(so_many_points_are_kept_and_no_more) {
    const std::size_t points = 2 * History::points_max + 7;
    for (std::uint64_t i = 1; i <= points; ++i) after(1s, {.ids_left = i, .ids_issued = i, .ids_received = 0});
    const HistoryPoints kept = history.points_of(0, 0);
    BOOST_TEST(kept.size() == History::points_max);
    for (std::size_t i = 0; i < kept.size(); ++i)
        BOOST_TEST(kept[i].value().ids_left == points - History::points_max + 1 + i);
    BOOST_TEST(history.first(0) == points - History::points_max);
}

BOOST_AUTO_TEST_CASE(who_has_some_gets_only_the_new_ones) {
    for (std::uint64_t i = 1; i <= 3; ++i) after(1s, {.ids_left = i, .ids_issued = 0, .ids_received = 0});
    BOOST_TEST(told(1) == "2/0/0 3/0/0");
    BOOST_TEST(history.first(1) == 1U);
    BOOST_TEST(told(3) == "");
    BOOST_TEST(told(4) == "1/0/0 2/0/0 3/0/0");  // of another process, that has counted further
    BOOST_TEST(history.first(4) == 0U);
}

BOOST_AUTO_TEST_CASE(each_sequence_has_its_own) {
    History two{now, {{}, {}}};
    two.record(now + 1s, {{.ids_left = 1}, {.ids_left = 2}});
    BOOST_TEST(two.points_of(0, 0).at(0).value().ids_left == 1U);
    BOOST_TEST(two.points_of(1, 0).at(0).value().ids_left == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
