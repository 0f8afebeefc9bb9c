#include <boost/test/unit_test.hpp>
#include <thread>

#include "sidecar/metrics/histogram.h"
#include "sidecar/metrics/serve_counters.h"

namespace next_id {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::uint64_t answers(const RequestCounters& requests, int code) {
    for (std::size_t place = 0; place < answer_codes.size(); ++place)
        if (answer_codes[place] == code) return requests.answers(place);
    return 0;
}

// Two threads that write to one line slow each other down.
static_assert(alignof(ServeCounters) == cache_lines_bytes && sizeof(RequestCounters) % cache_lines_bytes == 0);
static_assert(sizeof(LoneCounter) == cache_lines_bytes && sizeof(WaitCounters) == cache_lines_bytes);

}  // namespace

BOOST_AUTO_TEST_SUITE(counters_tests)

BOOST_AUTO_TEST_CASE(a_bucket_ends_with_its_own_bound) {
    Histogram histogram;
    for (const auto bound : Histogram::bounds) {
        histogram.observe(bound);
        histogram.observe(bound + Histogram::Duration{1});
    }
    const Histogram::Reading reading = histogram.read();
    BOOST_TEST(reading.counts.front() == 1U);
    for (std::size_t i = 1; i < reading.counts.size() - 1; ++i) BOOST_TEST(reading.counts[i] == 2U);
    BOOST_TEST(reading.counts.back() == 1U);  // beyond the last
    BOOST_TEST(reading.count() == 2 * Histogram::bounds.size());
}

BOOST_AUTO_TEST_CASE(an_observation_may_stand_for_several) {
    Histogram histogram;
    histogram.observe(milliseconds{2}, 5);
    histogram.observe(milliseconds{1});
    histogram.observe(milliseconds{-1});  // a clock that went back
    Histogram::Reading sum = histogram.read();
    BOOST_TEST(sum.count() == 7U);
    BOOST_TEST(sum.nanoseconds == 11'000'000U);
    histogram.add_to(sum);
    BOOST_TEST(sum.count() == 14U);
    BOOST_TEST(sum.nanoseconds == 22'000'000U);
}

BOOST_AUTO_TEST_CASE(every_status_has_its_own_count) {
    RequestCounters requests{1};
    for (std::size_t place = 0; place < answer_codes.size(); ++place)
        for (std::size_t i = 0; i <= place; ++i) requests.answered(answer_codes[place]);
    for (std::size_t place = 0; place < answer_codes.size(); ++place) BOOST_TEST(requests.answers(place) == place + 1);
}

BOOST_AUTO_TEST_CASE(what_is_timed_stands_for_all_since_the_last_time) {
    RequestCounters requests{1};
    const RequestCounters::Instant now{milliseconds{1000}};
    BOOST_TEST(requests.is_due(now));
    requests.answered(200);
    requests.took(microseconds{20});
    BOOST_TEST(requests.durations().read().count() == 1U);

    BOOST_TEST(!requests.is_due(now));  // the loop's clock has not moved
    for (int i = 0; i < 9; ++i) requests.answered(i % 3 == 0 ? 404 : 200);
    BOOST_TEST(requests.is_due(now + milliseconds{1}));
    requests.answered(503);
    requests.took(microseconds{200});
    const Histogram::Reading reading = requests.durations().read();
    BOOST_TEST(reading.counts[1] == 1U);
    BOOST_TEST(reading.counts[3] == 10U);
    BOOST_TEST(reading.nanoseconds == 20'000U + 10 * 200'000U);

    requests.took(microseconds{20});  // half a request came, or none
    BOOST_TEST(requests.durations().read().count() == 11U);
}

BOOST_AUTO_TEST_CASE(what_waited_stands_for_itself) {
    RequestCounters requests{1};
    requests.answered(200);  // not timed yet
    requests.answered(200);
    requests.waited(milliseconds{20});
    BOOST_TEST(requests.durations().read().counts[7] == 1U);
    requests.answered(200);
    requests.took(microseconds{20});
    BOOST_TEST(requests.durations().read().counts[1] == 2U);
    BOOST_TEST(requests.durations().read().count() == 3U);
}

BOOST_AUTO_TEST_CASE(given_ids_are_counted_where_they_went) {
    ServeCounters counters{2};
    counters.requests(ListenerName::http).gave(0, 1);
    counters.requests(ListenerName::http).gave(1, 10);
    counters.requests(ListenerName::socket).gave(1, 100);
    BOOST_TEST(counters.requests(ListenerName::http).ids(0) == 1U);
    BOOST_TEST(counters.requests(ListenerName::http).ids(1) == 10U);
    BOOST_TEST(counters.requests(ListenerName::socket).ids(0) == 0U);
    BOOST_TEST(counters.requests(ListenerName::socket).ids(1) == 100U);
    BOOST_TEST(answers(counters.requests(ListenerName::http), 200) == 2U);
    BOOST_TEST(answers(counters.requests(ListenerName::socket), 200) == 1U);
}

BOOST_AUTO_TEST_CASE(two_threads_raise_and_a_third_reads) {
    constexpr std::uint64_t each = 20'000;
    ServeCounters one{1}, other{1};
    SharedCounter shared;
    const auto raise = [&](ServeCounters& own) {
        for (std::uint64_t i = 0; i < each; ++i) {
            own.requests(ListenerName::http).gave(0, 2);
            shared.add();
        }
    };
    std::thread first{raise, std::ref(one)}, second{raise, std::ref(other)};
    const auto ids = [&] {
        return one.requests(ListenerName::http).ids(0) + other.requests(ListenerName::http).ids(0);
    };
    for (std::uint64_t seen = 0; shared.value() < 2 * each;) {
        const std::uint64_t now = ids();
        BOOST_TEST_REQUIRE(now >= seen);
        seen = now;
    }
    first.join();
    second.join();
    BOOST_TEST(ids() == 4 * each);
    BOOST_TEST(shared.value() == 2 * each);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
