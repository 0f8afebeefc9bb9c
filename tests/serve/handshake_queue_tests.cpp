#include "sidecar/serve/handshake_queue.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <latch>
#include <memory>
#include <optional>
#include <vector>

#include "tests/serve/loop_fixture.h"
#include "tests/serve/tls_fixture.h"

namespace next_id {
namespace {

// Of the thread that takes steps.
struct Taking {
    std::thread::id thread;
    int niceness = 0;
    std::latch begun{1}, may_end{1};
};

// OpenSSL calls this in the middle of a step: it is about to choose a certificate.
int look_around(SSL*, void* argument) {
    auto& taking = *static_cast<Taking*>(argument);
    taking.thread = std::this_thread::get_id();
    taking.niceness = getpriority(PRIO_PROCESS, 0);
    taking.begun.count_down();
    taking.may_end.wait();
    return 1;
}

struct QueueFixture : LoopFixture, Taking {
    struct Handshake final : HandshakeQueue::Waiter {
        Handshake(QueueFixture& owner, int its_number) : fixture{owner}, number{its_number} {}
        void on_step(HandshakeQueue::Step done) override {
            fixture.order.push_back(number);
            last = std::move(done);
        }
        QueueFixture& fixture;
        const int number;
        HandshakeQueue::Step last;
    };

    QueueFixture() { SSL_CTX_set_cert_cb(looked_at.get(), look_around, static_cast<Taking*>(this)); }
    ~QueueFixture() { queue.reset(); }

    // Bytes that make a step short, if they are no beginning of TLS.
    Handshake& add(const TlsContext& of, std::string bytes) {
        handshakes.push_back(std::make_unique<Handshake>(*this, static_cast<int>(handshakes.size())));
        queue->add(*handshakes.back(), {std::make_unique<TlsSession>(of), std::move(bytes)});
        return *handshakes.back();
    }
    Handshake& add() { return add(context, "no TLS"); }
    Handshake& add_hello() { return add(looked_at, TlsClient{{}}.take()); }

    const TlsContext context = std::move(*make_context(test_certificate()));
    const TlsContext looked_at = std::move(*make_context(test_certificate()));
    std::vector<std::unique_ptr<Handshake>> handshakes;
    std::vector<int> order;
    std::optional<HandshakeQueue> queue{std::in_place, &loop};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(handshake_queue_tests, QueueFixture)

BOOST_AUTO_TEST_CASE(a_step_keeps_neither_the_loop_nor_its_thread) {
    const Handshake& hello = add_hello();
    begun.wait();
    settle();
    BOOST_TEST(order.empty());
    BOOST_TEST((thread != std::this_thread::get_id()));
    BOOST_TEST(niceness == getpriority(PRIO_PROCESS, 0) + 10);
    may_end.count_down();
    BOOST_TEST_REQUIRE(run_until([&] { return !order.empty(); }));
    BOOST_TEST((hello.last.session->state() == TlsSession::State::handshaking));
    BOOST_TEST(!hello.last.out.empty());
}

BOOST_AUTO_TEST_CASE(first_come_first_served) {
    for (int i = 0; i < 100; ++i) add();
    BOOST_TEST(run_until([&] { return order.size() == 100; }));
    for (int i = 0; i < 100; ++i) BOOST_TEST_REQUIRE(order[static_cast<std::size_t>(i)] == i);
    BOOST_TEST((handshakes[99]->last.session->state() == TlsSession::State::not_tls));
}

BOOST_AUTO_TEST_CASE(what_has_begun_goes_on_before_others_begin) {
    Handshake &first = add(context, TlsClient{{}}.take()), &second = add(context, TlsClient{{}}.take());
    BOOST_TEST_REQUIRE(run_until([&] { return order.size() == 2; }));
    add_hello();
    begun.wait();
    add();
    for (Handshake* one : {&second, &first}) queue->add(*one, {std::move(one->last.session), "no TLS"});
    may_end.count_down();
    BOOST_TEST_REQUIRE(run_until([&] { return order.size() == 6; }));
    BOOST_TEST(order == (std::vector{0, 1, 2, 1, 0, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_has_gone_is_not_told) {
    const auto go = [&](Handshake& gone) {
        queue->remove(gone);
        queue->remove(gone);
    };
    Handshake& taken = add_hello();
    begun.wait();
    Handshake& waiting = add();
    add();
    go(taken);
    go(waiting);
    may_end.count_down();
    BOOST_TEST(run_until([&] { return !order.empty(); }));
    settle();
    BOOST_TEST(order == std::vector{2}, boost::test_tools::per_element());
    queue->add(waiting, {std::make_unique<TlsSession>(context), "no TLS"});
    BOOST_TEST(run_until([&] { return order.size() == 2; }));
}

BOOST_AUTO_TEST_CASE(who_is_told_may_remove_others_that_are_done) {
    struct Remover final : HandshakeQueue::Waiter {
        explicit Remover(QueueFixture& owner) : fixture{owner} {}
        void on_step(HandshakeQueue::Step) override { fixture.queue->remove(*fixture.handshakes[1]); }
        QueueFixture& fixture;
    } remover{*this};
    add_hello();
    queue->add(remover, {std::make_unique<TlsSession>(context), "no TLS"});
    add();
    add();
    may_end.count_down();
    BOOST_TEST(run_until([&] { return order.size() == 2; }));
    BOOST_TEST(order == (std::vector{0, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_end_with_steps_left_tells_nobody) {
    add_hello();
    begun.wait();
    add();
    may_end.count_down();
    queue.reset();
    settle();
    BOOST_TEST(order.empty());
}

BOOST_AUTO_TEST_CASE(without_a_thread_a_step_is_taken_at_once) {
    pthread_attr_t before, larger_than_memory;
    pthread_getattr_default_np(&before);
    pthread_getattr_default_np(&larger_than_memory);
    pthread_attr_setstacksize(&larger_than_memory, std::size_t{1} << 50);
    BOOST_TEST_REQUIRE(pthread_setattr_default_np(&larger_than_memory) == 0);
    add();
    BOOST_TEST(order.size() == 1u);
    pthread_setattr_default_np(&before);
    add();
    BOOST_TEST(order.size() == 1u);
    BOOST_TEST(run_until([&] { return order.size() == 2; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
