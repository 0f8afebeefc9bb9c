// Who may come in: counts the connections, in all and of each client, and knows which local users may connect. Whoever
// may not is told so before the connection is closed, if not too many are being told already. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/http_request.h"
#include "sidecar/api/client.h"

namespace next_id {

class Admission {
 public:
    static constexpr std::size_t refused_max = 64;  // at a time, on their way out

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
            : admission_{std::exchange(from.admission_, nullptr)}, key_{from.key_}, refused_{from.refused_} {}
        Seat& operator=(Seat&& from) noexcept;
        ~Seat() {
            if (admission_ != nullptr) admission_->leave(*this);
        }

        explicit operator bool() const { return admission_ != nullptr; }

     private:
        friend Admission;
        Seat(Admission& admission, std::uint64_t key, bool refused)
            : admission_{&admission}, key_{key}, refused_{refused} {}

        Admission* admission_ = nullptr;
        std::uint64_t key_ = 0;
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

    Decision decide(const Client& client);

 private:
    std::optional<HttpError> why_not(const Client& client, std::uint64_t key) const;
    void leave(const Seat& seat);

    const Rules rules_;
    std::mutex mutex_;
    std::size_t connections_ = 0, refused_ = 0;
    std::unordered_map<std::uint64_t, std::size_t> of_client_;  // only when that is limited
};

}  // namespace next_id
