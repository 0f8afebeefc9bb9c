// A pgbouncer of a test's own before a cluster, in transaction mode: its port, settings and log in a directory that
// goes away with it.
#pragma once

#include <sys/types.h>

#include <string>

#include "tests/support/pg_cluster.h"

namespace next_id::test {

class PgBouncer {
 public:
    // Throws with a sentence when pgbouncer is not installed.
    explicit PgBouncer(const PgCluster& cluster, int pool_size = 2);
    ~PgBouncer();
    PgBouncer(const PgBouncer&) = delete;
    PgBouncer& operator=(const PgBouncer&) = delete;

    // Returns when it takes connections.
    void start();
    void stop();  // at once: its clients lose their connections

    const std::string& port() const { return port_; }
    std::string log() const;

 private:
    std::string directory_, port_;
    pid_t server_ = -1;
};

}  // namespace next_id::test
