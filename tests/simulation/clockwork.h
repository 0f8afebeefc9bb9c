// Simulated time: events in the order of their instants, and the dice that decide about them. A seed gives the same run
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "sidecar/base/clock.h"
#include "sidecar/base/require.h"

namespace next_id::simulation {

class Clockwork {
 public:
    explicit Clockwork(std::uint64_t seed) : random_{seed} {}

    Instant now() const { return now_; }
    void at(Instant when, std::function<void()> event) {
        events_.emplace(std::pair{std::max(when, now_), order_++}, std::move(event));
    }
    void after(Duration wait, std::function<void()> event) { at(now_ + wait, std::move(event)); }

    // Ends the program when time stands still: somebody spins.
    void run_until(Instant end) {
        constexpr int events_in_an_instant_max = 1'000'000;
        int events = 0;
        while (!events_.empty() && events_.begin()->first.first <= end) {
            const auto first = events_.begin();
            events = first->first.first == now_ ? events + 1 : 0;
            require(events < events_in_an_instant_max);
            now_ = first->first.first;
            const auto event = std::move(first->second);
            events_.erase(first);
            event();
        }
        now_ = end;
    }

    bool chance(double probability) { return share() < probability; }
    double share() { return std::uniform_real_distribution<double>{0, 1}(random_); }
    std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>{least, most}(random_);
    }
    // Mostly short, sometimes long.
    Duration wait_of_about(double seconds) {
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(std::exponential_distribution<double>{1 / seconds}(random_)));
    }

 private:
    Instant now_{std::chrono::seconds{1000}};
    std::uint64_t order_ = 0;
    std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> events_;
    std::mt19937_64 random_;
};

}  // namespace next_id::simulation
