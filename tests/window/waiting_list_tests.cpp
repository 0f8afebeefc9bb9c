// Those who wait are served in order, once, or told why not.
#include "sidecar/window/waiting_list.h"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/window/window_fixture.h"

namespace {

using namespace next_id;
using std::chrono::milliseconds;

struct Answer {
    std::uint64_t request;
    WaitResult result;
    std::vector<Range> ranges;
    bool operator==(const Answer&) const = default;
};

struct ListFixture : WindowFixture {
    std::unique_ptr<WindowFile> window = open_window(options());
    WaitingList list;
    std::vector<Range> scratch = std::vector<Range>(3);
    std::vector<Answer> answers;
    const Instant start{};

    WaitingList::Deliver deliver = [this](const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
        answers.push_back({waiter.request, result, {ranges.begin(), ranges.end()}});
    };
    WaitingList::Id park(std::uint64_t request, std::uint64_t ids, milliseconds wait = milliseconds{1000}) {
        const auto id = list.park({.ids = ids, .deadline = start + wait, .request = request});
        BOOST_TEST_REQUIRE(id.has_value());
        return *id;
    }
    std::vector<Answer> answered() { return std::exchange(answers, {}); }
    std::size_t serve() { return list.serve(*window, scratch, deliver).waiters; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(waiting_list_tests, ListFixture)

BOOST_AUTO_TEST_CASE(those_who_wait_are_served_in_order_of_arrival) {
    BOOST_TEST(list.empty());
    park(1, 3), park(2, 1), park(3, 2);
    BOOST_TEST(!list.empty());
    BOOST_TEST(list.size() == 3u);
    BOOST_TEST(list.demand() == 6u);
    BOOST_TEST(serve() == 0u);
    window->publish({10, 1, 5});
    BOOST_TEST(serve() == 2u);
    BOOST_TEST((answered() ==
                std::vector<Answer>{{1, WaitResult::served, {{10, 1, 3}}}, {2, WaitResult::served, {{13, 1, 1}}}}));
    BOOST_TEST(list.demand() == 2u);
    window->publish({20, 1, 5});
    BOOST_TEST(serve() == 1u);
    BOOST_TEST((answered() == std::vector<Answer>{{3, WaitResult::served, {{14, 1, 1}, {20, 1, 1}}}}));
    BOOST_TEST(list.empty());
    BOOST_TEST(window->left() == 4u);
}

BOOST_AUTO_TEST_CASE(a_large_request_is_not_starved_by_small_ones_behind_it) {
    park(1, 10), park(2, 1);
    window->publish({1, 1, 9});
    BOOST_TEST(serve() == 0u);
    BOOST_TEST(window->left() == 9u);
    window->publish({10, 1, 2});
    BOOST_TEST(serve() == 2u);
}

BOOST_AUTO_TEST_CASE(consecutive_ids_are_one_run) {
    list.park({.ids = 4, .consecutive = true, .skip_max = 2, .request = 1});
    window->publish({1, 1, 2});
    BOOST_TEST(serve() == 0u);
    window->publish({10, 1, 4});
    BOOST_TEST(serve() == 1u);
    BOOST_TEST((answered() == std::vector<Answer>{{1, WaitResult::served, {{10, 1, 4}}}}));
}

BOOST_AUTO_TEST_CASE(what_can_never_be_satisfied_is_refused_and_blocks_nobody) {
    park(1, 4), park(2, 3);  // four ranges, where there is room for three
    for (std::int64_t i = 0; i < 5; ++i) window->publish({i * 10, 1, 1});
    BOOST_TEST(serve() == 2u);
    BOOST_TEST((answered() == std::vector<Answer>{{1, WaitResult::refused, {}},
                                                  {2, WaitResult::served, {{0, 1, 1}, {10, 1, 1}, {20, 1, 1}}}}));

    while (!window->full()) window->publish({100, 2, 1});
    scratch.resize(100);
    park(3, 100), park(4, 1);
    BOOST_TEST(serve() == 2u);
    BOOST_TEST((answers.front().result == WaitResult::refused));
    answers.clear();

    list.park({.ids = 2, .consecutive = true, .skip_max = 1, .request = 5});
    BOOST_TEST(serve() == 1u);
    BOOST_TEST((answered() == std::vector<Answer>{{5, WaitResult::refused, {}}}));
}

BOOST_AUTO_TEST_CASE(those_whose_deadline_passed_are_told_and_take_nothing) {
    park(1, 5, milliseconds{30}), park(2, 5, milliseconds{10}), park(3, 5, milliseconds{20});
    BOOST_TEST((list.next_deadline() == start + milliseconds{10}));
    BOOST_TEST(list.expire(start + milliseconds{9}, deliver) == 0u);
    BOOST_TEST(list.expire(start + milliseconds{20}, deliver) == 2u);
    BOOST_TEST((answered() == std::vector<Answer>{{2, WaitResult::expired, {}}, {3, WaitResult::expired, {}}}));
    BOOST_TEST((list.next_deadline() == start + milliseconds{30}));
    window->publish({1, 1, 10});
    BOOST_TEST(serve() == 1u);
    BOOST_TEST((list.next_deadline() == never));
    BOOST_TEST(window->left() == 5u);
}

BOOST_AUTO_TEST_CASE(one_that_is_cancelled_gets_no_answer_and_one_that_was_answered_cannot_be) {
    const auto first = park(1, 5), second = park(2, 2);
    BOOST_TEST(list.cancel(first));
    BOOST_TEST(!list.cancel(first));
    window->publish({1, 1, 5});
    BOOST_TEST(serve() == 1u);
    BOOST_TEST((answered() == std::vector<Answer>{{2, WaitResult::served, {{1, 1, 2}}}}));
    BOOST_TEST(!list.cancel(second));
}

BOOST_AUTO_TEST_CASE(a_full_list_takes_no_more) {
    WaitingList two{2};
    BOOST_TEST(two.park({}).has_value());
    const auto second = two.park({});
    BOOST_TEST(!two.park({}).has_value());
    BOOST_TEST(two.cancel(*second));
    BOOST_TEST(two.park({}).has_value());
}

BOOST_AUTO_TEST_CASE(demand_does_not_wrap_round) {
    park(1, ~std::uint64_t{0} - 1), park(2, 5);
    BOOST_TEST(list.demand() == ~std::uint64_t{0});
}

BOOST_AUTO_TEST_CASE(all_can_be_failed_at_once) {
    park(1, 5), park(2, 2);
    BOOST_TEST(list.fail_all(deliver) == 2u);
    BOOST_TEST((answered() == std::vector<Answer>{{1, WaitResult::failed, {}}, {2, WaitResult::failed, {}}}));
    BOOST_TEST(list.empty());
    BOOST_TEST(list.fail_all(deliver) == 0u);
}

BOOST_AUTO_TEST_CASE(an_answer_may_park_again) {
    park(1, 1);
    window->publish({1, 1, 1});
    const WaitingList::Deliver park_again = [this](const Waiter&, WaitResult, std::span<const Range>) { park(2, 1); };
    BOOST_TEST(list.serve(*window, scratch, park_again).waiters == 1u);
    BOOST_TEST(list.size() == 1u);
}

BOOST_AUTO_TEST_CASE(serving_tells_of_the_wake_that_its_takes_were_given) {
    window->publish({1, 1, 5});
    BOOST_TEST(!window->wake_when_left(3));
    park(1, 1);
    BOOST_TEST(!list.serve(*window, scratch, deliver).wake);
    park(2, 1), park(3, 1);
    BOOST_TEST(list.serve(*window, scratch, deliver).wake);
}

BOOST_AUTO_TEST_CASE(threads_that_park_and_cancel_are_each_answered_once_or_not_at_all) {
    constexpr std::uint64_t threads = 3, requests = 4000;
    std::vector<std::atomic<int>> state(threads * requests);  // 1: cancelled, 100 for each answer
    std::atomic<std::uint64_t> open{0}, begun{0}, answered_ids{0};
    const WaitingList::Deliver count = [&](const Waiter& waiter, WaitResult, std::span<const Range> ranges) {
        state[waiter.request] += 100;
        for (const Range& range : ranges) answered_ids += range.count;
        --open;
    };
    std::vector<std::thread> parking;
    for (unsigned t = 0; t < threads; ++t)
        parking.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < requests; ++i) {
                ++open;
                const std::uint64_t request = t * requests + i;
                const auto id = list.park({.ids = 1 + i % 3, .thread = t, .request = request});
                if (i % 4 == 0 && id && list.cancel(*id)) state[request] += 1, --open;
                ++begun;
                while (open > 100) std::this_thread::yield();
            }
        });
    std::uint64_t published = 0;
    while (begun != threads * requests || open != 0) {
        if (window->left() < 100) published += window->publish({std::int64_t(published), 1, 50});
        list.serve(*window, scratch, count);
        std::this_thread::yield();
    }
    for (std::thread& thread : parking) thread.join();
    std::uint64_t wrong = 0;
    for (const auto& one : state) wrong += one != 1 && one != 100;
    BOOST_TEST(wrong == 0u);
    BOOST_TEST(answered_ids + window->left() == published);
}

BOOST_AUTO_TEST_SUITE_END()
