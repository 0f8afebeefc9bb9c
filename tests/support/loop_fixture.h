// A uv loop for one test. When the test is over and its objects are gone, nothing may be left on the loop: each handle
// closing, each request coming back, uv_loop_close() at 0.
#pragma once

#include <uv.h>

#include <boost/test/unit_test.hpp>
#include <chrono>

namespace next_id::test {

class LoopFixture {
 public:
    LoopFixture() { BOOST_REQUIRE_EQUAL(uv_loop_init(&loop_), 0); }
    LoopFixture(const LoopFixture&) = delete;
    LoopFixture& operator=(const LoopFixture&) = delete;
    ~LoopFixture() {
        int open = 0;
        uv_walk(
            &loop_, [](uv_handle_t* handle, void* count) { *static_cast<int*>(count) += uv_is_closing(handle) == 0; },
            &open);
        BOOST_CHECK_MESSAGE(open == 0, open << " handles have no owner any more");
        if (open == 0) uv_run(&loop_, UV_RUN_DEFAULT);
        BOOST_CHECK_EQUAL(uv_loop_close(&loop_), 0);
    }

    uv_loop_t* loop() { return &loop_; }

    // Turns the loop until `condition` holds; false when the deadline passes first.
    template <class Condition>
    bool run_until(Condition condition, std::chrono::milliseconds deadline = std::chrono::seconds{20}) {
        const auto end = std::chrono::steady_clock::now() + deadline;
        auto* tick = new uv_timer_t;  // wakes the loop to look at the condition
        uv_timer_init(&loop_, tick);
        uv_timer_start(
            tick, [](uv_timer_t*) {}, 5, 5);
        bool held = condition();
        while (!held && std::chrono::steady_clock::now() < end) {
            uv_run(&loop_, UV_RUN_ONCE);
            held = condition();
        }
        uv_close(reinterpret_cast<uv_handle_t*>(tick),
                 [](uv_handle_t* closed) { delete reinterpret_cast<uv_timer_t*>(closed); });
        return held;
    }

 private:
    uv_loop_t loop_{};
};

}  // namespace next_id::test
