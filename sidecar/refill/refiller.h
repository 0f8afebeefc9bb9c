// The refill on a uv loop: its connection, its timer, its clock. Owned by app; on the loop's thread.
#pragma once

#include <uv.h>

#include <memory>
#include <string>
#include <vector>

#include "sidecar/base/uv_handle.h"
#include "sidecar/refill/pg_connection.h"
#include "sidecar/refill/refill.h"
#include "sidecar/refill/standing.h"

namespace next_id {

class Refiller final : PgConnection::Listener {
 public:
    struct Settings {
        PgTarget target;
        Duration idle_close = std::chrono::seconds{5};
        SequenceRefill::Settings sequence;
    };

    // The supplies must outlive it.
    Refiller(uv_loop_t* loop, const Settings& settings, const std::vector<Supply*>& supplies);

    // Call it when a supply rings; it calls itself when time is due.
    void drive();

    const std::vector<std::unique_ptr<SequenceRefill>>& sequences() const { return refill_.sequences(); }
    const Refill::Connects& connects() const { return refill_.connects(); }
    PgState connection_state() const { return connection_.state(); }
    const Standing& standing() const { return standing_; }
    PgEndpoint endpoint() const { return connection_.endpoint(); }

 private:
    void on_connected() override;
    void on_disconnected(const std::string& reason) override;
    void on_answer(PgAnswer answer) override;
    void on_late() override;

    Handle<uv_timer_t> timer_;
    PgConnection connection_;
    Standing standing_;
    Refill refill_;
};

}  // namespace next_id
