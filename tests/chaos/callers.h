// Other programs on the same sequence, "ids": sessions that call nextval() as fast as they can, dial again when
// PostgreSQL goes away, and keep the values of the calls that they hold for committed.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/refill/pg_sessions.h"

namespace next_id::test {

class Callers {
 public:
    // What a call is, and whether its value is safe when the server is ready again.
    static constexpr char plain[] = "SELECT nextval('ids')";  // is not: most calls write no record to wait for
    static constexpr char with_xid[] =                        // nor this: a commit waits only for what itself wrote
        "WITH g AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true), pg_current_xact_id()) "
        "SELECT nextval('ids') FROM g";
    static constexpr char with_message[] =  // is
        "WITH g AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true), "
        "pg_logical_emit_message(true, 'test', '')) SELECT nextval('ids') FROM g";

    // When a value is held for safe. CommandComplete comes before the commit.
    enum class Take { ready_for_query, command_complete };

    Callers(std::string conninfo, const char* statement, int sessions, Take when = Take::ready_for_query)
        : conninfo_{std::move(conninfo)}, statement_{statement}, when_{when}, values_(std::size_t(sessions)) {
        for (auto& values : values_) threads_.emplace_back([this, &values] { call(values); });
    }
    ~Callers() { end(); }
    Callers(const Callers&) = delete;
    Callers& operator=(const Callers&) = delete;

    std::vector<std::int64_t> stop() {
        end();
        std::vector<std::int64_t> all;
        for (const auto& values : values_) all.insert(all.end(), values.begin(), values.end());
        return all;
    }

 private:
    void end() {
        stop_ = true;
        for (std::thread& thread : threads_)
            if (thread.joinable()) thread.join();
    }

    void call(std::vector<std::int64_t>& values) {
        while (!stop_) {
            const Session session{PQconnectdb(conninfo_.c_str()), &PQfinish};
            PQsetNoticeReceiver(
                session.get(), [](void*, const PGresult*) {}, nullptr);
            const bool early = when_ == Take::command_complete;
            if (early) PQenterPipelineMode(session.get());
            while (!stop_ && PQstatus(session.get()) == CONNECTION_OK)
                early ? take_early(session, values) : take(session, values);
            std::this_thread::sleep_for(std::chrono::milliseconds{10});  // as any client that does not hammer
        }
    }

    void take(const Session& session, std::vector<std::int64_t>& values) const {
        const Rows rows = run(session, statement_);
        if (PQstatus(session.get()) == CONNECTION_OK) keep(rows, values);
    }

    // The server is asked to send what it has before it comes to the commit.
    void take_early(const Session& session, std::vector<std::int64_t>& values) const {
        PGconn* const connection = session.get();
        PQsendQueryParams(connection, statement_, 0, nullptr, nullptr, nullptr, nullptr, 0);
        PQsendFlushRequest(connection);
        PQpipelineSync(connection);
        for (bool synced = false; !synced && PQstatus(connection) == CONNECTION_OK;) {
            const Rows rows{PQgetResult(connection), &PQclear};
            synced = PQresultStatus(rows.get()) == PGRES_PIPELINE_SYNC;
            if (rows != nullptr) keep(rows, values);
        }
    }

    static void keep(const Rows& rows, std::vector<std::int64_t>& values) {
        if (PQresultStatus(rows.get()) == PGRES_TUPLES_OK) values.push_back(std::stoll(PQgetvalue(rows.get(), 0, 0)));
    }

    std::string conninfo_;
    const char* statement_;
    Take when_;
    std::atomic<bool> stop_ = false;
    std::vector<std::vector<std::int64_t>> values_;
    std::vector<std::thread> threads_;
};

}  // namespace next_id::test
