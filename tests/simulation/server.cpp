#include "tests/simulation/server.h"

#include <charconv>

#include "sql/statements.h"

namespace next_id::simulation {

namespace {

constexpr double standby_seconds = 0.002;
constexpr std::uint64_t system_identifier = 7000000000000000001;
constexpr std::uint32_t database_oid = 5;

std::int64_t number_in(const std::string& text) {
    std::int64_t number = 0;
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
    const Request request = reserve ? request_of(parameters) : Request{};
    const Instant lock_wait_ends = clockwork_.now() + std::chrono::milliseconds{number_in(parameters[reserve ? 2 : 1])};
    const std::uint64_t incarnation = incarnation_;
    if (!locked()) return execute(request, incarnation, std::move(answer));
    const bool in_time = locked_until_ <= lock_wait_ends;
    clockwork_.at(in_time ? locked_until_ : lock_wait_ends, [this, in_time, request, incarnation, answer] {
        if (incarnation != incarnation_) return;
        in_time ? execute(request, incarnation, answer)
                : answer(failed("55P03", "canceling statement due to lock timeout"));
    });
}

Server::Request Server::request_of(std::span<const std::string> parameters) {
    return {.values = static_cast<std::uint64_t>(number_in(parameters[1])),
            .mark = number_in(parameters[3]),
            .direction = static_cast<int>(number_in(parameters[4]))};
}

void Server::execute(const Request& request, std::uint64_t incarnation, Answer answer) {
    if (request.values == 0) return answer(inspect_answer());
    ++reservations_;
    const bool behind = !planted_.no_mark_check &&
                        is_behind(request.mark, request.direction, model_.last_value(), model_.definition().increment);
    const bool uncalled = !model_.last_value();
    const auto taken = model_.take(behind ? 0 : request.values, !planted_.no_message);
    if (taken.exhausted) return answer(failed("2200H", "nextval: reached maximum value of sequence"));
    const PgAnswer rows = reserve_answer(taken, uncalled);
    if (planted_.answer_before_commit) answer(rows);
    when_durable(taken.commit, incarnation,
                 [this, rows, answer, last = taken.values.empty() ? std::nullopt : std::optional{taken.values.back()}] {
                     if (last && (!answered_ || is_beyond(*last, *answered_, model_.definition().increment)))
                         answered_ = last;
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
    if (!up_ || locked()) return std::nullopt;
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

// The columns that both statements have.
void Server::describe(std::vector<std::optional<std::string>>& row) const {
    const SequenceDefinition& sequence = model_.definition();
    for (const std::string& column : {std::to_string(sequence.minimum), std::to_string(sequence.maximum),
                                      std::to_string(sequence.increment), std::string{"f"}, std::string{"1"}})
        row.emplace_back(column);
    const auto last = model_.last_value();
    row.push_back(last ? std::optional{std::to_string(*last)} : std::nullopt);
    for (const std::string& column : {std::string{"p"}, std::to_string(system_identifier), std::to_string(database_oid),
                                      std::to_string(model_.oid())})
        row.emplace_back(column);
}

PgAnswer Server::reserve_answer(const PostgresModel::Taken& taken, bool uncalled) const {
    // A transaction's values are taken at one stroke, so each follows the one before.
    const std::string first = taken.values.empty() ? "" : std::to_string(taken.values.front());
    std::vector<std::optional<std::string>> row{"{" + first + "}", std::to_string(taken.values.size())};
    describe(row);
    row.emplace_back(uncalled ? "t" : "f");
    return {true, {std::move(row)}, {}, {}};
}

PgAnswer Server::inspect_answer() const {
    std::vector<std::optional<std::string>> row;
    describe(row);
    row.push_back(model_.comment().empty() ? std::nullopt : std::optional{model_.comment()});
    return {true, {std::move(row)}, {}, {}};
}

}  // namespace next_id::simulation
