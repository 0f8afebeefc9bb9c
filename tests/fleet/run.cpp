#include "tests/fleet/run.h"

#include <algorithm>
#include <deque>

namespace next_id::fleet {

namespace {

constexpr std::size_t bins_in_second = std::chrono::seconds{1} / Server::bin_length;
constexpr std::int64_t block = 1000;  // as in block_sequence.sql

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

class World {
 public:
    explicit World(const Fleet& fleet)
        : fleet_{fleet},
          clockwork{fleet.seed},
          server{clockwork, fleet.capacity, fleet.pod.mode == Increment::block ? block : 1} {
        for (std::size_t i = 0; i < fleet.pods; ++i)
            clockwork.after(of_ms(1000 * seconds(fleet.start_over) * clockwork.share()),
                            [this] { pods.emplace_back(clockwork, server, fleet_.pod).start(); });
        clockwork.run_until(clockwork.now() + fleet.start_over + fleet.warm_up);
    }

    double refused() const {
        double sum = 0;
        for (const Pod& pod : pods) sum += pod.refused();
        return sum;
    }
    Bin bin(std::size_t index) const { return index < server.bins().size() ? server.bins()[index] : Bin{}; }

    Second second_from(std::size_t first) const {
        Second second;
        for (std::size_t i = first; i < first + bins_in_second; ++i) {
            const Bin one = bin(i);
            second.attempts += one.attempts;
            second.attempts_tenth = std::max(second.attempts_tenth, one.attempts);
            second.refused += one.refused;
            second.connected += one.connected;
            second.statements += one.statements;
            second.open = std::max(second.open, one.open);
            second.cpu_share += one.busy_ms / (1000.0 * fleet_.capacity.cores);
        }
        return second;
    }

 private:
    const Fleet fleet_;

 public:
    Clockwork clockwork;
    Server server;
    std::deque<Pod> pods;
};

}  // namespace

Steady run_steady(const Fleet& fleet, Duration measured) {
    World world{fleet};
    Steady result;
    const std::size_t begin = world.server.bin_now();
    for (std::size_t i = 0; i + bins_in_second <= begin; i += bins_in_second) {
        const Second second = world.second_from(i);
        result.start_statements_peak_s = std::max(result.start_statements_peak_s, second.statements);
        result.start_attempts_peak_s = std::max(result.start_attempts_peak_s, second.attempts);
    }
    const double refused_before = world.refused();
    double window_sum = 0, open_sum = 0;
    std::size_t looks = 0;
    const Instant end = world.clockwork.now() + measured;
    while (world.clockwork.now() < end) {
        world.clockwork.run_until(world.clockwork.now() + std::chrono::milliseconds{2'300});
        open_sum += world.server.open();
        if (looks++ % 8 == 0)
            for (const Pod& pod : world.pods) window_sum += double(pod.left()) / double(fleet.pods);
    }
    const std::size_t seconds_measured = (world.server.bin_now() - begin) / bins_in_second;
    for (std::size_t i = 0; i < seconds_measured; ++i) {
        const Second second = world.second_from(begin + i * bins_in_second);
        result.statements_s += second.statements;
        result.statements_peak_s = std::max(result.statements_peak_s, double(second.statements));
        result.connections_s += second.connected;
        result.refused_s += second.refused;
        result.open_peak = std::max(result.open_peak, second.open);
        result.cpu_share += second.cpu_share;
    }
    for (double* sum : {&result.statements_s, &result.connections_s, &result.refused_s, &result.cpu_share})
        *sum /= double(seconds_measured);
    result.open_mean = open_sum / double(looks);
    result.window_mean = window_sum / double((looks + 7) / 8);
    const double asked = fleet.pod.demand * double(fleet.pods) * seconds(measured);
    result.refused_share = asked > 0 ? (world.refused() - refused_before) / asked : 0;
    return result;
}

Outage run_outage(const Fleet& fleet, std::chrono::seconds down, std::chrono::seconds after) {
    World world{fleet};
    Outage result;
    double refused = world.refused();
    const double refused_first = refused;
    const auto begin = static_cast<int>(world.server.bin_now());
    constexpr int before = 30;  // seconds that are shown of the time before
    for (int at = -before; at < 0; ++at) {
        Second second = world.second_from(std::size_t(begin + at * int(bins_in_second)));
        second.at = at;
        result.seconds.push_back(second);
    }
    for (int at = 0; at < int((down + after).count()); ++at) {
        if (at == 0) {
            world.server.stop();
            for (Pod& pod : world.pods) pod.server_stopped();
        }
        if (at == down.count()) world.server.start();
        world.clockwork.run_until(world.clockwork.now() + std::chrono::seconds{1});
        Second second = world.second_from(std::size_t(begin + at * int(bins_in_second)));
        second.at = at;
        second.low = std::size_t(std::ranges::count_if(world.pods, [](const Pod& pod) { return pod.is_low(); }));
        second.refused_ids = world.refused() - refused;
        refused += second.refused_ids;
        result.seconds.push_back(second);

        std::uint32_t& attempts_peak = at < down.count() ? result.attempts_peak_down : result.attempts_peak_after;
        attempts_peak = std::max(attempts_peak, second.attempts);
        result.attempts_peak_tenth = std::max(result.attempts_peak_tenth, second.attempts_tenth);
        result.statements_peak = std::max(result.statements_peak, second.statements);
        result.open_peak = std::max(result.open_peak, second.open);
        const bool back = at >= down.count();
        if (back && second.low == 0 && result.full_after < 0) result.full_after = at + 1 - int(down.count());
    }
    result.refused_ids_share =
        (refused - refused_first) / std::max(1.0, fleet.pod.demand * double(fleet.pods) * seconds(down + after));
    return result;
}

}  // namespace next_id::fleet
