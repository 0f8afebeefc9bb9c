// The refill of one sequence over a real window in memory, with time, dice and PostgreSQL in the test's hands.
#pragma once

#include <stdlib.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sidecar/refill/sequence_refill.h"
#include "tests/refill/fake_sequence.h"
#include "tests/refill/issued_ids.h"

namespace next_id::test {

// In memory, as the state directory of a pod is: windows on a disk are not adopted.
class MemoryDir {
 public:
    MemoryDir() {
        char name[] = "/dev/shm/next-id-refill.XXXXXX";
        BOOST_REQUIRE(mkdtemp(name) != nullptr);
        path_ = name;
    }
    MemoryDir(const MemoryDir&) = delete;
    MemoryDir& operator=(const MemoryDir&) = delete;
    ~MemoryDir() { std::filesystem::remove_all(path_); }
    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

struct Delivery {
    std::uint64_t request;
    WaitResult result;
    std::vector<Range> ranges;
};

inline std::unique_ptr<Supply> make_supply(const MemoryDir& dir, std::vector<Delivery>& deliveries,
                                           std::function<void()> ring, const std::string& sequence = "s",
                                           std::uint64_t slot_count = 1024, const std::string& digest = "digest") {
    auto window = WindowFile::open({.state_dir = dir.path() / "state",
                                    .sequence = sequence,
                                    .source_digest = digest,
                                    .pod_uid = "",
                                    .slot_count = slot_count});
    BOOST_REQUIRE_MESSAGE(window, (window ? "" : window.error()));
    const auto deliver = [&deliveries](const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
        deliveries.push_back({waiter.request, result, {ranges.begin(), ranges.end()}});
    };
    return std::make_unique<Supply>(sequence, std::move(*window), Supply::Wiring{std::move(ring), deliver});
}

// Takes up to `n` IDs, fewer when there are no more.
inline std::vector<Range> take(Supply& supply, std::uint64_t n) {
    std::vector<Range> ranges(supply.window().slot_count());
    const Taken taken = n == 0 ? Taken{} : supply.window().take(n, ranges, true);
    ranges.resize(taken.result == TakeResult::taken ? taken.ranges : 0);
    return ranges;
}

inline std::uint64_t count_of(const std::vector<Range>& ranges) {
    std::uint64_t count = 0;
    for (const Range& range : ranges) count += range.count;
    return count;
}

struct RefillFixture {
    using Kind = SequenceRefill::Step::Kind;
    using Severity = SequenceRefill::Severity;

    MemoryDir dir;
    FakeSequence sequence;
    SequenceRefill::Settings settings;
    std::uint64_t slot_count = 1024;
    std::string digest = "digest";  // of the settings with which it starts
    Instant now{std::chrono::seconds{1000}};
    double dice = 0.5;
    std::vector<Delivery> deliveries;
    std::vector<std::string> reports;
    IssuedIds issued;
    std::uint64_t statements = 0;  // that reserve
    std::unique_ptr<Supply> supply;
    std::unique_ptr<SequenceRefill> refill;

    // The process starts, or starts anew over the window that the last one left.
    void start() {
        refill.reset();
        supply.reset();
        supply = make_supply(
            dir, deliveries, [] {}, "s", slot_count, digest);
        refill = std::make_unique<SequenceRefill>(
            *supply, settings, [this](Severity, const std::string& message) { reports.push_back(message); },
            [this] { return dice; });
    }

    // No window was there before, and the sequence is new.
    void start_afresh() {
        refill.reset();
        supply.reset();
        std::filesystem::remove_all(dir.path() / "state");
        issued = {};
        start();
    }

    // Makes one step and hands over PostgreSQL's answer, after `meanwhile`. Returns its kind.
    Kind step(const std::function<void()>& meanwhile = [] {}) {
        const SequenceRefill::Step step = refill->next_step(now);
        if (step.kind == Kind::none) return step.kind;
        if (step.kind == Kind::inspect) {
            refill->on_inspected(now, sequence.inspect());
            return step.kind;
        }
        ++statements;
        const auto answer = sequence.reserve(step.values, supply->window().mark());
        meanwhile();
        if (answer)
            refill->on_reserved(now, *answer);
        else
            refill->on_failed(now, "2200H", "nextval: reached maximum value of sequence");
        return step.kind;
    }
    void run() {
        for (int steps = 0; step() != Kind::none; ++steps) BOOST_REQUIRE(steps < 10'000);
    }
    void run_for(std::chrono::seconds time) {
        for (const Instant end = now + time; now < end; now += std::chrono::seconds{1}) {
            refill->tick(now);
            run();
        }
    }

    // Takes what there is of `n`, each for the first time.
    std::uint64_t take_ids(std::uint64_t n) {
        const auto ranges = take(*supply, n);
        BOOST_REQUIRE(issued.add(ranges));
        return count_of(ranges);
    }
    void park(std::uint64_t ids, std::uint64_t request = 1) {
        BOOST_REQUIRE(supply->waiting().park({.ids = ids, .request = request}));
    }
    bool reported(const std::string& text) const {
        return std::ranges::any_of(reports, [&](const auto& line) { return line.find(text) != std::string::npos; });
    }
};

// With a window of 1000 IDs, of which none has been taken.
struct StartedRefill : RefillFixture {
    StartedRefill() {
        settings.policy = {.reserve = std::chrono::seconds{60}, .window_min = 1000, .window_max = 10'000'000};
        start();
        run();
    }
    std::uint64_t left() const { return refill->left(); }
    void wait_out_the_backoff() { now += std::chrono::seconds{6}; }

    // The window is taken down to where a refill is due.
    void use_up() { take_ids(left() - std::min(left(), refill->policy().refill_level())); }

    // Finds the sequence gone back, at the next refill or inspection.
    void find_it_gone_back() {
        use_up();
        run();
        BOOST_REQUIRE(refill->state() == RefillState::latched);
    }
};

}  // namespace next_id::test
