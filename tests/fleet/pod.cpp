#include "tests/fleet/pod.h"

#include <charconv>
#include <cmath>

#include "sidecar/base/require.h"
#include "sql/statements.h"

namespace next_id::fleet {

namespace {

constexpr Duration connect_timeout = std::chrono::seconds{5};
constexpr Duration wait_max = std::chrono::seconds{1};
constexpr Duration naive_retry = std::chrono::seconds{1};
constexpr double just_below_1 = 0.999999;

Refill::Settings refill_settings(const Pod::Settings& settings) {
    Refill::Settings all{.sequence = {.mode = settings.mode}};
    if (settings.manner == Manner::naive) all.idle_close = std::chrono::hours{1000};
    return all;
}

SequenceRefill::Dice dice_of(Clockwork& clockwork, Manner manner) {
    if (manner != Manner::shipped) return [] { return just_below_1; };
    return [&clockwork] { return clockwork.share(); };
}

}  // namespace

void Link::connect() {
    require(state_ == PgState::closed || state_ == PgState::broken);
    state_ = PgState::connecting;
    const std::uint64_t number = ++number_;
    session_ = server_.connect([this, number](bool connected) {
        if (number != number_) return;
        if (!connected) return lose("refused");
        state_ = PgState::idle;
        listener_.connected();
    });
    clockwork_.after(connect_timeout, [this, number] {
        if (number == number_ && state_ == PgState::connecting) lose("timeout expired");
    });
}

void Link::query(std::string_view sql, std::span<const std::string> parameters) {
    require(state_ == PgState::idle);
    state_ = PgState::busy;
    const auto answered = [this, number = number_](const PgAnswer& answer) {
        if (number != number_) return;
        state_ = PgState::idle;
        listener_.answered(answer);
    };
    if (sql == sql::inspect) return server_.inspect(session_, answered);
    std::uint64_t values = 0;
    std::from_chars(parameters[1].data(), parameters[1].data() + parameters[1].size(), values);
    server_.reserve(session_, values, answered);
}

void Link::close() {
    ++number_;
    state_ = PgState::closed;
    if (session_) server_.leave(std::exchange(session_, nullptr));
}

void Link::lose(const std::string& reason) {
    const bool attempt = state_ == PgState::connecting;
    close();
    state_ = PgState::broken;
    if (manner_ != Manner::naive) return listener_.disconnected(reason);
    if (!attempt) listener_.disconnected(reason);
    if (state_ != PgState::broken) return;
    state_ = PgState::connecting;  // so that the refill leaves the retry to us
    clockwork_.after(naive_retry, [this, number = number_] {
        if (number != number_) return;
        state_ = PgState::broken;
        connect();
    });
}

void Link::server_stopped() {
    if (session_ && state_ != PgState::connecting) lose("server closed the connection unexpectedly");
}

Pod::Pod(Clockwork& clockwork, Server& server, const Settings& settings)
    : clockwork_{clockwork},
      settings_{settings},
      supply_{"ids", std::make_unique<WindowFile>(),
              Supply::Wiring{.ring = [this] { drive_at(clockwork_.now()); },
                             .deliver =
                                 [this](const Waiter& waiter, WaitResult result, std::span<const Range>) {
                                     if (result != WaitResult::served) refused_ += double(waiter.ids);
                                 }}},
      link_{clockwork, server, settings.manner,
            Link::Listener{
                .connected = [this] { refill_.on_connected(clockwork_.now()), drive(); },
                .disconnected =
                    [this](const std::string& why) { refill_.on_disconnected(clockwork_.now(), why), drive(); },
                .answered = [this](const PgAnswer& answer) { refill_.on_answer(clockwork_.now(), answer), drive(); }}},
      refill_{link_, refill_settings(settings), {&supply_}, dice_of(clockwork, settings.manner)},
      demanded_at_{clockwork.now()} {}

// What was asked for since the last look. What finds the window dry waits, as the requests of at most a second would.
void Pod::demand() {
    const Instant now = clockwork_.now();
    owed_ += settings_.demand * std::chrono::duration<double>(now - demanded_at_).count();
    demanded_at_ = now;
    Range range;
    const auto ids = static_cast<std::uint64_t>(owed_);
    if (ids != 0 && supply_.waiting().empty()) {
        owed_ -= double(supply_.window().take(ids, {&range, 1}, true).count);
        const double dry = std::floor(owed_);
        if (dry >= 1) {
            owed_ -= dry;
            supply_.waiting().park({.ids = std::uint64_t(dry), .deadline = now + wait_max});
        }
    }
    const double most = std::max(1.0, settings_.demand * std::chrono::duration<double>(wait_max).count());
    if (owed_ > most) refused_ += owed_ - most, owed_ = most;
}

void Pod::drive() {
    demand();
    drive_next_ = never;
    drive_at(refill_.drive(clockwork_.now()));
}

void Pod::drive_at(Instant when) {
    when = std::max(when, clockwork_.now());
    if (when >= drive_next_) return;
    drive_next_ = when;
    // A millisecond is what the sidecar's timer can do.
    clockwork_.at(when + std::chrono::milliseconds{1}, [this, when] {
        if (when == drive_next_) drive();
    });
}

bool Pod::is_low() const {
    constexpr double floor_share = 0.8;  // of the reserve, which is half the target
    return double(left()) < floor_share * double(refill_.sequences().front()->policy().target()) / 2;
}

}  // namespace next_id::fleet
