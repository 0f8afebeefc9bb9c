// PostgreSQL as far as a sequence and its durability go, on simulated time: nextval is WAL-logged once in 33 calls, a
// commit waits for the disk (and a standby) only when its transaction wrote WAL, a crash loses what was not flushed.
// Facts: sequence.c and xact.c of PostgreSQL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace next_id::simulation {

struct SequenceDefinition {
    std::int64_t minimum = 1, maximum = INT64_MAX, increment = 1;
    std::int64_t start = 1;
};

// In the direction in which such a sequence runs.
inline bool is_beyond(std::int64_t value, std::int64_t other, std::int64_t increment) {
    return increment > 0 ? value > other : value < other;
}

// Whether a sequence with this last value and increment went back for whoever has this mark.
inline bool is_behind(std::int64_t mark, int direction, std::optional<std::int64_t> last_value,
                      std::int64_t increment) {
    if (direction == 0) return false;
    return direction != (increment > 0 ? 1 : -1) || !last_value || is_beyond(mark, *last_value, increment);
}

class PostgresModel {
 public:
    using Lsn = std::uint64_t;

    explicit PostgresModel(const SequenceDefinition& definition) : definition_{definition} { create(); }

    struct Taken {
        std::vector<std::int64_t> values;
        Lsn commit = 0;  // that must be durable before the transaction counts as committed; 0: none was written,
                         // nothing to wait for
        bool exhausted = false;  // the statement failed; what it took is burnt
    };
    // One transaction: `count` nextvals, and a transactional message if `message`.
    Taken take(std::uint64_t count, bool message);

    Lsn written() const { return written_; }
    Lsn flushed() const { return flushed_; }
    Lsn page() const { return page_; }  // of the last record about the sequence: what was taken is durable when this is
    void flush(Lsn up_to) { flushed_ = up_to > flushed_ ? up_to : flushed_; }

    void crash() { restore(flushed_); }                  // and starts again: what was not flushed is lost
    void fail_over(Lsn received) { restore(received); }  // to a standby that had received this much

    // Operators. Each is durable at once, as its commit waited.
    void set_value(std::int64_t value);
    void alter_increment(std::int64_t increment);
    void recreate();
    void comment(std::string text) { comment_ = std::move(text); }

    const SequenceDefinition& definition() const { return definition_; }
    std::optional<std::int64_t> last_value() const { return state_.called ? std::optional{state_.last} : std::nullopt; }
    // That was ever taken, wherever the sequence stands now.
    std::optional<std::int64_t> furthest() const { return furthest_; }
    const std::string& comment() const { return comment_; }
    std::uint32_t oid() const { return oid_; }

 private:
    struct State {
        std::int64_t last = 0;
        bool called = false;
        int logged_ahead = 0;  // log_cnt: values that the last record covers and that have not been taken
    };
    struct Record {
        Lsn lsn;
        State state;
    };

    void create();
    void log(const State& state);
    void restore(Lsn lsn);

    SequenceDefinition definition_;
    State state_;
    std::vector<Record> records_;
    Lsn written_ = 0, flushed_ = 0, page_ = 0;
    std::optional<std::int64_t> furthest_;
    std::string comment_;
    std::uint32_t oid_ = 16384;
};

}  // namespace next_id::simulation
