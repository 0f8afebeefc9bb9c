// Counts what operator new gives out in this program, to show that a request in the steady state needs no memory.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <new>
#include <optional>

#include "sidecar/serve/connection_set.h"
#include "sidecar/serve/id_handler.h"
#include "tests/api/supply_fixture.h"
#include "tests/protocol/resp_outcome.h"
#include "tests/serve/connection_fixture.h"

namespace {
thread_local std::size_t allocations = 0;

void* allocate(std::size_t size) {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}

void* allocate_or_throw(std::size_t size) {
    void* const memory = allocate(size);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}
}  // namespace

void* operator new(std::size_t size) {
    return allocate_or_throw(size);
}
void* operator new[](std::size_t size) {
    return allocate_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}

namespace next_id {
namespace {

struct AllocationFixture : SupplyFixture, LoopFixture {
    AllocationFixture() {
        publish(1, 1'000'000);
        auto [client, descriptor] = unix_pair();
        peer.emplace(std::move(client));
        peer->received.reserve(1'000'000);
        connections->adopt({FileDescriptor{descriptor}, {}, {.listener = ListenerName::socket}});
    }
    ~AllocationFixture() { connections.reset(); }

    // Sends the requests and takes their answers; returns how often memory was allocated meanwhile.
    std::size_t allocations_of(std::string_view requests, std::size_t answer_bytes) {
        const std::size_t before = allocations;
        peer->received.clear();
        peer->send(requests);
        const bool answered = run_until([&] { return peer->has(answer_bytes); });
        const std::size_t after = allocations;
        BOOST_TEST_REQUIRE(answered);
        return after - before;
    }

    IdHandler handler{IdService{{&supply}, {{"app.ids"}, 1'000'000}}, 0, std::chrono::seconds{1}};
    std::optional<ConnectionSet> connections{std::in_place, &loop, handler, &handler};
    std::optional<Peer> peer;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(allocations_tests, AllocationFixture)

BOOST_AUTO_TEST_CASE(the_counter_counts) {
    const std::size_t before = allocations;
    const auto some = std::make_unique<int>(1);
    BOOST_TEST(allocations == before + 1);
}

BOOST_AUTO_TEST_CASE(a_request_on_an_open_connection_allocates_nothing) {
    const std::string request = "GET /next-id HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nUser-Agent: curl/8\r\n\r\n";
    std::string ten;
    for (int i = 0; i < 10; ++i) ten += request;
    for (int i = 0; i < 20; ++i) allocations_of(i % 2 == 0 ? std::string_view{request} : std::string_view{ten}, 150);
    std::size_t counted = 0;
    for (int i = 0; i < 1000; ++i) counted += allocations_of(request, 150);
    for (int i = 0; i < 100; ++i) counted += allocations_of(ten, 1500);
    BOOST_TEST(counted == 0);
}

BOOST_AUTO_TEST_CASE(text_by_accept_allocates_nothing_either) {
    const std::string request = "POST /next-id HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n";
    for (int i = 0; i < 20; ++i) allocations_of(request, 100);
    std::size_t counted = 0;
    for (int i = 0; i < 1000; ++i) counted += allocations_of(request, 100);
    BOOST_TEST(counted == 0);
}

BOOST_AUTO_TEST_CASE(a_command_of_resp_allocates_nothing_either) {
    const std::string one = resp({"INCR", "app.ids"}), other = resp({"INCRBY", "app.ids", "1"});
    std::string ten;
    for (int i = 0; i < 5; ++i) ten += one + other;
    for (int i = 0; i < 20; ++i) allocations_of(i % 2 == 0 ? std::string_view{one} : std::string_view{ten}, 4);
    std::size_t counted = 0;
    for (int i = 0; i < 1000; ++i) counted += allocations_of(one, 4);
    for (int i = 0; i < 100; ++i) counted += allocations_of(ten, 60);
    BOOST_TEST(counted == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
