// Carries the steps of each sequence's refill over one connection to PostgreSQL, one statement at a time, and keeps their time. Owned by
// app; on the refill loop's thread, but for ring().
#pragma once

#include <uv.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sidecar/base/repeated_failure.h"
#include "sidecar/base/uv_handle.h"
#include "sidecar/refill/backoff.h"
#include "sidecar/refill/pg_connection.h"
#include "sidecar/refill/sequence_refill.h"

namespace next_id {

class Refiller final : PgConnection::Listener {
   public:
    struct Settings {
        PgTarget target;
        Duration idle_close = std::chrono::seconds{5};  // the connection is closed when no refill is due for so long
        SequenceRefill::Settings sequence;
    };

    // The supplies must outlive it.
    Refiller(uv_loop_t* loop, const Settings& settings, const std::vector<Supply*>& supplies);

    // Looks at every sequence: publishes, serves the waiting, reserves. Call it when a supply rings; it calls itself when time is due.
    void drive();

    const std::vector<std::unique_ptr<SequenceRefill>>& sequences() const { return sequences_; }
    PgState connection_state() const { return connection_.state(); }

   private:
    void on_connected() override;
    void on_disconnected(const std::string& reason) override;
    void on_answer(PgAnswer answer) override;
    void on_late() override;

    std::string take_answer(SequenceRefill& sequence, const PgAnswer& answer, Instant now);
    bool send_next(Instant now);
    bool any_step(Instant now);
    Instant next_step_at(Instant now) const;
    void look_again_at(Instant when, Instant now);
    void tell_all(const Trouble& trouble);

    const Settings settings_;
    const std::string lock_timeout_;
    std::vector<std::unique_ptr<SequenceRefill>> sequences_;
    std::vector<RepeatedFailure> failures_;  // of each sequence's statements
    RepeatedFailure connect_failures_;
    Backoff backoff_;  // of connecting
    Instant connect_not_before_ = Instant::min();

    std::size_t turn_ = 0;                    // whose turn it is next
    std::optional<std::size_t> under_way_;    // whose statement is
    SequenceRefill::Step::Kind kind_ = SequenceRefill::Step::Kind::none;
    bool late_ = false;

    Handle<uv_timer_t> timer_;
    PgConnection connection_;
};

}  // namespace next_id
