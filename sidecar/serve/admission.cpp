#include "sidecar/serve/admission.h"

#include <algorithm>

namespace next_id {

namespace {

// In the order of the reasons.
constexpr std::array<HttpError, Admission::reason_names.size()> errors{{
    {403, "this user may not connect here; --socket-allow-uid names those who may"},
    {503, "there are as many connections as --connections-max allows (--admin: 100); close some, or try again later"},
    {503, "this client has as many connections as --connections-per-client allows; close some, or use them again"},
}};

}  // namespace

Admission::Seat& Admission::Seat::operator=(Seat&& from) noexcept {
    std::swap(admission_, from.admission_);
    std::swap(key_, from.key_);
    std::swap(listener_, from.listener_);
    std::swap(refused_, from.refused_);
    return *this;
}

Admission::Decision Admission::decide(const Client& client, ListenerName listener) {
    const std::uint64_t key = key_of(client);
    const std::scoped_lock lock{mutex_};
    Tally& tally = tallies_[static_cast<std::size_t>(listener)];
    Decision decision;
    if (const auto reason = why_not(client, key)) {
        const auto place = static_cast<std::size_t>(*reason);
        decision.refusal = errors[place];
        ++tally.refused[place];
        if (refused_ == refused_max) return decision;
        ++refused_;
    } else {
        ++tally.open;
        ++tally.let_in;
        ++connections_;
        if (rules_.per_client_max != 0) ++of_client_[key];
    }
    decision.seat = Seat{*this, key, listener, decision.refusal.has_value()};
    return decision;
}

Admission::Tally Admission::tally(ListenerName listener) const {
    const std::scoped_lock lock{mutex_};
    return tallies_[static_cast<std::size_t>(listener)];
}

std::optional<Admission::Reason> Admission::why_not(const Client& client, std::uint64_t key) const {
    const bool local = client.transport == Client::Transport::unix_socket;
    if (local && !rules_.uids.empty() && std::ranges::find(rules_.uids, client.uid) == rules_.uids.end())
        return Reason::user;
    if (connections_ >= rules_.connections_max) return Reason::connections_max;
    if (rules_.per_client_max == 0) return std::nullopt;
    const auto found = of_client_.find(key);
    if (found != of_client_.end() && found->second >= rules_.per_client_max) return Reason::connections_per_client;
    return std::nullopt;
}

void Admission::leave(const Seat& seat) {
    const std::scoped_lock lock{mutex_};
    if (seat.refused_) {
        --refused_;
        return;
    }
    --tallies_[static_cast<std::size_t>(seat.listener_)].open;
    --connections_;
    const auto found = of_client_.find(seat.key_);
    if (found != of_client_.end() && --found->second == 0) of_client_.erase(found);
}

}  // namespace next_id
