#include "sidecar/serve/outbox.h"

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <utility>

#include "tests/serve/loop_fixture.h"

namespace next_id {
namespace {

struct OutboxFixture : LoopFixture {
    struct Log final : Outbox::Writer {
        void on_flush(std::string_view bytes) override { written.append(bytes) += "|"; }
        std::string written;
    };

    ~OutboxFixture() { outbox.reset(); }

    Log one, two;
    std::optional<Outbox> outbox{std::in_place, &loop};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(outbox_tests, OutboxFixture)

BOOST_AUTO_TEST_CASE(the_end_of_a_turn_writes_what_was_added) {
    outbox->add(one, "a");
    outbox->add(two, "bc");
    outbox->add(one, "d");
    BOOST_TEST(one.written.empty());
    uv_run(&loop, UV_RUN_NOWAIT);
    BOOST_TEST(one.written == "a|d|");
    BOOST_TEST(two.written == "bc|");
    settle();
    BOOST_TEST(one.written == "a|d|");
}

// The loop may wait long after its timers.
BOOST_AUTO_TEST_CASE(what_a_timer_brings_about_is_written_before_the_loop_waits) {
    outbox.reset();
    bool written = false;
    const auto before_waiting =  // prepare handles run in the reverse order of their starts
        make_handle<uv_prepare_t>(this, [&](uv_prepare_t* handle) { return uv_prepare_init(&loop, handle); });
    std::pair<OutboxFixture*, bool*> fixture_and_result{this, &written};
    before_waiting->data = &fixture_and_result;
    uv_prepare_start(before_waiting.get(), [](uv_prepare_t* handle) {
        const auto& [fixture, result] = *static_cast<std::pair<OutboxFixture*, bool*>*>(handle->data);
        *result |= fixture->one.written == "a|";
    });
    outbox.emplace(&loop);
    const auto timer = make_handle<uv_timer_t>(this, [&](uv_timer_t* handle) { return uv_timer_init(&loop, handle); });
    uv_timer_start(
        timer.get(),
        [](uv_timer_t* handle) {
            auto* const fixture = static_cast<OutboxFixture*>(handle->data);
            if (fixture != nullptr) fixture->outbox->add(fixture->one, "a");
        },
        0, 0);
    uv_run(&loop, UV_RUN_NOWAIT);
    BOOST_TEST(written);
}

BOOST_AUTO_TEST_CASE(a_flush_does_not_wait_for_it) {
    outbox->add(one, "a");
    outbox->flush();
    BOOST_TEST(one.written == "a|");
    outbox->flush();
    settle();
    BOOST_TEST(one.written == "a|");
}

BOOST_AUTO_TEST_CASE(many_answers_do_not_wait_for_it) {
    for (int i = 0; i < 64; ++i) {
        BOOST_TEST(one.written.empty());
        outbox->add(one, "a");
    }
    BOOST_TEST(one.written.size() == 128U);
}

BOOST_AUTO_TEST_CASE(much_does_not_wait_for_it) {
    outbox->add(one, std::string(Outbox::bytes_max - 1, 'a'));
    BOOST_TEST(one.written.empty());
    outbox->add(two, "b");
    BOOST_TEST(one.written.size() == Outbox::bytes_max);
    BOOST_TEST(two.written == "b|");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
