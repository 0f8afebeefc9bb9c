// The connection to PostgreSQL as an operator sees it, and since when: an outage lasts from its first failure to the
// next success, however often connecting is tried meanwhile. Pure: the time comes in. On the refill thread.
#pragma once

#include <cstdint>

#include "sidecar/base/clock.h"
#include "sidecar/refill/database.h"

namespace next_id {

class Standing {
 public:
    enum class Kind : std::uint8_t { closed, connecting, connected, away };

    explicit Standing(Instant now) : since_{now} {}

    // Call it whenever the connection may have changed.
    void observe(PgState state, Instant now);

    Kind kind() const { return kind_; }
    Instant since() const { return since_; }

 private:
    Kind kind_ = Kind::closed;
    Instant since_;
};

}  // namespace next_id
