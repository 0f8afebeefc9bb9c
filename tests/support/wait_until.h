// Waits for a condition with a deadline: the only place in the tests that sleeps.
#pragma once

#include <chrono>
#include <thread>

namespace next_id::test {

// True iff `condition` held before the deadline.
template <class Condition>
bool wait_until(Condition condition, std::chrono::milliseconds deadline = std::chrono::seconds{20}) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return true;
}

}  // namespace next_id::test
