// A primary and a standby, and programs that find whichever of the two takes writes.
#pragma once

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/pg_cluster.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {

struct Pair {
    std::unique_ptr<PgCluster> primary, standby;

    explicit Pair(const PgCluster::Options& options = {}, const std::string& sequence = "CREATE SEQUENCE ids")
        : primary{std::make_unique<PgCluster>(options)},
          standby{std::make_unique<PgCluster>(PgCluster::Standby{*primary, "other"})} {
        primary->psql(sequence);
    }

    // The primary's commits wait for the standby from now on.
    void make_synchronous() const {
        primary->psql("ALTER SYSTEM SET synchronous_standby_names = 'other'");
        primary->psql("SELECT pg_reload_conf()");
        require_soon("a synchronous standby", [&] {
            return primary->psql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1" &&
                   primary->psql("SHOW synchronous_standby_names") == "other";
        });
    }

    // The network between them fails, with nothing lost so far.
    void cut_off_standby() const {
        const std::string here = primary->psql("SELECT pg_current_wal_flush_lsn()");
        require_soon("a standby that has caught up",
                     [&] { return standby->psql("SELECT pg_last_wal_replay_lsn() >= '" + here + "'") == "t"; });
        standby->psql("ALTER SYSTEM SET primary_conninfo = ''");
        standby->psql("SELECT pg_reload_conf()");
        require_soon("a standby cut off",
                     [&] { return standby->psql("SELECT count(*) FROM pg_stat_wal_receiver") == "0"; });
    }

    void fail_over() const {
        primary->stop(PgStop::immediate);
        standby->promote();
    }

    // Where the primary was, there is a new standby of the one that was promoted.
    void exchange() {
        const std::string port = primary->port();
        primary = std::move(standby);
        standby = std::make_unique<PgCluster>(PgCluster::Standby{*primary, "other", port});
    }

    std::string conninfo() const {
        return "host=127.0.0.1,127.0.0.1 port=" + primary->port() + "," + standby->port() +
               " dbname=postgres user=postgres target_session_attrs=read-write";
    }

    std::unique_ptr<SidecarProcess> sidecar(SidecarSettings settings) const {
        settings.insert({{"PG_CONNINFO", conninfo()}, {"PG_HOST", {}}, {"PG_PORT", {}}, {"PG_DATABASE", {}}});
        settings.insert({{"PG_USER", {}}, {"PG_SEQUENCE", "ids"}});
        return std::make_unique<SidecarProcess>(*primary, settings);
    }

    template <class Condition>
    static void require_soon(const std::string& what, Condition condition) {
        if (!wait_until(condition)) throw std::runtime_error{"there is no " + what};
    }
};

// So many IDs at once, or none if it has none.
inline std::vector<std::int64_t> take(TestClient& client, int count) {
    const TestAnswer answer = client.get("/next-id?format=text&count=" + std::to_string(count));
    std::vector<std::int64_t> ids;
    std::istringstream lines{answer.status == 200 ? answer.body : ""};
    for (std::int64_t id; lines >> id;) ids.push_back(id);
    return ids;
}

}  // namespace next_id::test
