// Where and how to connect: libpq's keywords, with a list of hosts that we walk ourselves, since libpq's nonblocking
// way neither leaves a dead host nor looks up names without blocking. Values only; any thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sidecar/base/clock.h"
#include "sidecar/base/expected.h"

namespace next_id {

using PgParameters = std::vector<std::pair<std::string, std::string>>;

struct PgTarget {
    // libpq's keywords; what is absent comes from libpq's environment variables. host, hostaddr and port may be comma
    // lists.
    PgParameters parameters;
    // Called at each connect(), so that a rotated secret is found. None, or none found: `password` above, or libpq's
    // own ways.
    std::function<Expected<std::optional<std::string>>()> read_password;
    Duration connect_timeout = std::chrono::seconds{5};  // for each look-up and for each address
    Duration query_timeout = std::chrono::seconds{5};    // then the query is late; it is awaited all the same
};

struct PgHost {
    std::string name;     // a name, an address or a socket's directory; empty: libpq's default
    std::string address;  // hostaddr when given, or the name itself when it is numeric
    std::string port;
};

// Whom a connection is to, for people: no password is in it.
struct PgEndpoint {
    std::string host, port;  // lists, as configured, while there is no connection
    std::string database, user;
};
PgEndpoint endpoint_of(const PgParameters& parameters);

// Key=value or URI. The error never quotes the text: it may hold a password.
Expected<PgParameters> parse_conninfo(const std::string& conninfo);

// The hosts in the order in which they are to be tried. Fails when the lists of hosts, addresses and ports do not
// match.
Expected<std::vector<PgHost>> hosts_of(const PgParameters& parameters);

// True iff the host must be looked up first: neither a socket nor numeric, and no address given.
bool needs_lookup(const PgHost& host);

// What libpq is given to connect to one address of one host: the target's parameters, and our defaults where nobody
// chose.
PgParameters parameters_for(const PgTarget& target, const PgHost& host, const std::string& address,
                            const std::optional<std::string>& password);

}  // namespace next_id
