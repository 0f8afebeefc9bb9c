// How much each client may ask for in a time: a token bucket for every IPv4 address, IPv6 /64 and local user. Its
// memory is fixed, whatever the number of clients. Any thread; time comes in as an argument.
//
// A bucket is one instant: when it will be full again. A client that is not in the table has a full bucket, so a full
// one need not be kept. When there are more clients with less than a full bucket than have room, a newcomer takes over
// the place and the debt of the one that has the least. So no number of addresses gains anybody anything: whoever was
// driven out comes back to a debt no smaller than what he left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "sidecar/api/client.h"
#include "sidecar/base/clock.h"
#include "sidecar/config/config.h"

namespace next_id {

struct RateLimit {
    Rate rate;                // neither part of it is 0
    std::uint64_t burst = 0;  // that a client may ask for at once when it has asked for nothing before; not 0
    bool of_ids = false;      // or else of requests
};

class RateLimiter {
 public:
    static constexpr std::size_t ways = 16;            // places that a client may have
    static constexpr std::size_t sets_default = 4096;  // 65,536 places: 1.2 MB

    // `seed` is secret, so that nobody can choose addresses that crowd out one another. `sets` is a power of two.
    RateLimiter(const RateLimit& limit, std::uint64_t seed, std::size_t sets = sets_default);

    // Zero: the client may go on, with a request for so many IDs. Else nothing is taken, and that long it has to wait.
    // More IDs than the burst are never granted.
    Duration take(const Client& client, std::uint64_t ids, Instant now);

 private:
    struct Bucket {
        std::uint64_t client = 0;
        Duration::rep full_at = 0;  // nanoseconds of the clock; 0 has been full for ever, whosever it is
    };
    struct Set {
        std::mutex mutex;
        std::array<Bucket, ways> buckets;
    };

    Duration::rep time_of(std::uint64_t cost) const;
    Set& set_of(std::uint64_t client);

    const RateLimit limit_;
    const Duration::rep burst_time_;
    const std::uint64_t seed_;
    const std::size_t sets_;
    const std::unique_ptr<Set[]> table_;
};

}  // namespace next_id
