#include "tests/simulation/sidecar_model.h"

#include "sidecar/base/require.h"
#include "sidecar/refill/answer_reader.h"
#include "sidecar/refill/guard.h"
#include "sql/statements.h"

namespace next_id::simulation {

namespace {

constexpr Duration connect_timeout = std::chrono::seconds{5};
constexpr Duration query_timeout = std::chrono::seconds{5};
constexpr Duration keepalive = std::chrono::seconds{15};
constexpr Duration lateness_max = std::chrono::milliseconds{5};  // of an answer behind its request's deadline
constexpr std::uint64_t slot_count = 64;

}  // namespace

void Link::after(Duration wait, std::function<void()> event) {
    clockwork_.after(wait, [this, alive = alive_, number = number_, event = std::move(event)] {
        if (*alive && number == number_) event();
    });
}

void Link::lose(const std::string& reason, Duration wait) {
    after(wait, [this, reason] {
        ++number_;
        state_ = PgState::broken;
        listener_.disconnected(reason);
    });
}

void Link::connect() {
    require(state_ == PgState::closed || state_ == PgState::broken);
    ++number_;
    state_ = PgState::connecting;
    if (network_.cut) return lose("timeout expired", connect_timeout);
    if (!server_.up()) return lose("Connection refused", clockwork_.wait_of_about(network_.seconds));
    incarnation_ = server_.incarnation();
    after(clockwork_.wait_of_about(4 * network_.seconds), [this] {
        state_ = PgState::idle;
        listener_.connected();
    });
}

void Link::query(std::string_view sql, std::span<const std::string> parameters) {
    require(state_ == PgState::idle);  // so at most one reservation is in flight
    state_ = PgState::busy;
    reserving_ = sql == sql::reserve;
    reservations_ += reserving_;
    const std::uint64_t statement = ++statement_;
    after(query_timeout, [this, statement] {
        if (state_ == PgState::busy && statement == statement_) listener_.late();
    });
    if (network_.cut) return lose("keepalive timeout", keepalive);
    after(clockwork_.wait_of_about(network_.seconds),
          [this, sql, copies = std::vector(parameters.begin(), parameters.end())] {
              if (incarnation_ != server_.incarnation())
                  return lose("server closed the connection unexpectedly", Duration::zero());
              server_.run(sql, copies, [this, alive = alive_, number = number_](const PgAnswer& answer) {
                  if (!*alive || number != number_) return;  // nobody is there to hear it
                  if (network_.cut) return lose("keepalive timeout", keepalive);
                  if (clockwork_.chance(network_.loss))
                      return lose("connection reset by peer", clockwork_.wait_of_about(network_.seconds));
                  after(clockwork_.wait_of_about(network_.seconds), [this, answer] {
                      state_ = PgState::idle;
                      listener_.answered(answer);
                  });
              });
          });
}

void Link::close() {
    ++number_;
    state_ = PgState::closed;
}

void Link::server_failed() {
    if (state_ == PgState::closed || state_ == PgState::broken) return;
    lose("server closed the connection unexpectedly",
         network_.cut ? keepalive : clockwork_.wait_of_about(network_.seconds));
}

SidecarModel::SidecarModel(Clockwork& clockwork, Server& server, const Settings& settings, Observer observer)
    : clockwork_{clockwork},
      server_{server},
      settings_{settings},
      observer_{std::move(observer)},
      ranges_(slot_count) {}

void SidecarModel::start(const std::string& boot_id) {
    require(!running());
    ++life_;
    auto window = WindowFile::open({.state_dir = settings_.state_dir,
                                    .sequence = "ids",
                                    .source_digest = "source",
                                    .pod_uid = "",
                                    .boot_id = boot_id,
                                    .slot_count = slot_count});
    if (!window) return observer_.fault("cannot open the window: " + window.error());
    supply_ = std::make_unique<Supply>(
        "ids", std::move(*window),
        Supply::Wiring{.ring = [this] { drive_at(clockwork_.now() + clockwork_.wait_of_about(0.0001)); },
                       .deliver = [this](const Waiter& waiter, WaitResult result,
                                         std::span<const Range> ranges) { delivered(waiter, result, ranges); }});
    link_ = std::make_unique<Link>(
        clockwork_, server_, network_,
        Link::Listener{.connected = [this] { refill_->on_connected(clockwork_.now()), drive(); },
                       .disconnected =
                           [this](const std::string& why) { refill_->on_disconnected(clockwork_.now(), why), drive(); },
                       .answered = [this](const PgAnswer& answer) { this->answered(answer), drive(); },
                       .late = [this] { refill_->on_late(); }});
    refill_ = std::make_unique<Refill>(*link_, settings_.refill, std::vector{supply_.get()},
                                       [this] { return clockwork_.share(); });
    drive_next_ = never;
    drive();
}

void SidecarModel::kill() {
    ++life_;
    refill_.reset();
    link_.reset();
    supply_.reset();
    waiting_.clear();
}

void SidecarModel::drive() {
    const std::uint64_t reservations = link_->reservations();
    drive_next_ = never;
    drive_at(refill_->drive(clockwork_.now()));
    if (latched_ && link_->reservations() != reservations) check_resumed();
}

void SidecarModel::answered(const PgAnswer& answer) {
    const bool must_latch = tells_of_going_back(answer);
    refill_->on_answer(clockwork_.now(), answer);
    const Mark mark = supply_->window().mark();
    if (must_latch && !mark.latched)
        observer_.fault("a sidecar was told that the sequence is behind its mark, and did not latch");
    if (!latched_ && (must_latch || mark.latched)) latched_ = mark;
}

bool SidecarModel::tells_of_going_back(const PgAnswer& answer) const {
    const Mark mark = supply_->window().mark();
    const auto behind = [&mark](const auto& read) {
        return is_behind(mark.last_value, mark.direction, read->last_value, read->parameters.increment);
    };
    if (!answer.ok || mark.latched) return false;
    return link_->reserving() ? behind(read_reserve_answer(answer)) : behind(read_inspect_answer(answer));
}

bool SidecarModel::told_to_resume(const Mark& mark) const {
    const auto past = resume_past(server_.model().comment());
    const std::int64_t increment = server_.model().definition().increment;
    return past && !is_beyond(furthest_of(mark, increment > 0 ? 1 : -1), *past, increment);
}

// It latched, and asks for values again.
void SidecarModel::check_resumed() {
    if (!told_to_resume(*latched_)) observer_.fault("a latched sidecar asked for values");
    latched_.reset();
}

void SidecarModel::given(const Range& range) const {
    if (latched_) observer_.fault("a latched sidecar gave out IDs");
    observer_.given(range);
}

void SidecarModel::drive_at(Instant when) {
    if (when >= drive_next_) return;
    drive_next_ = when;
    clockwork_.at(when, [this, when, life = life_] {
        if (life == life_ && when == drive_next_) drive();
    });
}

// As the serve threads do it: see IdService and IdHandler.
void SidecarModel::request(std::uint64_t ids) {
    const std::uint64_t number = next_request_++;
    const bool strict = settings_.refill.sequence.order == Order::strict;
    const Taken taken = strict || !supply_->waiting().empty() ? Taken{} : supply_->window().take(ids, ranges_);
    if (taken.wake) supply_->ring();
    if (taken.result == TakeResult::taken) {
        ++tally_.served;
        for (std::size_t i = 0; i < taken.ranges; ++i) given(ranges_[i]);
        return;
    }
    const Instant deadline = clockwork_.now() + settings_.wait_max;
    waiting_.emplace(number, Asked{deadline, server_.answered()});
    supply_->waiting().park({.ids = ids, .deadline = deadline, .request = number});
    supply_->ring();
}

void SidecarModel::delivered(const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
    const auto asked = waiting_.extract(waiter.request);
    if (asked.empty()) return observer_.fault("a request was answered twice");
    if (clockwork_.now() > waiter.deadline + lateness_max) observer_.fault("a request was answered after its deadline");
    if (result != WaitResult::served) {
        ++tally_.refused;
        return;
    }
    ++tally_.served;
    if (waiter.request < last_served_) observer_.fault("requests were not answered in their order");
    last_served_ = waiter.request;
    std::uint64_t count = 0;
    for (const Range& range : ranges) {
        count += range.count;
        given(range);
        check_strict_order(range, asked.mapped());
    }
    if (count != waiter.ids) observer_.fault("a request got another number of IDs than it asked for");
}

// In strict order an ID lies beyond all that anyone had been answered when its request came.
void SidecarModel::check_strict_order(const Range& range, const Asked& asked) const {
    if (settings_.refill.sequence.order != Order::strict || settings_.goes_back || !asked.answered) return;
    const bool ascending = server_.model().definition().increment > 0;
    const std::int64_t first =
        ascending ? std::min(range.first, last_of(range)) : std::max(range.first, last_of(range));
    if (ascending ? first <= *asked.answered : first >= *asked.answered)
        observer_.fault("strict order: an ID is older than its request");
}

void SidecarModel::check_deadlines() const {
    for (const auto& [request, asked] : waiting_)
        if (clockwork_.now() > asked.deadline + lateness_max) observer_.fault("a request was forgotten");
}

}  // namespace next_id::simulation
