#include "sidecar/serve/handshake_queue.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "tests/serve/loop_fixture.h"

namespace next_id {
namespace {

struct QueueFixture : LoopFixture {
    struct Step final : HandshakeQueue::Waiter {
        Step(QueueFixture& owner, int its_number) : fixture{owner}, number{its_number} {}
        void on_turn() override { fixture.order.push_back(number); }
        QueueFixture& fixture;
        const int number;
    };

    Step& add() {
        steps.push_back(std::make_unique<Step>(*this, static_cast<int>(steps.size())));
        queue->add(*steps.back());
        return *steps.back();
    }

    std::vector<std::unique_ptr<Step>> steps;
    std::vector<int> order;
    std::optional<HandshakeQueue> queue{std::in_place, &loop};
    ~QueueFixture() { queue.reset(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(handshake_queue_tests, QueueFixture)

BOOST_AUTO_TEST_CASE(a_turn_of_the_loop_has_one_step) {
    for (int i = 0; i < 5; ++i) add();
    for (std::size_t turns = 1; turns <= 5; ++turns) {
        uv_run(&loop, UV_RUN_NOWAIT);
        BOOST_TEST(order.size() == turns);
    }
}

BOOST_AUTO_TEST_CASE(first_come_first_served_and_the_loop_does_not_wait_between) {
    for (int i = 0; i < 100; ++i) add();
    BOOST_TEST(run_until([&] { return order.size() == 100; }));
    for (int i = 0; i < 100; ++i) BOOST_TEST_REQUIRE(order[static_cast<std::size_t>(i)] == i);
}

BOOST_AUTO_TEST_CASE(who_has_gone_has_no_turn) {
    add();
    Step& gone = add();
    add();
    queue->remove(gone);
    queue->remove(gone);
    BOOST_TEST(run_until([&] { return order.size() == 2; }));
    settle();
    BOOST_TEST(order == (std::vector{0, 2}), boost::test_tools::per_element());
    queue->add(gone);
    BOOST_TEST(run_until([&] { return order.size() == 3; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
