// What PostgreSQL answered to one statement, and its messages as one line of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct pg_result;

namespace next_id {

struct PgAnswer {
    // True iff the transaction is known to be committed as asked: every result came with rows, the server was ready
    // again while the connection stood, and no WARNING came (a cancelled wait for a standby returns rows, and only
    // warns).
    bool ok = false;
    std::vector<std::vector<std::optional<std::string>>> rows;  // as text, null as nullopt; empty unless ok
    std::string sqlstate;  // of the error or warning; empty if ok, or if it is libpq's
    std::string error;     // empty if ok
};

// Adds one result: its rows, or its error if it is the first.
void add_result(PgAnswer& answer, const pg_result& result);

// "ERROR: message; detail; hint", without the statement's text.
std::string describe(const pg_result& result);

// libpq's messages span lines, and hold whatever a server says; ours are one line, without control characters, and not
// longer than is worth keeping.
std::string one_line(std::string_view text);

}  // namespace next_id
