// Runs the simulation for many seeds, and says which one broke a promise.
//   simulation [--seeds N] [--first SEED] [--seconds N] [--trace] [--plant no-message|early-answer|no-mark-check]
// A fault prints its seed: --first SEED --seeds 1 --trace shows that run.
#include <stdlib.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "sidecar/base/log.h"
#include "tests/simulation/scenario.h"

using namespace next_id;
using namespace next_id::simulation;

namespace {

struct Options {
    std::uint64_t first = 1, seeds = 1000, seconds = 0;  // seconds: end after so many, whatever `seeds` says
    bool trace = false;
    Planted planted;
};

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        if (name == "--trace") {
            options.trace = true;
            continue;
        }
        if (name == "--first") options.first = std::strtoull(value.c_str(), nullptr, 10);
        if (name == "--seeds") options.seeds = std::strtoull(value.c_str(), nullptr, 10);
        if (name == "--seconds") options.seconds = std::strtoull(value.c_str(), nullptr, 10);
        if (value == "no-message") options.planted.no_message = true;
        if (value == "early-answer") options.planted.answer_before_commit = true;
        if (value == "no-mark-check") options.planted.no_mark_check = true;
        ++i;
    }
    return options;
}

// A fault that the program itself notices, by require(), is a finding too.
std::uint64_t running = 0;
void tell_seed(int) {
    std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(running));
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    log::set_up(options.trace ? log::Level::info : log::Level::off, log::Format::text);
    char base[] = "/dev/shm/next-id-simulation.XXXXXX";
    if (mkdtemp(base) == nullptr) return std::perror("mkdtemp"), 2;

    const auto began = std::chrono::steady_clock::now();
    const auto elapsed_s = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    std::signal(SIGABRT, tell_seed);
    std::uint64_t done = 0, ids = 0, reservations = 0;
    int status = 0;
    for (std::uint64_t seed = options.first;
         done < options.seeds && (options.seconds == 0 || elapsed_s() < static_cast<double>(options.seconds));
         ++seed, ++done) {
        const std::filesystem::path dir = std::filesystem::path{base} / std::to_string(seed);
        running = seed;
        const Outcome outcome = run_scenario(seed, dir, options.planted, options.trace);
        std::filesystem::remove_all(dir);
        ids += outcome.ids;
        reservations += outcome.reservations;
        if (outcome.fault.empty()) continue;
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), outcome.fault.c_str());
        status = 1;
        break;
    }
    std::filesystem::remove_all(base);
    std::printf("%s: %llu seeds, %llu IDs, %llu reservations, %.1f s\n", status == 0 ? "no promise broken" : "BROKEN",
                static_cast<unsigned long long>(done), static_cast<unsigned long long>(ids),
                static_cast<unsigned long long>(reservations), elapsed_s());
    return status;
}
