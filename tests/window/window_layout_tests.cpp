// The edges that chance does not reach: the ends of int64, of the ring and of the tickets; what is refused; closing
// twice.
#include "protocol/window_layout.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <ostream>
#include <vector>

namespace next_id {

static std::ostream& operator<<(std::ostream& out, const Range& range) {
    return out << range.first << " step " << range.step << " x" << range.count;
}
static std::ostream& operator<<(std::ostream& out, TakeResult result) {
    return out << int(result);
}

}  // namespace next_id

namespace {

using namespace next_id;
using W = Window<>;

struct RingOfFour {
    W::Header header{};
    std::array<W::Slot, 4> slots{};
    W window{header, slots};
    std::array<Range, 4> out{};

    void publish(const Range& range) { BOOST_TEST_REQUIRE(window.publish(range) == range.count); }
    void check_took(const Taken& taken, const std::vector<Range>& expected, std::uint64_t skipped = 0) const {
        BOOST_TEST_REQUIRE(taken.result == TakeResult::taken);
        const std::vector<Range> ranges(out.begin(), out.begin() + std::ptrdiff_t(taken.ranges));
        BOOST_TEST(ranges == expected, boost::test_tools::per_element());
        BOOST_TEST(taken.skipped == skipped);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_layout_tests, RingOfFour)

BOOST_AUTO_TEST_CASE(a_range_is_well_formed_iff_all_its_ids_lie_in_int64) {
    BOOST_TEST(well_formed({INT64_MAX - 2, 1, 3}));
    BOOST_TEST(!well_formed({INT64_MAX - 2, 1, 4}));
    BOOST_TEST(!well_formed({1, 0, 1}));
    BOOST_TEST(!well_formed({1, 1, 0}));
    BOOST_TEST(well_formed({INT64_MIN + 2, -1, 3}));
    BOOST_TEST(!well_formed({INT64_MIN + 2, -1, 4}));
    BOOST_TEST(well_formed({INT64_MIN, std::int64_t{1} << 62, 4}));
    BOOST_TEST(!well_formed({INT64_MIN, std::int64_t{1} << 62, 5}));
    BOOST_TEST(well_formed({INT64_MAX, INT64_MIN, 2}));
    BOOST_TEST(!well_formed({INT64_MAX, INT64_MIN, 3}));
    BOOST_TEST(well_formed({0, INT64_MIN, 2}));
    BOOST_TEST(!well_formed({-1, INT64_MIN, 2}));
    BOOST_TEST(!well_formed({0, 1, ~std::uint64_t{0}}));
}

BOOST_AUTO_TEST_CASE(adjacent_ranges_come_out_as_one_but_never_across_the_end_of_int64) {
    publish({INT64_MAX - 1, 1, 2});
    publish({INT64_MIN, 1, 2});
    publish({INT64_MIN + 2, 1, 1});
    BOOST_TEST(window.left() == 5u);
    BOOST_TEST(window.sound());
    check_took(window.take(5, out), {{INT64_MAX - 1, 1, 2}, {INT64_MIN, 1, 3}});
    BOOST_TEST(window.take(1, out).result == TakeResult::dry);
}

BOOST_AUTO_TEST_CASE(ranges_of_different_steps_stay_apart) {
    publish({1, 1, 2});
    publish({3, 2, 2});
    check_took(window.take(4, out), {{1, 1, 2}, {3, 2, 2}});
}

BOOST_AUTO_TEST_CASE(a_refused_take_takes_nothing) {
    publish({5, -5, 3});
    publish({INT64_MIN + 9, -9, 2});
    publish({7, 1, 1});
    BOOST_TEST(window.take(7, out).result == TakeResult::too_few);
    BOOST_TEST(window.left() == 6u);
    BOOST_TEST(window.take(6, {out.data(), 2}).result == TakeResult::fragmented);
    BOOST_TEST(window.left() == 6u);
    check_took(window.take(2, out), {{5, -5, 2}});
    check_took(window.take(9, {out.data(), 2}, true), {{-5, -5, 1}, {INT64_MIN + 9, -9, 2}});
    check_took(window.take(9, out, true), {{7, 1, 1}});
}

BOOST_AUTO_TEST_CASE(consecutive_ids_join_slots_and_pass_over_short_runs_up_to_the_limit) {
    publish({1, 1, 2});
    publish({10, 1, 3});
    publish({13, 1, 3});
    BOOST_TEST(window.take_consecutive(5, 1, out[0]).result == TakeResult::fragmented);
    BOOST_TEST(window.take_consecutive(7, 9, out[0]).result == TakeResult::too_few);
    BOOST_TEST(window.left() == 8u);
    check_took(window.take_consecutive(5, 2, out[0]), {{10, 1, 5}}, 2);
    check_took(window.take_consecutive(1, 0, out[0]), {{15, 1, 1}});
    BOOST_TEST(window.left() == 0u);
}

BOOST_AUTO_TEST_CASE(consecutive_ids_are_one_apart_and_ascend) {
    publish({1, 2, 3});
    publish({9, -1, 3});
    publish({20, 1, 3});
    BOOST_TEST(window.take_consecutive(3, 5, out[0]).result == TakeResult::fragmented);
    BOOST_TEST(window.take_consecutive(4, 6, out[0]).result == TakeResult::too_few);
    BOOST_TEST(window.left() == 9u);
    check_took(window.take_consecutive(3, 6, out[0]), {{20, 1, 3}}, 6);
}

BOOST_AUTO_TEST_CASE(a_full_ring_takes_what_fits_and_a_range_longer_than_a_slot_comes_out_whole) {
    BOOST_TEST(!window.full());
    BOOST_TEST(window.publish({1, 2, 5 * W::slot_ids_max}) == 4 * W::slot_ids_max);
    BOOST_TEST(window.full());
    BOOST_TEST(window.publish({1, 1, 1}) == 0u);
    BOOST_TEST(window.sound());
    check_took(window.take(W::slot_ids_max - 1, out), {{1, 2, W::slot_ids_max - 1}});
    BOOST_TEST(window.publish({1, 1, 1}) == 0u);
    check_took(window.take(1, out), {{1 + 2 * std::int64_t(W::slot_ids_max - 1), 2, 1}});
    BOOST_TEST(!window.full());
    publish({-8, 1, 1});
    check_took(window.take(3 * W::slot_ids_max + 1, out),
               {{1 + 2 * std::int64_t(W::slot_ids_max), 2, 3 * W::slot_ids_max}, {-8, 1, 1}});
}

BOOST_AUTO_TEST_CASE(a_window_out_of_tickets_gives_out_what_it_has_and_takes_no_more) {
    header.cursor = header.limit = W::limit_max - 2 * W::slot_ids_max;
    BOOST_TEST(window.publish({1, 1, 3 * W::slot_ids_max}) == 2 * W::slot_ids_max);
    BOOST_TEST(window.out_of_tickets());
    BOOST_TEST(window.publish({1, 1, 1}) == 0u);
    check_took(window.take(2 * W::slot_ids_max, out), {{1, 1, 2 * W::slot_ids_max}});
    BOOST_TEST(window.take(1, out).result == TakeResult::dry);
    BOOST_TEST(window.sound());
}

BOOST_AUTO_TEST_CASE(a_drained_window_goes_on_and_a_closed_one_stays_closed) {
    std::vector<Range> kept;
    const auto keep = [&](const Range& range) { kept.push_back(range); };
    publish({1, 1, 9});
    check_took(window.take(4, out), {{1, 1, 4}});
    window.drain(keep);
    BOOST_TEST(window.take(1, out).result == TakeResult::dry);
    publish({20, 1, 2});
    check_took(window.take(1, out), {{20, 1, 1}});
    window.close(keep), window.close(keep), window.drain(keep);
    BOOST_TEST(kept == (std::vector<Range>{{5, 1, 5}, {21, 1, 1}}), boost::test_tools::per_element());
    BOOST_TEST(window.closed());
    BOOST_TEST(window.take(1, out).result == TakeResult::closed);
    BOOST_TEST(window.take_consecutive(1, 9, out[0]).result == TakeResult::closed);
    BOOST_TEST(window.publish({30, 1, 1}) == 0u);
    BOOST_TEST(window.left() == 0u);
    BOOST_TEST(window.wake_when_left(5));
    BOOST_TEST(!window.sound());
}

BOOST_AUTO_TEST_CASE(chance_bytes_are_not_sound) {
    publish({1, 1, 3});
    BOOST_TEST(window.sound());
    header.cursor = 4;  // beyond the slot's three
    BOOST_TEST(!window.sound());
    slots[0].first = std::uint64_t(INT64_MIN) - 4;  // and 2^64-1 IDs would have room behind it
    BOOST_TEST(!window.sound());
    header.cursor = 2, slots[0].first = INT64_MAX;  // what is left goes on at the other end of int64
    BOOST_TEST(!window.sound());
    header.cursor = 0, slots[0].first = 1, slots[0].count = 0;
    BOOST_TEST(!window.sound());
    slots[0].count = 3, slots[0].step = 0;
    BOOST_TEST(!window.sound());
    slots[0].step = 1, header.limit = 5 * W::slot_ids_max;  // more slots than the ring has
    BOOST_TEST(!window.sound());
    header.cursor = W::limit_max, header.limit = W::limit_max + W::slot_ids_max;
    BOOST_TEST(!window.sound());
    header.cursor = 0, header.limit = W::slot_ids_max, slots[0].count = W::slot_ids_max + 1;
    BOOST_TEST(!window.sound());

    RingOfFour full;
    full.publish({1, 1, 4 * W::slot_ids_max});
    BOOST_TEST(full.window.sound());
    full.header.limit += W::slot_ids_max;
    BOOST_TEST(!full.window.sound());
}

BOOST_AUTO_TEST_CASE(the_take_that_leaves_so_many_says_wake_and_no_other_does) {
    publish({1, 1, 4});
    publish({100, 10, 4});
    BOOST_TEST(!window.wake_when_left(3));
    BOOST_TEST(!window.take(4, out).wake);  // leaves 4
    BOOST_TEST(window.take(1, out).wake);   // leaves 3
    BOOST_TEST(!window.take(1, out).wake);
    BOOST_TEST(!window.take(9, out).wake);  // refused
    BOOST_TEST(!window.wake_when_left(0));
    BOOST_TEST(window.take(2, out).wake);  // leaves none
}

BOOST_AUTO_TEST_CASE(every_kind_of_take_says_wake_at_every_level) {
    for (std::uint64_t level = 0; level <= 10; ++level)
        for (int kind = 0; kind < 4; ++kind) {
            RingOfFour ring;
            ring.publish({1, 1, 3});
            ring.publish({4, 1, 3});
            ring.publish({50, 1, 4});
            BOOST_TEST(ring.window.wake_when_left(level) == (level >= 10));
            for (std::uint64_t left = 10; left != 0;) {
                const std::uint64_t before = left;
                const Taken taken = kind == 0   ? ring.window.take(1, ring.out)
                                    : kind == 1 ? ring.window.take(4, ring.out, true)
                                    : kind == 2 ? ring.window.take_consecutive(2, 9, ring.out[0])
                                                : ring.window.take(left, ring.out);
                BOOST_TEST_REQUIRE(taken.result == TakeResult::taken);
                left -= taken.count + taken.skipped;
                BOOST_TEST(ring.window.left() == left);
                BOOST_TEST(taken.wake == (before > level && left <= level));
            }
        }
}

BOOST_AUTO_TEST_CASE(a_level_already_reached_is_told_and_then_no_take_says_it) {
    publish({1, 1, 5});
    check_took(window.take(3, out), {{1, 1, 3}});
    BOOST_TEST(window.wake_when_left(2));
    BOOST_TEST(window.wake_when_left(~std::uint64_t{0}));
    BOOST_TEST(!window.take(1, out).wake);
    BOOST_TEST(!window.take(1, out).wake);
    BOOST_TEST(window.wake_when_left(0));
}

BOOST_AUTO_TEST_CASE(a_new_window_wakes_nobody) {
    publish({1, 1, 2});
    BOOST_TEST(!window.take(2, out).wake);
}

BOOST_AUTO_TEST_CASE(the_level_is_found_in_a_ring_that_has_gone_round) {
    for (std::int64_t i = 0; i < 7; ++i) {
        publish({i * 10, 1, 5});
        if (i >= 3) BOOST_TEST(window.take(5, out).count == 5u);
    }
    publish({100, 1, 5});
    BOOST_TEST(window.full());
    BOOST_TEST(!window.wake_when_left(12));
    BOOST_TEST(!window.take(7, out).wake);
    BOOST_TEST(window.take(1, out).wake);
}

BOOST_AUTO_TEST_CASE(only_bytes_of_this_layout_are_a_window) {
    struct alignas(128) Bytes {
        std::array<std::byte, W::size_of_file(4)> all{};
    } bytes;
    auto& mapped = *reinterpret_cast<W::Header*>(bytes.all.data());
    mapped.magic = W::magic, mapped.version = W::version, mapped.slot_count = 4;
    BOOST_TEST(W::in(bytes.all).has_value());
    BOOST_TEST(!W::in(std::span{bytes.all}.first(bytes.all.size() - 1)).has_value());
    BOOST_TEST(!W::in(std::span{bytes.all}.first(100)).has_value());
    for (const std::uint64_t slot_count : {0ull, 1ull, 2ull, 3ull, 8ull, 1ull << 63}) {
        mapped.slot_count = slot_count;
        BOOST_TEST(!W::in(bytes.all).has_value());
    }
    mapped.slot_count = 4, mapped.version = W::version + 1;
    BOOST_TEST(!W::in(bytes.all).has_value());
    mapped.version = W::version, mapped.magic += 1;
    BOOST_TEST(!W::in(bytes.all).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
