// The C interface, where it promises more than the C++ that it stands before.
#include <next_id/next_id.h>
#include <pthread.h>

#include <boost/test/unit_test.hpp>
#include <future>

#include "tests/client/scripted_server.h"

namespace next_id::test {
namespace {

struct CFixture : ClientFixture {
    std::string address = "address=" + path, token_file = "token_file=" + directory.write("token", "secret\n");
    std::string window = "window=" + directory.path.string();
};

// What `work` returns in a thread that ends at the first cancellation point it comes to.
template <class Work>
int while_cancelled(Work work) {
    int outcome = -1, state = -1;
    std::thread{[&] {
        ::pthread_cancel(::pthread_self());
        outcome = work();
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    }}.join();
    BOOST_TEST(state == PTHREAD_CANCEL_ENABLE);  // as it was
    return outcome;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_c_interface_tests, CFixture)

BOOST_AUTO_TEST_CASE(a_thread_that_is_cancelled_gets_its_ids_first) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    const char* const options[] = {address.c_str(), token_file.c_str(), "sequence=s", window.c_str(), nullptr};
    next_id_client* client = nullptr;
    next_id_pool* pool = nullptr;
    BOOST_TEST_REQUIRE(next_id_client_open(options, &client) == NEXT_ID_OK);
    BOOST_TEST_REQUIRE(next_id_pool_open(options, &pool) == NEXT_ID_OK);
    std::int64_t id = 0, of_pool = 0;
    const int outcome = while_cancelled([&] {
        const int status = next_id_client_next(client, &id);
        next_id_client_close(client);
        return status;
    });
    BOOST_TEST(outcome == NEXT_ID_OK);
    BOOST_TEST(id == 1);
    BOOST_TEST(while_cancelled([&] { return next_id_pool_next(pool, &of_pool); }) == NEXT_ID_OK);
    BOOST_TEST(of_pool == 2);
    while_cancelled([&] { return next_id_pool_close(pool), 0; });
}

BOOST_AUTO_TEST_CASE(a_thread_that_is_cancelled_may_wait_for_another) {
    std::promise<void> asked;
    ScriptedServer server{path, [&](Peer& peer) {
                              peer.receive();
                              if (peer.number() == 1) asked.set_value();
                              peer.receive();  // and no answer
                          }};
    const char* const options[] = {address.c_str(), "timeout_ms=200", nullptr};
    next_id_pool* pool = nullptr;
    BOOST_TEST_REQUIRE(next_id_pool_open(options, &pool) == NEXT_ID_OK);
    const auto next = [&] {
        std::int64_t id = 0;
        return next_id_pool_next(pool, &id);
    };
    auto other = std::async(std::launch::async, next);
    asked.get_future().wait();
    BOOST_TEST(while_cancelled(next) == NEXT_ID_TIMED_OUT);
    BOOST_TEST(other.get() == NEXT_ID_TIMED_OUT);
    next_id_pool_close(pool);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
