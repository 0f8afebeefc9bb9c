// A simulated PostgreSQL server with a disk and, perhaps, a synchronous standby: runs statements, answers when their
// transaction is durable, and fails in all the ways that the scenario wants. Connections are numbered; a failure ends
// them all.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sidecar/refill/pg_answer.h"
#include "tests/simulation/clockwork.h"
#include "tests/simulation/postgres_model.h"

namespace next_id::simulation {

// Faults that are planted to see that the simulation finds them.
struct Planted {
    bool no_message = false;            // the statement leaves out pg_logical_emit_message
    bool answer_before_commit = false;  // IDs are used when the rows have come
    bool no_mark_check = false;         // the statement takes values wherever the sequence stands
};

class Server {
 public:
    using Answer = std::function<void(const PgAnswer&)>;

    Server(Clockwork& clockwork, const SequenceDefinition& definition, bool standby, Planted planted)
        : clockwork_{clockwork}, model_{definition}, standby_{standby}, planted_{planted} {}

    bool up() const { return up_; }
    // Grows with each crash and failover: what was connected before is not connected any more.
    std::uint64_t incarnation() const { return incarnation_; }

    // One of the sidecar's statements. `answer` is called when the server answers; never if it fails before.
    void run(std::string_view sql, std::span<const std::string> parameters, Answer answer);

    // Another program's nextval. The value, when the caller may rely on it (its WAL is durable when it is answered).
    std::optional<std::int64_t> plain_nextval();

    void crash(Duration down);
    void fail_over();  // to the synchronous standby: nothing that was answered is lost
    void fail_over_to(
        double part);  // to a standby that has received only part of what was written since the last durable commit
    bool locked() const { return locked_until_ > clockwork_.now(); }
    void lock_sequence(Duration held) { locked_until_ = clockwork_.now() + held; }
    void slow_disk(double seconds) { flush_seconds_ = seconds; }
    void standby_away(bool away) { standby_away_ = away; }
    void heal();

    PostgresModel& model() { return model_; }
    // The furthest value that was in an answer.
    std::optional<std::int64_t> answered() const { return answered_; }
    std::uint64_t reservations() const { return reservations_; }

 private:
    // What a statement asks for: no values when it inspects.
    struct Request {
        std::uint64_t values = 0;
        std::int64_t mark = 0;
        int direction = 0;
    };
    static Request request_of(std::span<const std::string> parameters);
    void execute(const Request& request, std::uint64_t incarnation, Answer answer);
    void when_durable(PostgresModel::Lsn commit, std::uint64_t incarnation, std::function<void()> then);
    PgAnswer reserve_answer(const PostgresModel::Taken& taken, bool uncalled) const;
    PgAnswer inspect_answer() const;
    void describe(std::vector<std::optional<std::string>>& row) const;

    Clockwork& clockwork_;
    PostgresModel model_;
    const bool standby_;
    const Planted planted_;
    bool up_ = true;
    bool standby_away_ = false;
    double flush_seconds_ = 0.002;
    PostgresModel::Lsn received_ = 0;  // by the standby
    Instant locked_until_ = Instant::min();
    std::uint64_t incarnation_ = 0;
    std::uint64_t reservations_ = 0;
    std::optional<std::int64_t> answered_;
};

}  // namespace next_id::simulation
