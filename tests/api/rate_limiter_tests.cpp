#include "sidecar/api/rate_limiter.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <thread>
#include <vector>

namespace next_id {
namespace {

using namespace std::chrono_literals;

const Instant start{1000s};

Client v4(std::uint32_t address) {
    Client client{.transport = Client::Transport::ipv4};
    for (std::size_t i = 0; i < 4; ++i) client.address[i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
    return client;
}

Client v6(std::uint8_t network, std::uint8_t host) {
    Client client{.transport = Client::Transport::ipv6};
    client.address[0] = 0x20;
    client.address[7] = network;
    client.address[15] = host;
    return client;
}

Client user(std::uint32_t uid) {
    return {.transport = Client::Transport::unix_socket, .uid = uid};
}

RateLimiter of_requests(std::uint64_t count, std::uint64_t burst, std::size_t sets = 16) {
    return RateLimiter{{.rate = {count, 1s}, .burst = burst}, 42, sets};
}

// How many of `tries` requests at the same time are granted.
unsigned granted(RateLimiter& limiter, const Client& client, Instant now, unsigned tries = 1000) {
    unsigned count = 0;
    while (tries-- > 0) count += limiter.take(client, 1, now) == Duration::zero();
    return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_limiter_tests)

BOOST_AUTO_TEST_CASE(a_client_has_its_burst_at_once_and_then_its_rate) {
    RateLimiter limiter = of_requests(100, 50);
    BOOST_TEST(granted(limiter, user(1), start) == 50U);
    BOOST_TEST(granted(limiter, user(1), start + 100ms) == 10U);
    BOOST_TEST(granted(limiter, user(1), start + 200ms) == 10U);
    BOOST_TEST(granted(limiter, user(1), start + 1h) == 50U);  // a bucket that is full gets no fuller
}

BOOST_AUTO_TEST_CASE(a_refusal_says_how_long_and_costs_nothing) {
    RateLimiter limiter = of_requests(10, 1);
    BOOST_TEST((limiter.take(user(1), 1, start) == 0ms));
    for (int i = 0; i < 10; ++i) BOOST_TEST((limiter.take(user(1), 1, start) == 100ms));
    BOOST_TEST((limiter.take(user(1), 1, start + 60ms) == 40ms));
    BOOST_TEST((limiter.take(user(1), 1, start + 100ms) == 0ms));
}

BOOST_AUTO_TEST_CASE(a_request_counts_as_many_as_the_ids_it_asks_for) {
    RateLimiter limiter{{.rate = {1000, 1s}, .burst = 10'000, .of_ids = true}, 42, 16};
    BOOST_TEST((limiter.take(user(1), 10'001, start) > 0ms));
    BOOST_TEST((limiter.take(user(1), 10'000, start) == 0ms));
    BOOST_TEST((limiter.take(user(1), 10'000, start) == 10s));
    BOOST_TEST((limiter.take(user(1), 1, start + 1ms) == 0ms));
    RateLimiter requests = of_requests(10, 1);
    BOOST_TEST((requests.take(user(1), 10'000, start) == 0ms));  // unless it counts requests
}

BOOST_AUTO_TEST_CASE(slow_and_fast_rates_are_kept) {
    RateLimiter slow{{.rate = {1, 1h}, .burst = 1}, 42, 16};
    BOOST_TEST((slow.take(user(1), 1, start) == 0s));
    BOOST_TEST((slow.take(user(1), 1, start) == 1h));
    RateLimiter fast{{.rate = {1'000'000'000, 1s}, .burst = 1'000'000'000, .of_ids = true}, 42, 16};
    BOOST_TEST((fast.take(user(1), 1'000'000'000, start) == 0s));
    BOOST_TEST((fast.take(user(1), 1'000'000'000, start) == 1s));
}

BOOST_AUTO_TEST_CASE(each_client_has_a_bucket_of_its_own) {
    RateLimiter limiter = of_requests(1, 3);
    const std::vector<Client> clients{user(1), user(2), v4(1), v4(2), v6(1, 1), v6(2, 1)};
    for (const Client& client : clients) BOOST_TEST(granted(limiter, client, start) == 3U);
    for (const Client& client : clients) BOOST_TEST(granted(limiter, client, start) == 0U);
}

BOOST_AUTO_TEST_CASE(an_ipv6_network_of_64_bits_is_one_client) {
    RateLimiter limiter = of_requests(1, 3);
    BOOST_TEST(granted(limiter, v6(1, 1), start) == 3U);
    BOOST_TEST(granted(limiter, v6(1, 2), start) == 0U);
    BOOST_TEST(granted(limiter, v6(2, 2), start) == 3U);
}

BOOST_AUTO_TEST_CASE(thousands_of_clients_do_not_disturb_one_another) {
    RateLimiter limiter = of_requests(1, 3, RateLimiter::sets_default);
    for (std::uint32_t i = 0; i < 10'000; ++i) BOOST_TEST_REQUIRE(granted(limiter, v4(i), start, 5) == 3U);
    for (std::uint32_t i = 0; i < 10'000; ++i) BOOST_TEST_REQUIRE(granted(limiter, v4(i), start, 5) == 0U);
}

// The table has 16 places, and all clients fall into the same set.
BOOST_AUTO_TEST_CASE(no_number_of_addresses_wins_back_what_was_spent) {
    RateLimiter limiter = of_requests(1, 100, 1);
    BOOST_TEST(granted(limiter, user(1), start) == 100U);
    unsigned more = 0;
    for (std::uint32_t i = 0; i < 10'000; ++i) more += granted(limiter, v4(i), start, 100);
    BOOST_TEST(more == 15 * 100U);  // the places that were free, and no more
    BOOST_TEST(granted(limiter, user(1), start) == 0U);
    BOOST_TEST(granted(limiter, v4(70'000), start) == 0U);  // the price: a newcomer has to wait as the others do
    BOOST_TEST(granted(limiter, v4(70'000), start + 10s) == 10U);
}

BOOST_AUTO_TEST_CASE(whatever_is_asked_nobody_gets_more_than_burst_and_rate) {
    const unsigned seed = std::random_device{}();
    BOOST_TEST_MESSAGE("seed " << seed);
    std::mt19937 random{seed};
    RateLimiter limiter = of_requests(20, 7, 2);
    std::vector<unsigned> got(100);
    Duration passed{};
    for (int i = 0; i < 100'000; ++i) {
        const auto who = random() % got.size();
        got[who] += limiter.take(v4(static_cast<std::uint32_t>(who)), 1, start + passed) == Duration::zero();
        passed += std::chrono::microseconds{random() % 200};
    }
    const auto most = 7 + 1 + static_cast<unsigned>(20 * std::chrono::duration<double>(passed).count());
    for (std::size_t who = 0; who < got.size(); ++who)
        BOOST_TEST(got[who] <= most, "seed " << seed << ": " << got[who] << " of " << most);
}

BOOST_AUTO_TEST_CASE(threads_share_the_buckets) {
    RateLimiter limiter = of_requests(1, 10'000);
    std::vector<std::thread> threads;
    std::vector<unsigned> got(4);
    for (unsigned& mine : got) threads.emplace_back([&] { mine = granted(limiter, user(1), start, 5000); });
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(got[0] + got[1] + got[2] + got[3] == 10'000U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
