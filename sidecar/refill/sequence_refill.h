// The refill of one sequence: what to ask of PostgreSQL and when, what its answers mean, and what may be published.
// Pure but for the window it fills: time and dice come in, steps go out; the refiller carries them over the connection.
// On the refill thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sidecar/base/clock.h"
#include "sidecar/refill/backoff.h"
#include "sidecar/refill/policy.h"
#include "sidecar/refill/refill_tally.h"
#include "sidecar/refill/reservation.h"
#include "sidecar/window/supply.h"

namespace next_id {

enum class RefillState : std::uint8_t {
    verifying,  // nothing asked yet: the first step inspects the sequence, and so whether an adopted window is still
                // its
    reserving,  // the ordinary state; on a new connection, or after a failure, inspected before it reserves again
    refused,    // the sequence is not one that may be used; inspected until that is cured
    latched,    // the sequence went back; inspected until an operator has moved it past the mark
};
inline constexpr std::array refill_state_names{"verifying", "reserving", "refused", "latched"};

class SequenceRefill {
 public:
    struct Settings {
        PolicySettings policy;
        Increment mode = Increment::step;
        Order order = Order::window;
        // Strict order: how long after a request the connection is kept for the next one.
        Duration linger = std::chrono::seconds{5};
    };
    enum class Severity : std::uint8_t { info, warning, error };
    using Report = std::function<void(Severity, const std::string& message)>;  // one call for each change of state
    using Dice = std::function<double()>;                                      // in [0, 1)

    static constexpr std::uint64_t statement_values_max = 100'000;

    // `supply` must outlive it.
    SequenceRefill(Supply& supply, const Settings& settings, Report report, Dice dice);

    struct Step {
        enum class Kind : std::uint8_t { none, inspect, reserve } kind = Kind::none;
        std::uint64_t values = 0;  // of reserve: how many nextvals
    };
    // What was verified may have changed meanwhile: another server may answer now.
    void on_connected() { verified_ = false; }
    // What to send to PostgreSQL now. The caller answers it with exactly one of the calls on_*() below.
    Step next_step(Instant now);
    // When next_step() may have something to say though nothing happened: a back-off ends, or demand reaches the refill
    // level.
    Instant next_step_at(Instant now) const;

    void on_inspected(Instant now, const InspectAnswer& answer);
    // REQUIRES: the statement's transaction is known to be durable.
    void on_reserved(Instant now, const ReserveAnswer& answer);
    // A statement that failed, or whose answer is in doubt: whatever it reserved is lost.
    void on_failed(Instant now, std::string_view sqlstate, const std::string& error);
    // The connection went before the answer came: whatever the statement reserved is lost.
    void on_lost();
    // The connection's trouble, not this sequence's: no statement was sent, or its answer will not come, or is late.
    // Empty: it is over.
    void on_trouble(const Trouble& trouble);

    // Measures demand, publishes what the ring had no room for, serves the waiting. Call it at every wake-up, and once
    // a second.
    void tick(Instant now);

    Supply& supply() { return supply_; }
    RefillState state() const { return state_; }
    bool is_strict() const { return settings_.order == Order::strict; }
    const RefillPolicy& policy() const { return policy_; }
    std::uint64_t left() const { return supply_.window().left() + pending_ids_; }
    std::uint64_t discarded() const { return tally_.discarded_in_all(); }  // IDs thrown away since the process began
    const RefillTally& tally() const { return tally_; }
    std::optional<double> used_share() const {
        return used_share_;
    }                              // of the sequence's values; none until it was seen
    std::uint64_t issued() const;  // IDs taken since the process began
    std::uint64_t received() const { return received_ + discarded(); }  // IDs adopted or reserved, likewise
    const std::string& problem() const { return problem_; }             // why refused or latched; empty otherwise
    // Whether an ID can be had now, as far as is known.
    bool can_give() const {
        return is_strict()
                   ? state_ == RefillState::reserving && own_trouble_.msg.empty() && supply_.trouble().msg.empty()
                   : left() != 0;
    }
    std::optional<Instant> refilled_at() const { return refilled_at_; }
    double seconds_left() const;  // at the present demand; infinite without any

 private:
    bool take_reserved(Instant now, const ReserveAnswer& answer);
    void statement_failed(Instant now, std::string_view sqlstate, const std::string& error);
    template <class Answer>
    bool check_identity(Instant now, const Answer& answer);
    bool check_parameters(Instant now, const SequenceParameters& parameters);
    bool latch_if_it_went_back(Instant now, const std::string& how, const SequenceParameters& parameters);
    void latch(Instant now, const std::string& how, const SequenceParameters& parameters);
    bool is_resumed(Instant now, const InspectAnswer& answer);
    void resume(const InspectAnswer& answer, std::int64_t past);
    void publish(std::vector<Range> ranges);
    void publish_pending();
    void discard(RefillTally::Discarded reason, const std::string& why);
    void replace_closed(Instant now);
    void serve_waiting();
    void serve_strictly();
    void throw_away_rest();
    std::uint64_t wanted();
    void fail(Instant now, const std::string& error);
    void note_sequence_end(const SequenceParameters& parameters, std::int64_t last_value);
    std::uint64_t values_for(std::uint64_t ids) const;

    Supply& supply_;
    const Settings settings_;
    const Report report_;
    const Dice dice_;
    RefillPolicy policy_;
    Backoff backoff_;
    RefillState state_ = RefillState::verifying;
    Instant not_before_ = Instant::min();
    std::string problem_;
    bool verified_ = false;  // inspected since the last connection or failure
    Trouble own_trouble_;    // of its last statement; empty when that succeeded

    std::deque<Range> pending_;  // reserved, but the ring had no room yet; before all that is reserved later
    std::uint64_t pending_ids_ = 0;
    std::uint64_t received_ = 0;  // IDs adopted or reserved, but for those discarded
    RefillTally tally_;
    bool filled_once_ = false;    // it had more than was waited for
    std::vector<Range> scratch_;  // for those who wait, made when the first does

    std::int64_t increment_ = 0;                       // as last seen; 0: not yet
    std::uint64_t values_left_ = 1;                    // until the end of the sequence, as last seen
    std::uint64_t values_max_ = statement_values_max;  // in one statement: halved when one times out
    std::uint64_t values_asked_ = 0;                   // by the step under way
    std::optional<double> used_share_;
    bool near_end_reported_ = false;
    std::optional<Instant> refilled_at_;

    WaitingList::Id asked_for_ = 0;      // strict order: the last request that waited when the step under way was made
    Instant asked_at_ = Instant::min();  // when that was made
};

}  // namespace next_id
