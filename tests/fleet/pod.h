// A sidecar of the fleet: the refill as it ships, under a steady demand, over one connection to the server. Its window
// is a number (see in_memory/), its clients a rate.
#pragma once

#include <functional>
#include <memory>

#include "sidecar/refill/refill.h"
#include "tests/fleet/server.h"

namespace next_id::fleet {

enum class Manner : std::uint8_t {
    shipped,
    unjittered,  // every dice shows the same: exponential back-off, and all at the same moments
    naive,       // nor back-off: the connection is kept, and when it is lost, tried again every second
};

class Link final : public Database {
 public:
    struct Listener {
        std::function<void()> connected;
        std::function<void(const std::string&)> disconnected;
        std::function<void(const PgAnswer&)> answered;
    };

    Link(Clockwork& clockwork, Server& server, Manner manner, Listener listener)
        : clockwork_{clockwork}, server_{server}, manner_{manner}, listener_{std::move(listener)} {}

    PgState state() const override { return state_; }
    void connect() override;
    void query(std::string_view sql, std::span<const std::string> parameters) override;
    void close() override;
    void server_stopped();

 private:
    void lose(const std::string& reason);

    Clockwork& clockwork_;
    Server& server_;
    const Manner manner_;
    const Listener listener_;
    PgState state_ = PgState::closed;
    std::uint64_t number_ = 0;
    Server::SessionPtr session_;
};

class Pod {
 public:
    struct Settings {
        double demand = 0;  // IDs per second
        Increment mode = Increment::step;
        Manner manner = Manner::shipped;
    };

    Pod(Clockwork& clockwork, Server& server, const Settings& settings);

    void start() { drive(); }
    void server_stopped() { link_.server_stopped(); }

    bool is_low() const;  // below what the policy keeps at all times: the reserve, less its jitter
    double refused() const { return refused_; }  // IDs that were asked for and not had in time
    std::uint64_t left() const { return refill_.sequences().front()->left(); }

 private:
    void drive();
    void drive_at(Instant when);
    void demand();

    Clockwork& clockwork_;
    const Settings settings_;
    Supply supply_;
    Link link_;
    Refill refill_;
    Instant drive_next_ = never;
    Instant demanded_at_;
    double owed_ = 0, refused_ = 0;
};

}  // namespace next_id::fleet
