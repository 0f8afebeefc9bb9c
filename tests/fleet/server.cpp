#include "tests/fleet/server.h"

#include <algorithm>

namespace next_id::fleet {

Bin& Server::bin() {
    const std::size_t index = bin_now();
    if (index >= bins_.size()) bins_.resize(index + 1);
    bins_[index].open = std::max(bins_[index].open, std::uint32_t(open_));
    return bins_[index];
}

// On the core that is free first, which shares the cores about fairly, since a process has one piece of work at a time.
// What was under way when the server stopped never ends.
void Server::work(double cpu_ms, double wait_ms, std::function<void()> then) {
    const auto core = std::ranges::min_element(free_at_);
    const Instant begin = std::max(*core, clockwork_.now());
    *core = begin + of_ms(cpu_ms);
    clockwork_.at(*core, [this, cpu_ms, incarnation = incarnation_] {
        if (incarnation == incarnation_) bin().busy_ms += cpu_ms;
    });
    clockwork_.at(*core + of_ms(wait_ms), [this, incarnation = incarnation_, then = std::move(then)] {
        if (incarnation == incarnation_) then();
    });
}

Server::SessionPtr Server::connect(Outcome outcome) {
    auto session = std::make_shared<Session>();
    ++bin().attempts;
    clockwork_.after(of_ms(capacity_.network_ms),
                     [this, arrival = Arrival{session, std::move(outcome)}] { arrive(arrival, 0); });
    return session;
}

// When too many wait to be accepted, the kernel drops the client's packet, and the client's kernel sends it again.
void Server::arrive(const Arrival& arrival, int tries) {
    if (arrival.session->left) return;
    if (!up_) return answer(arrival, false);
    arrival.session->incarnation = incarnation_;
    if (arrivals_.size() >= capacity_.backlog()) {
        clockwork_.after(std::chrono::seconds{1 << tries}, [this, arrival, tries] { arrive(arrival, tries + 1); });
        return;
    }
    arrivals_.push_back(arrival);
    if (!accepting_) accept();
}

// One at a time, and the postmaster waits for a core as any other process does.
void Server::accept() {
    accepting_ = !arrivals_.empty();
    if (!accepting_) return;
    work(capacity_.fork_ms, 0, [this] {
        admit(arrivals_.front());
        arrivals_.pop_front();
        accept();
    });
}

void Server::admit(const Arrival& arrival) {
    const bool in_vain = arrival.session->left;  // its backend sees that at the first answer
    if (in_vain || open_ >= capacity_.connections_max)
        return work(capacity_.refuse_ms, 0, [this, arrival] { answer(arrival, false); });
    ++open_;
    arrival.session->counted = true;
    run(arrival.session, capacity_.connect_ms, 4 * capacity_.network_ms, [this, arrival] {
        ++bin().connected;
        answer(arrival, true);
    });
}

void Server::answer(const Arrival& arrival, bool connected) {
    if (!connected) ++bin().refused;
    clockwork_.after(of_ms(capacity_.network_ms), [arrival, connected] {
        if (!arrival.session->left) arrival.outcome(connected);
    });
}

void Server::inspect(const SessionPtr& session, std::function<void(const PgAnswer&)> answer) {
    ++bin().statements;
    run(session, capacity_.inspect_ms, 2 * capacity_.network_ms, [this, answer = std::move(answer)] {
        answer({true,
                {{"1", "9223372036854775807", std::to_string(increment_), "f", "1", std::to_string(last_value_), "p",
                  "1", "1", "1", std::nullopt}},
                {},
                {}});
    });
}

// Values are taken at the statement's end, one run of them: other sessions would break it into several.
void Server::reserve(const SessionPtr& session, std::uint64_t values, std::function<void(const PgAnswer&)> answer) {
    ++bin().statements;
    const double cpu_ms = (std::exchange(session->warm, true) ? capacity_.reserve_ms : capacity_.first_ms) +
                          capacity_.value_ms * double(values);
    run(session, cpu_ms, capacity_.commit_ms + 2 * capacity_.network_ms, [this, values, answer = std::move(answer)] {
        const std::int64_t first = last_value_ + increment_;
        last_value_ += increment_ * std::int64_t(values);
        answer({true,
                {{"{" + std::to_string(first) + "}", std::to_string(values), "1", "9223372036854775807",
                  std::to_string(increment_), "f", "1", std::to_string(last_value_), "p", "1", "1", "1", "f"}},
                {},
                {}});
    });
}

void Server::run(const SessionPtr& session, double cpu_ms, double wait_ms, std::function<void()> then) {
    if (session->incarnation != incarnation_) return;
    session->running = true;
    work(cpu_ms, wait_ms, [this, session, then = std::move(then)] {
        session->running = false;
        if (session->left) return release(session);
        then();
    });
}

void Server::leave(const SessionPtr& session) {
    session->left = true;
    if (!session->running) release(session);
}

void Server::release(const SessionPtr& session) {
    if (!std::exchange(session->counted, false) || session->incarnation != incarnation_) return;
    bin();
    --open_;
}

void Server::stop() {
    bin();
    up_ = false;
    ++incarnation_;
    open_ = 0;
    accepting_ = false;
    for (const Arrival& arrival : std::exchange(arrivals_, {})) answer(arrival, false);
    std::ranges::fill(free_at_, clockwork_.now());
}

void Server::start() {
    up_ = true;
}

}  // namespace next_id::fleet
