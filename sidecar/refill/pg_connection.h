// One connection to PostgreSQL on a uv loop, one statement at a time; nothing in it blocks. Owned by the refill, on its
// loop's thread. It may be destroyed at any moment, also from within a callback, and calls nobody after that.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sidecar/refill/database.h"
#include "sidecar/refill/pg_alarm.h"
#include "sidecar/refill/pg_answer.h"
#include "sidecar/refill/pg_connector.h"
#include "sidecar/refill/pg_target.h"
#include "sidecar/refill/pg_watch.h"

namespace next_id {

class PgConnection final : public Database {
 public:
    // Called last in a turn of the loop, never from within connect(), query() or close(): each may call those, or
    // destroy us.
    class Listener {
     public:
        virtual ~Listener() = default;
        virtual void on_connected() = 0;
        // No host could be reached, or the connection was lost, and an answer under way with it. Holds no password.
        virtual void on_disconnected(const std::string& reason) = 0;
        virtual void on_answer(PgAnswer answer) = 0;
        // The statement passed its deadline. The connection is kept: the server may be waiting for a standby, and an
        // abandoned statement would keep its place there. An answer that comes late is as good as any.
        virtual void on_late() = 0;
    };

    PgConnection(uv_loop_t* loop, PgTarget target, Listener& listener);
    PgConnection(const PgConnection&) = delete;
    PgConnection& operator=(const PgConnection&) = delete;

    // Looks up, connects, tells on_connected() or on_disconnected(). REQUIRES: closed or broken.
    void connect() override;
    // Sends one statement with text parameters; tells on_answer() or on_disconnected(). REQUIRES: idle.
    void query(std::string_view sql, std::span<const std::string> parameters) override;
    // Drops whatever is under way, in any state, and tells nobody.
    void close() override;

    PgState state() const;
    PgEndpoint endpoint() const;  // of the connection, or where one is looked for

 private:
    void connected(Expected<PgHandle> outcome);
    void read();
    bool collect();
    void answer();
    void lose(const std::string& reason);
    bool watch();
    static void take_notice(void* self, const pg_result* notice);

    const Duration query_timeout_;
    const PgEndpoint configured_;
    Listener& listener_;
    PgState state_ = PgState::closed;

    PgAnswer answer_;       // as far as it came
    std::string warning_;   // the first one during this statement
    std::string farewell_;  // the server's last word, when it ends the connection

    PgConnector connector_;
    PgAlarm alarm_;
    PgHandle connection_;
    PgWatch watch_;  // after connection_, so that it is destroyed before
};

}  // namespace next_id
