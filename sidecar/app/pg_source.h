// The configured source of IDs: how to connect to it, and how a window remembers it.
#pragma once

#include <string>

#include "sidecar/base/expected.h"
#include "sidecar/config/config.h"
#include "sidecar/refill/pg_target.h"

namespace next_id {

// PG_CONNINFO first, then PG_*; libpq adds its own variables. The password is read anew at each connection.
Expected<PgTarget> pg_target_of(const Config& config);

// Of all that decides which sequence is meant: hosts, database, user (whose search_path it is), name. No secret goes
// into it.
std::string source_digest(const PgTarget& target, const std::string& sequence);

}  // namespace next_id
