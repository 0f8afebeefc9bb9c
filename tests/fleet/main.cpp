// A fleet of sidecars and its one PostgreSQL, on simulated time: the refill as it ships, and a server of a stated
// capacity.
//   fleet steady [--seed N] [--pods N] [--demand N]   what each kind of fleet costs: a line for each mode, demand and
//   size fleet outage [--seed N] [--pods N] [--demand N] [--down S] [--manner shipped|unjittered|naive] [--connections
//   N]
//                                           a line for each second around an outage
//   fleet check                             the promises; what was broken, and exit code 1
// CSV on stdout. The same seed gives the same run.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "sidecar/base/log.h"
#include "tests/fleet/run.h"

using namespace next_id;
using namespace next_id::fleet;

namespace {

using Options = std::map<std::string, std::string>;

double number(const Options& options, const std::string& name, double otherwise) {
    const auto found = options.find("--" + name);
    return found == options.end() ? otherwise : std::strtod(found->second.c_str(), nullptr);
}

void steady(const Options& options) {
    std::puts(
        "mode,demand_per_pod,pods,statements_s,statements_peak_s,connections_s,connections_refused_s,open_mean,open_"
        "peak,"
        "cpu_percent,window_ids,ids_not_had_percent,start_statements_peak_s,start_attempts_peak_s");
    const auto only = static_cast<std::size_t>(number(options, "pods", 0));
    for (const std::size_t pods : {1UL, 100UL, 1'000UL, 10'000UL})
        for (const Increment mode : {Increment::step, Increment::block})
            for (const double demand : {0.0, 10.0, 1'000.0, 50'000.0}) {
                if (only != 0 && only != pods) continue;
                if (number(options, "demand", demand) != demand) continue;
                Fleet fleet{.pods = pods,
                            .pod = {.demand = demand, .mode = mode},
                            .capacity = {},
                            .seed = static_cast<std::uint64_t>(number(options, "seed", 1))};
                const Steady s = run_steady(fleet, std::chrono::seconds{300});
                std::printf("%s,%.0f,%zu,%.3f,%.0f,%.3f,%.2f,%.2f,%u,%.3f,%.0f,%.2f,%u,%u\n",
                            mode == Increment::step ? "step" : "block", demand, pods, s.statements_s,
                            s.statements_peak_s, s.connections_s, s.refused_s, s.open_mean, s.open_peak,
                            100 * s.cpu_share, s.window_mean, 100 * s.refused_share, s.start_statements_peak_s,
                            s.start_attempts_peak_s);
                std::fflush(stdout);
            }
}

void outage(const Options& options) {
    Fleet fleet{.pods = static_cast<std::size_t>(number(options, "pods", 10'000)),
                .pod = {.demand = number(options, "demand", 1'000), .mode = Increment::block},
                .capacity = {},
                .seed = static_cast<std::uint64_t>(number(options, "seed", 1))};
    const auto manner = options.find("--manner");
    if (manner != options.end() && manner->second == "unjittered") fleet.pod.manner = Manner::unjittered;
    if (manner != options.end() && manner->second == "naive") fleet.pod.manner = Manner::naive;
    fleet.capacity.connections_max = static_cast<int>(number(options, "connections", fleet.capacity.connections_max));
    const Outage o = run_outage(fleet, std::chrono::seconds{static_cast<int>(number(options, "down", 60))},
                                std::chrono::seconds{180});
    std::puts(
        "second,attempts_s,attempts_in_100ms_peak,refused_s,connected_s,statements_s,open_peak,cpu_percent,windows_low,"
        "ids_not_had");
    for (const Second& s : o.seconds)
        std::printf("%d,%u,%u,%u,%u,%u,%u,%.1f,%zu,%.0f\n", s.at, s.attempts, s.attempts_tenth, s.refused, s.connected,
                    s.statements, s.open, 100 * s.cpu_share, s.low, s.refused_ids);
    std::fprintf(stderr,
                 "full again after %d s; attempts peak %u/s while down, %u/s after, %u in 100 ms; statements %u/s; "
                 "open %u; not had %.3f %%\n",
                 o.full_after, o.attempts_peak_down, o.attempts_peak_after, o.attempts_peak_tenth, o.statements_peak,
                 o.open_peak, 100 * o.refused_ids_share);
}

}  // namespace

int main(int argc, char** argv) {
    log::set_up(log::Level::off, log::Format::text);
    const std::string what = argc > 1 ? argv[1] : "";
    Options options;
    for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    if (what == "check") return run_checks();
    if (what == "steady") return steady(options), 0;
    if (what == "outage") return outage(options), 0;
    std::fputs("usage: fleet steady|outage|check; see tests/fleet/main.cpp\n", stderr);
    return 64;
}
