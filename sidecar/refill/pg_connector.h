// Walks the target's hosts and their addresses until one lets us in, each with its own deadline, and hands over the
// connection. Owned by PgConnection, on its loop's thread. libpq is given one address at a time: left to itself it
// would look up names without letting the loop turn, and wait for a dead address without end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sidecar/refill/pg_alarm.h"
#include "sidecar/refill/pg_lookup.h"
#include "sidecar/refill/pg_target.h"
#include "sidecar/refill/pg_watch.h"

struct pg_conn;

namespace next_id {

struct PgFinish {
    void operator()(pg_conn* connection) const noexcept;
};
using PgHandle = std::unique_ptr<pg_conn, PgFinish>;

class PgConnector {
 public:
    // A connection that is ready, or each address's reason; the call may destroy the connector.
    using Done = std::function<void(Expected<PgHandle>)>;

    PgConnector(uv_loop_t* loop, PgTarget target, Done done);
    ~PgConnector() { cancel(); }
    PgConnector(const PgConnector&) = delete;
    PgConnector& operator=(const PgConnector&) = delete;

    // Calls `done` once, later, unless cancelled before. REQUIRES: not started, or done, or cancelled.
    void start();
    void cancel();

    bool resolving() const { return resolving_; }  // or else connecting, while it is at work

 private:
    void begin();
    void try_next_host();
    void try_next_address();
    void poll();
    void established();
    void failed(std::string_view reason);
    void end(Expected<PgHandle> outcome);
    bool watch(int events);
    std::string where() const;

    PgTarget target_;
    Done done_;
    bool resolving_ = true;

    std::vector<PgHost> hosts_;
    std::size_t next_host_ = 0;
    std::vector<std::string> addresses_;  // of the host being tried; one, and empty, for a socket
    std::size_t next_address_ = 0;
    std::optional<std::string> password_;
    std::string reasons_;  // why each address so far failed

    PgLookup lookup_;
    PgAlarm alarm_;
    PgHandle connection_;
    PgWatch watch_;  // after connection_, so that it is destroyed before
};

}  // namespace next_id
