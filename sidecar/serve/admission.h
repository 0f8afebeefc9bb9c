// Who may come in: counts the connections, in all and of each client, and knows which local users may connect. Whoever
// may not is told so before the connection is closed, if not too many are being told already. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/http_request.h"
#include "sidecar/api/client.h"
#include "sidecar/metrics/serve_counters.h"

namespace next_id {

class Admission {
 public:
    static constexpr std::size_t refused_max = 64;  // at a time, on their way out

    enum class Reason : std::uint8_t { user, connections_max, connections_per_client };  // why somebody is refused
    static constexpr std::array reason_names{"user", "connections_max", "connections_per_client"};

    struct Rules {
        std::size_t connections_max = 10'000;
        std::size_t per_client_max = 0;   // 0: no limit but the other one
        std::vector<std::uint32_t> uids;  // of the local users that may connect; empty: all may
    };

    // The place of one connection, given up when it is destroyed. One that was moved from holds none.
    class Seat {
     public:
        Seat() = default;
        Seat(Seat&& from) noexcept
            : admission_{std::exchange(from.admission_, nullptr)},
              key_{from.key_},
              listener_{from.listener_},
              refused_{from.refused_} {}
        Seat& operator=(Seat&& from) noexcept;
        ~Seat() {
            if (admission_ != nullptr) admission_->leave(*this);
        }

        explicit operator bool() const { return admission_ != nullptr; }

     private:
        friend Admission;
        Seat(Admission& admission, std::uint64_t key, ListenerName listener, bool refused)
            : admission_{&admission}, key_{key}, listener_{listener}, refused_{refused} {}

        Admission* admission_ = nullptr;
        std::uint64_t key_ = 0;
        ListenerName listener_{};
        bool refused_ = false;
    };

    struct Decision {
        Seat seat;                         // without one, close at once
        std::optional<HttpError> refusal;  // to be told
    };

    // Outlives every seat.
    explicit Admission(Rules rules) : rules_{std::move(rules)} {}
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    Decision decide(const Client& client, ListenerName listener);

    // What has been decided of those who came by one listener.
    struct Tally {
        std::size_t open = 0;  // connections that were let in and are not over
        std::uint64_t let_in = 0;
        std::array<std::uint64_t, reason_names.size()> refused{};
    };
    Tally tally(ListenerName listener) const;

 private:
    std::optional<Reason> why_not(const Client& client, std::uint64_t key) const;
    void leave(const Seat& seat);

    const Rules rules_;
    mutable std::mutex mutex_;
    std::array<Tally, listener_names.size()> tallies_;
    std::size_t connections_ = 0, refused_ = 0;
    std::unordered_map<std::uint64_t, std::size_t> of_client_;  // only when that is limited
};

}  // namespace next_id
