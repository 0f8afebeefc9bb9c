#include "sidecar/api/rate_limiter.h"

#include <algorithm>

#include "sidecar/base/require.h"

namespace next_id {

namespace {

// Every bit of the result depends on every bit of `value` (the finalizer of MurmurHash3).
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
    value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
    return value ^ value >> 33;
}

}  // namespace

RateLimiter::RateLimiter(const RateLimit& limit, std::uint64_t seed, std::size_t sets)
    : limit_{limit},
      burst_time_{time_of(limit.burst)},
      seed_{seed},
      sets_{sets},
      table_{std::make_unique<Set[]>(sets)} {
    require(sets > 0 && (sets & (sets - 1)) == 0);
}

// How long the bucket takes to gain `cost`.
Duration::rep RateLimiter::time_of(std::uint64_t cost) const {
    using Wide = unsigned __int128;
    const auto period = static_cast<Wide>(Duration{limit_.rate.period}.count());
    return static_cast<Duration::rep>((cost * period + limit_.rate.count / 2) / limit_.rate.count);
}

RateLimiter::Set& RateLimiter::set_of(std::uint64_t client) {
    return table_[mixed(mixed(client ^ seed_) + seed_) & (sets_ - 1)];
}

Duration RateLimiter::take(const Client& client, std::uint64_t ids, Instant now) {
    const Duration::rep at = now.time_since_epoch().count();
    const std::uint64_t key = key_of(client);
    Set& set = set_of(key);
    const std::scoped_lock lock{set.mutex};
    const auto known = std::ranges::find(set.buckets, key, &Bucket::client);
    Bucket& bucket = known != set.buckets.end() ? *known : *std::ranges::min_element(set.buckets, {}, &Bucket::full_at);
    const Duration::rep full_at = std::max(bucket.full_at, at) + time_of(limit_.of_ids ? ids : 1);
    if (full_at - at > burst_time_) return Duration{full_at - at - burst_time_};
    bucket = {key, full_at};
    return Duration::zero();
}

}  // namespace next_id
