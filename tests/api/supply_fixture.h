// A configured sequence with a window of its own on a tmpfs, filled by hand: what the refill does otherwise.
#pragma once

#include <atomic>

#include "sidecar/window/supply.h"
#include "tests/window/window_fixture.h"

namespace next_id {

struct SupplyFixture : WindowFixture {
    explicit SupplyFixture(WaitingList::Deliver deliver = {}) : deliver_{std::move(deliver)} { supply.set_trouble({}); }

    void publish(std::int64_t first, std::uint64_t count, std::int64_t step = 1) {
        BOOST_TEST_REQUIRE(supply.window().publish({first, step, count}) == count);
    }

    // As the refill thread does after it has published.
    void serve_waiting() {
        std::vector<Range> scratch(64);
        supply.waiting().serve(supply.window(), scratch, supply.deliver());
    }

    std::atomic<unsigned> rings = 0;
    WaitingList::Deliver deliver_;
    Supply supply{"app.ids", open_window(options()), {.ring = [this] { ++rings; }, .deliver = deliver_}};
};

}  // namespace next_id
