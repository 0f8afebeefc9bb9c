// What the user wants, checked and in types: the outcome of load.h. A plain struct without defaults of its own (those
// stand in the one table, settings.cpp); read-only once made, so any thread may read it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sidecar/base/log.h"

namespace next_id {

// An IP address, IPv6 without brackets. Port 0 asks the system for a free one.
struct HostPort {
    std::string host;
    std::uint16_t port = 0;

    bool operator==(const HostPort&) const = default;
};

enum class Increment {
    step,   // a nextval reserves one ID
    block,  // a nextval reserves the whole increment
};

enum class Order {
    window,  // from the window: unique, and increasing within it
    strict,  // each ID from a nextval that ran after its request came, so that IDs follow real time across all sidecars
};

// One libpq keyword, as for PQconnectdbParams. What PG_CONNINFO names goes before it.
struct PgKeyword {
    std::string keyword;  // host, port, dbname, user
    std::string value;
    bool by_default = false;  // nobody asked for it: it also gives way to a service that PG_CONNINFO names

    bool operator==(const PgKeyword&) const = default;
};

// Where the password comes from. One in PG_CONNINFO goes before all of them.
struct PgPassword {
    enum class Source {
        left_to_libpq,  // PGPASSWORD, .pgpass, a service, a certificate, PG_CONNINFO, peer
        none_needed,    // PG_PASSWORD is set, and empty
        literal,        // `text` is the password
        file,           // `text` is the path; read anew at each connection, since Kubernetes rotates secrets
    };
    Source source = Source::left_to_libpq;
    std::string text;
};

// So much in a time.
struct Rate {
    std::uint64_t count = 0;
    std::chrono::milliseconds period{};

    bool operator==(const Rate&) const = default;
};

struct Config {
    std::optional<HostPort> http;
    std::optional<HostPort> resp;
    std::string tls_cert, tls_key;  // paths; both or neither: what is spoken over TCP, is spoken through TLS
    std::string tls_client_ca;      // path; not empty: clients have to show a certificate
    std::optional<std::string> socket_path;
    unsigned socket_mode = 0;  // permission bits
    std::optional<HostPort> admin;
    std::string token_file;                  // empty: no token is wanted
    std::string admin_token_file;            // the same
    bool socket_auth = false;                // a token is wanted on the Unix socket too
    std::vector<std::uint32_t> socket_uids;  // that may connect to it; empty: all
    std::string state_dir;
    std::string window_share;        // directory; empty: windows lie in the state directory, where no client sees them
    unsigned window_share_mode = 0;  // permission bits
    unsigned threads = 0;  // that serve

    std::chrono::milliseconds reserve{};  // how long an outage of PostgreSQL the window should cover
    std::int64_t window_ids_min = 0;
    std::int64_t window_ids_max = 0;
    Increment increment = Increment::step;
    Order order = Order::window;
    std::chrono::milliseconds wait_max{};       // of a request for a dry window
    std::chrono::milliseconds db_timeout{};     // a step of connecting, a query
    std::chrono::milliseconds db_idle_close{};  // no refill due for so long: close the connection
    std::chrono::milliseconds stop_delay{};
    std::chrono::milliseconds drain_max{};

    std::optional<Rate> rate;
    std::uint64_t burst = 0;  // 0: as many as the rate says
    bool rate_ids = false;    // the rate is one of IDs, not of requests
    std::size_t connections_max = 0;
    std::size_t connections_per_client = 0;       // 0: not limited
    std::size_t head_bytes_max = 0;               // of a request
    std::size_t answers_bytes_max = 0;            // that a client has not read yet, of one connection
    std::size_t waiting_max = 0;                  // requests for IDs of one sequence
    std::chrono::milliseconds request_timeout{};  // to send a request, to read its answer
    std::chrono::milliseconds idle_timeout{};     // between two requests

    log::Level log_level = log::Level::info;
    log::Format log_format = log::Format::text;

    std::string pg_conninfo;  // as given, perhaps empty; holds a password, perhaps: never logged
    std::vector<PgKeyword> pg_keywords;
    PgPassword pg_password;
    std::vector<std::string> pg_sequences;  // as given, for regclass and for the URL; never empty
};

}  // namespace next_id
