// A sidecar as it ships, but for its threads and sockets: window file, waiting list, refill, over a simulated
// connection and clock. Can be killed at any moment, and started again on what it left behind.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sidecar/refill/refill.h"
#include "tests/simulation/clockwork.h"
#include "tests/simulation/server.h"

namespace next_id::simulation {

// What a connection may suffer.
struct Network {
    double seconds = 0.0005;  // one way
    bool cut = false;         // packets vanish
    double loss = 0;          // the share of answers that are lost with their connection, after the server did its work
};

// The connection of one sidecar.
class Link final : public Database {
 public:
    struct Listener {
        std::function<void()> connected;
        std::function<void(const std::string&)> disconnected;
        std::function<void(const PgAnswer&)> answered;
        std::function<void()> late;
    };

    Link(Clockwork& clockwork, Server& server, const Network& network, Listener listener)
        : clockwork_{clockwork},
          server_{server},
          network_{network},
          listener_{std::move(listener)},
          alive_{std::make_shared<bool>(true)} {}
    ~Link() { *alive_ = false; }

    PgState state() const override { return state_; }
    void connect() override;
    void query(std::string_view sql, std::span<const std::string> parameters) override;
    void close() override;

    bool reserving() const { return reserving_; }                 // by the last statement
    std::uint64_t reservations() const { return reservations_; }  // that were sent

    // The server's end is gone: the client hears of it, or finds out when its keepalives stay unanswered.
    void server_failed();

 private:
    void after(Duration wait, std::function<void()> event);  // unless the connection has become another one by then
    void lose(const std::string& reason, Duration wait);

    Clockwork& clockwork_;
    Server& server_;
    const Network& network_;
    const Listener listener_;
    const std::shared_ptr<bool> alive_;
    PgState state_ = PgState::closed;
    std::uint64_t number_ = 0;     // of the connection
    std::uint64_t statement_ = 0;  // and of the statement
    std::uint64_t incarnation_ = 0;
    bool reserving_ = false;
    std::uint64_t reservations_ = 0;
};

class SidecarModel {
 public:
    struct Settings {
        std::filesystem::path state_dir;
        Refill::Settings refill;
        Duration wait_max = std::chrono::seconds{1};
        bool goes_back = false;  // the sequence may: then strict order cannot be held against it
    };
    // `given`: IDs that a client got. `fault`: a promise that was broken.
    struct Observer {
        std::function<void(const Range&)> given;
        std::function<void(const std::string&)> fault;
    };

    SidecarModel(Clockwork& clockwork, Server& server, const Settings& settings, Observer observer);
    ~SidecarModel() { kill(); }

    void start(const std::string& boot_id);
    void kill();
    bool running() const { return refill_ != nullptr; }

    void request(std::uint64_t ids);  // by a client
    Network& network() { return network_; }
    void server_failed() {
        if (link_) link_->server_failed();
    }

    // Of the requests since the last call: how many were answered with IDs, and how many were refused.
    struct Tally {
        std::uint64_t served = 0, refused = 0;
    };
    Tally take_tally() { return std::exchange(tally_, {}); }
    Mark mark() const { return supply_->window().mark(); }
    // An operator has moved the sequence past this mark.
    bool told_to_resume(const Mark& mark) const;
    bool busy() const { return link_ && link_->state() == PgState::busy; }
    SequenceRefill& refill() { return *refill_->sequences().front(); }
    std::filesystem::path window_path() const { return supply_->window().path(); }
    void check_deadlines() const;  // no request is kept longer than it may be

 private:
    struct Asked {
        Instant deadline;
        std::optional<std::int64_t> answered;  // the furthest value, to anyone, when the request came
    };

    void drive();
    void answered(const PgAnswer& answer);
    bool tells_of_going_back(const PgAnswer& answer) const;
    void check_resumed();
    void given(const Range& range) const;
    void drive_at(Instant when);
    void check_strict_order(const Range& range, const Asked& asked) const;
    void delivered(const Waiter& waiter, WaitResult result, std::span<const Range> ranges);

    Clockwork& clockwork_;
    Server& server_;
    const Settings settings_;
    const Observer observer_;
    Network network_;
    Tally tally_;
    std::uint64_t next_request_ = 0;
    std::uint64_t last_served_ = 0;
    std::map<std::uint64_t, Asked> waiting_;  // by request
    std::vector<Range> ranges_;

    // It latched with this mark, in this life or one before, and was not seen to resume.
    std::optional<Mark> latched_;

    std::uint64_t life_ = 0;  // grows with each start and kill: events of an earlier life mean nothing
    Instant drive_next_ = never;
    std::unique_ptr<Supply> supply_;
    std::unique_ptr<Link> link_;
    std::unique_ptr<Refill> refill_;
};

}  // namespace next_id::simulation
