// The refill of all sequences over one connection to PostgreSQL, one statement at a time: whose turn it is, when to
// connect, what the answers lead to. Pure: time, dice and the database come in. On the refill thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sidecar/base/repeated_failure.h"
#include "sidecar/refill/backoff.h"
#include "sidecar/refill/database.h"
#include "sidecar/refill/pg_answer.h"
#include "sidecar/refill/sequence_refill.h"

namespace next_id {

class Refill {
 public:
    struct Settings {
        Duration query_timeout = std::chrono::seconds{5};  // then a statement is late
        Duration idle_close = std::chrono::seconds{5};     // the connection is closed when no refill is due for so long
        SequenceRefill::Settings sequence;
    };

    // Database and supplies must outlive it.
    Refill(Database& database, const Settings& settings, const std::vector<Supply*>& supplies,
           SequenceRefill::Dice dice);

    // Looks at every sequence: publishes, serves the waiting, reserves. Call it when a supply rings, after each of the
    // calls below, and at the latest at the instant that it returned.
    Instant drive(Instant now);

    void on_connected(Instant now);
    void on_disconnected(Instant now, const std::string& reason);
    void on_answer(Instant now, const PgAnswer& answer);
    void on_late();

    // How often connecting ended well or badly, and a connection was lost.
    struct Connects {
        std::uint64_t ok = 0, failed = 0, lost = 0;
    };
    const Connects& connects() const { return connects_; }

    const std::vector<std::unique_ptr<SequenceRefill>>& sequences() const { return sequences_; }

 private:
    std::string take_answer(SequenceRefill& sequence, const PgAnswer& answer, Instant now);
    void connect();
    bool send_next(Instant now);
    bool any_step(Instant now);
    Instant next_step_at(Instant now) const;
    void tell_all(const Trouble& trouble);

    Database& database_;
    const Settings settings_;
    const std::string lock_timeout_;
    const SequenceRefill::Dice dice_;
    std::vector<std::unique_ptr<SequenceRefill>> sequences_;
    std::vector<RepeatedFailure> failures_;  // of each sequence's statements
    RepeatedFailure connect_failures_;
    Backoff backoff_;  // of connecting
    Instant connect_not_before_ = Instant::min();
    Connects connects_;
    bool connected_ = false;  // since the last connect()

    std::size_t turn_ = 0;                  // whose turn it is next
    std::optional<std::size_t> under_way_;  // whose statement is
    SequenceRefill::Step::Kind kind_ = SequenceRefill::Step::Kind::none;
    bool late_ = false;
};

}  // namespace next_id
