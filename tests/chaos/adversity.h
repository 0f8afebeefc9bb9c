// Servers and sidecars that are as likely as can be to repeat an ID, should they be able to.
#pragma once

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/pg_cluster.h"
#include "tests/support/sidecar_process.h"

namespace next_id::test {

// Nothing is safe by luck: only commits write the log.
inline PgCluster::Options lazy_postgres(std::vector<std::string> settings = {}) {
    settings.insert(settings.end(), {"wal_writer_delay = 10s", "checkpoint_timeout = 1h", "autovacuum = off"});
    return {.settings = settings};
}

// And they take their time: so many microseconds for each.
inline PgCluster::Options slow_postgres(int us = 1000) {
    PgCluster::Options options = lazy_postgres();
    options.environment = {"LD_PRELOAD=" NEXT_ID_SLOW_WAL, "SLOW_WAL_US=" + std::to_string(us)};
    return options;
}

// A sequence for block mode, or for step mode if the block is 1.
inline std::string sequence_of(std::int64_t block) {
    const std::string number = std::to_string(block);
    return "CREATE SEQUENCE ids START " + number + " INCREMENT " + number;
}

// With so small a window they reserve all the time: a block or ten IDs at once, each a chance for what a crash loses.
inline SidecarSettings always_reserving(std::int64_t block) {
    return {{"PG_SEQUENCE", "ids"},
            {"NEXT_ID_INCREMENT", block == 1 ? "step" : "block"},
            {"NEXT_ID_WINDOW_MIN", std::to_string(block == 1 ? 10 : block)},
            {"NEXT_ID_WINDOW_MAX", std::to_string(block == 1 ? 20 : 2 * block)}};
}

// Nobody takes values while the server is down and comes back, so that it can be seen where the sequence stands.
class Frozen {
 public:
    explicit Frozen(std::vector<const SidecarProcess*> sidecars) : sidecars_{std::move(sidecars)} {
        for (const SidecarProcess* sidecar : sidecars_) {
            highest_reserved_ = std::max(highest_reserved_, std::stoll(sidecar->status("highest_reserved")));
            sidecar->signal(SIGSTOP);
        }
    }
    ~Frozen() {
        for (const SidecarProcess* sidecar : sidecars_) sidecar->signal(SIGCONT);
    }
    Frozen(const Frozen&) = delete;
    Frozen& operator=(const Frozen&) = delete;

    // What they hold for theirs, whether it was given out yet or not.
    std::int64_t highest_reserved() const { return highest_reserved_; }

 private:
    std::vector<const SidecarProcess*> sidecars_;
    long long highest_reserved_ = 0;
};

inline std::int64_t last_value(const PgCluster& cluster) {
    return std::stoll(cluster.psql("SELECT last_value FROM ids"));
}

}  // namespace next_id::test
