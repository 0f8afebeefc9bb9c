#include "sidecar/refill/standing.h"

namespace next_id {

namespace {

Standing::Kind kind_after(Standing::Kind before, PgState state) {
    switch (state) {
        case PgState::closed:
            return Standing::Kind::closed;
        case PgState::resolving:
        case PgState::connecting:
            return before == Standing::Kind::away ? before : Standing::Kind::connecting;
        case PgState::idle:
        case PgState::busy:
            return Standing::Kind::connected;
        case PgState::broken:
            return Standing::Kind::away;
    }
    return before;
}

}  // namespace

void Standing::observe(PgState state, Instant now) {
    const Kind kind = kind_after(kind_, state);
    if (kind != kind_) since_ = now;
    kind_ = kind;
}

}  // namespace next_id
