// PostgreSQL's rows, in text, to the numbers of an answer. The columns are those of sql/reserve.sql and
// sql/inspect.sql. Pure.
#pragma once

#include "sidecar/base/expected.h"
#include "sidecar/refill/pg_answer.h"
#include "sidecar/refill/reservation.h"

namespace next_id {

// REQUIRES: answer.ok. An error when the row is not of the shape that the statement promises.
Expected<ReserveAnswer> read_reserve_answer(const PgAnswer& answer);
Expected<InspectAnswer> read_inspect_answer(const PgAnswer& answer);

}  // namespace next_id
