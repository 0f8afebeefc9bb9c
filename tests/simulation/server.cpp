#include "tests/simulation/server.h"

#include <charconv>

#include "sql/statements.h"

namespace next_id::simulation {

namespace {

constexpr double standby_seconds = 0.002;
constexpr std::uint64_t system_identifier = 7000000000000000001;
constexpr std::uint32_t database_oid = 5;

std::uint64_t number_in(const std::string& text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

PgAnswer failed(std::string sqlstate, std::string error) {
    return {false, {}, std::move(sqlstate), std::move(error)};
}

}  // namespace

void Server::run(std::string_view sql, std::span<const std::string> parameters, Answer answer) {
    if (!up_) return;
    const bool reserve = sql == sql::reserve;
    const std::uint64_t values = reserve ? number_in(parameters[1]) : 0;
    const Instant lock_wait_ends = clockwork_.now() + std::chrono::milliseconds{number_in(parameters.back())};
    const std::uint64_t incarnation = incarnation_;
    if (locked_until_ <= clockwork_.now()) return execute(reserve, values, incarnation, std::move(answer));
    const bool in_time = locked_until_ <= lock_wait_ends;
    clockwork_.at(in_time ? locked_until_ : lock_wait_ends, [this, in_time, reserve, values, incarnation, answer] {
        if (incarnation != incarnation_) return;
        in_time ? execute(reserve, values, incarnation, answer)
                : answer(failed("55P03", "canceling statement due to lock timeout"));
    });
}

void Server::execute(bool reserve, std::uint64_t values, std::uint64_t incarnation, Answer answer) {
    if (!reserve) return answer(inspect_answer());
    ++reservations_;
    const auto taken = model_.take(values, !planted_.no_message);
    if (taken.exhausted) return answer(failed("2200H", "nextval: reached maximum value of sequence"));
    const PgAnswer rows = reserve_answer(taken);
    if (planted_.answer_before_commit) answer(rows);
    when_durable(taken.commit, incarnation, [this, rows, answer, last = taken.values.back()] {
        const bool further = !answered_ || (model_.definition().increment > 0 ? last > *answered_ : last < *answered_);
        if (further) answered_ = last;
        if (!planted_.answer_before_commit) answer(rows);
    });
}

// Calls `then` when the transaction whose commit record that is may be answered.
void Server::when_durable(PostgresModel::Lsn commit, std::uint64_t incarnation, std::function<void()> then) {
    if (commit == 0) return then();
    clockwork_.after(clockwork_.wait_of_about(flush_seconds_), [this, commit, incarnation, then] {
        if (incarnation != incarnation_) return;
        model_.flush(commit);
        if (!standby_) return then();
        if (standby_away_)
            return clockwork_.after(std::chrono::milliseconds{500},
                                    [=, this] { when_durable(commit, incarnation, then); });
        clockwork_.after(clockwork_.wait_of_about(standby_seconds), [this, commit, incarnation, then] {
            if (incarnation != incarnation_) return;
            received_ = std::max(received_, commit);
            then();
        });
    });
}

std::optional<std::int64_t> Server::plain_nextval() {
    if (!up_ || locked_until_ > clockwork_.now()) return std::nullopt;
    const auto taken = model_.take(1, false);
    if (taken.values.empty()) return std::nullopt;
    const PostgresModel::Lsn durable = standby_ ? std::min(received_, model_.flushed()) : model_.flushed();
    if (taken.commit != 0) when_durable(taken.commit, incarnation_, [] {});
    if (taken.commit != 0 || durable < model_.page()) return std::nullopt;
    return taken.values.front();
}

void Server::crash(Duration down) {
    ++incarnation_;
    up_ = false;
    model_.crash();
    clockwork_.after(down, [this] { up_ = true; });
}

void Server::fail_over() {
    ++incarnation_;
    model_.fail_over(standby_ ? received_ : model_.flushed());
}

void Server::fail_over_to(double part) {
    ++incarnation_;
    model_.fail_over(static_cast<PostgresModel::Lsn>(static_cast<double>(model_.flushed()) * part));
}

void Server::heal() {
    up_ = true;
    standby_away_ = false;
    locked_until_ = Instant::min();
    flush_seconds_ = 0.002;
}

std::vector<std::optional<std::string>> Server::parameters() const {
    const SequenceDefinition& sequence = model_.definition();
    return {std::to_string(sequence.minimum), std::to_string(sequence.maximum), std::to_string(sequence.increment), "f",
            "1"};
}

PgAnswer Server::reserve_answer(const PostgresModel::Taken& taken) const {
    std::string firsts = "{", counts = "{";
    for (std::size_t i = 0; i < taken.values.size();) {
        std::size_t end = i + 1;
        while (end < taken.values.size() && taken.values[end] == taken.values[end - 1] + model_.definition().increment)
            ++end;
        firsts += (i == 0 ? "" : ",") + std::to_string(taken.values[i]);
        counts += (i == 0 ? "" : ",") + std::to_string(end - i);
        i = end;
    }
    std::vector<std::optional<std::string>> row{firsts + "}", counts + "}"};
    for (auto& column : parameters()) row.push_back(std::move(column));
    for (const std::string& column :
         {std::to_string(*model_.last_value()), std::string{"p"}, std::to_string(system_identifier),
          std::to_string(database_oid), std::to_string(model_.oid())})
        row.emplace_back(column);
    return {true, {std::move(row)}, {}, {}};
}

PgAnswer Server::inspect_answer() const {
    std::vector<std::optional<std::string>> row = parameters();
    const auto last = model_.last_value();
    row.push_back(last ? std::optional{std::to_string(*last)} : std::nullopt);
    for (const std::string& column : {std::string{"p"}, std::to_string(system_identifier), std::to_string(database_oid),
                                      std::to_string(model_.oid())})
        row.emplace_back(column);
    row.push_back(model_.comment().empty() ? std::nullopt : std::optional{model_.comment()});
    return {true, {std::move(row)}, {}, {}};
}

}  // namespace next_id::simulation
