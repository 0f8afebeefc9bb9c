// The seam between what the refill decides and the connection that carries it: PgConnection in the sidecar, a simulated
// PostgreSQL in tests. Statements and answers as text; see pg_connection.h for what each call requires, and which
// answers count as good.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace next_id {

enum class PgState : std::uint8_t {
    closed,      // never connected, or closed by the owner
    resolving,   // a name is being looked up
    connecting,  // to one address
    idle,        // ready for a statement
    busy,        // a statement runs, perhaps past its deadline
    broken,      // no host could be reached, or the connection was lost; connect() begins anew
};

class Database {
 public:
    virtual PgState state() const = 0;
    virtual void connect() = 0;
    virtual void query(std::string_view sql, std::span<const std::string> parameters) = 0;
    virtual void close() = 0;

 protected:
    ~Database() = default;
};

}  // namespace next_id
