#include <cstdio>

#include "tests/fleet/run.h"

namespace next_id::fleet {

namespace {

using namespace std::chrono_literals;

struct Checks {
    int broken = 0;

    void between(const char* what, double value, double least, double most) {
        const bool kept = value >= least && value <= most;
        std::printf("%s %s: %g (%g to %g)\n", kept ? "kept  " : "BROKEN", what, value, least, most);
        if (!kept) ++broken;
    }
};

Fleet fleet_of(std::size_t pods, double demand, Increment mode = Increment::block) {
    return {.pods = pods, .pod = {.demand = demand, .mode = mode}, .capacity = {}, .start_over = 60s, .warm_up = 180s};
}

}  // namespace

int run_checks() {
    Checks checks;
    constexpr double reserves = 1.0 / 60;  // in a second
    for (const double demand : {100.0, 1'000.0, 50'000.0}) {
        const Steady s = run_steady(fleet_of(100, demand), 600s);
        checks.between("block mode: reservations of a pod in a reserve, whatever the demand",
                       (s.statements_s - s.connections_s) / 100 / reserves, 0.75, 1.1);
        checks.between("and as many connections", s.connections_s / 100 / reserves, 0.75, 1.1);
        checks.between("each open for a moment only", s.open_mean, 0, 1);
    }
    const Steady step = run_steady(fleet_of(20, 50'000, Increment::step), 300s);
    checks.between("step mode: statements of a pod in a reserve, 100,000 values each",
                   (step.statements_s - step.connections_s) / 20 / reserves, 25, 40);

    const Steady idle = run_steady(fleet_of(1'000, 0), 300s);
    checks.between("idle pods: statements per second", idle.statements_s, 0, 0);
    checks.between("idle pods: connections open", idle.open_peak, 0, 0);
    checks.between("idle pods: IDs in a window", idle.window_mean, 1'000, 1'999);

    // Full jitter over five seconds is a try in two and a half seconds on average; a tenth more for chance.
    constexpr std::size_t pods = 10'000;
    Fleet fleet = fleet_of(pods, 1'000);
    fleet.start_over = 30s;
    fleet.warm_up = 20s;  // about half of them come to their reserve while the server is away
    const Outage outage = run_outage(fleet, 60s, 50s);
    constexpr double tries_s = pods / 2.5;
    checks.between("10,000 pods, 60 s of outage: connection attempts in a second", outage.attempts_peak_down,
                   0.4 * tries_s, 1.2 * tries_s);
    checks.between("after it", outage.attempts_peak_after, 0, 1.1 * tries_s);
    checks.between("in a tenth of a second", outage.attempts_peak_tenth, 0, 1.5 * tries_s / 10);
    checks.between("connections open at a time", outage.open_peak, 0, 100);
    checks.between("seconds until all windows are full again", outage.full_after, 1, 45);

    fleet.pods = 1'000;
    fleet.pod.manner = Manner::naive;
    fleet.capacity.connections_max = 1'100;
    const Outage naive = run_outage(fleet, 10s, 1s);
    checks.between("and so a naive policy is seen: all pods try in the same tenth of a second",
                   naive.attempts_peak_tenth, 900, 1'000);
    std::printf("%s\n", checks.broken == 0 ? "no promise broken" : "BROKEN");
    return checks.broken == 0 ? 0 : 1;
}

}  // namespace next_id::fleet
