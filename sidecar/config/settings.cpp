#include "sidecar/config/settings.h"

#include <algorithm>
#include <array>

#include "sidecar/config/values.h"

namespace next_id {
namespace {

using namespace std::chrono_literals;
using Stored = Expected<Nothing>;

template <class T, class Member>
Stored store(Expected<T> value, Member& member) {
    if (!value) return Unexpected{value.error()};
    member = static_cast<Member>(std::move(*value));
    return Nothing{};
}

Stored store_text(std::string_view text, std::string& member) {
    member = text;
    return Nothing{};
}

Stored store_keyword(const char* keyword, Expected<std::string> value, Config& config) {
    if (!value) return Unexpected{value.error()};
    config.pg_keywords.push_back({keyword, std::move(*value)});
    return Nothing{};
}

constexpr std::array increments{std::pair{std::string_view{"step"}, Increment::step},
                                std::pair{std::string_view{"block"}, Increment::block}};
constexpr std::array orders{std::pair{std::string_view{"window"}, Order::window},
                            std::pair{std::string_view{"strict"}, Order::strict}};
constexpr std::array log_levels{
    std::pair{std::string_view{"trace"}, log::Level::trace}, std::pair{std::string_view{"debug"}, log::Level::debug},
    std::pair{std::string_view{"info"}, log::Level::info}, std::pair{std::string_view{"warn"}, log::Level::warn},
    std::pair{std::string_view{"error"}, log::Level::error}};
constexpr std::array log_formats{std::pair{std::string_view{"text"}, log::Format::text},
                                 std::pair{std::string_view{"json"}, log::Format::json}};

constexpr std::array answers{std::pair{std::string_view{"yes"}, true}, std::pair{std::string_view{"no"}, false}};

constexpr std::int64_t window_ids_most = 1'000'000'000;
constexpr std::int64_t connections_most = 1'000'000;
constexpr std::int64_t head_bytes_least = 512, head_bytes_most = 65536;
constexpr std::int64_t answers_bytes_least = 4096, answers_bytes_most = 1 << 30;

using Text = std::string_view;

// A row begins with its name, and reads down.
// clang-format off
const std::array table{
    Setting{"http", "NEXT_ID_HTTP", "127.0.0.1:8080", "ADDRESS", "address of HTTP over TCP, or none",
            [](Text text, Config& c) { return store(parse_address(text), c.http); }, {.for_get = true}},
    Setting{"resp", "NEXT_ID_RESP", "none", "ADDRESS", "address of RESP, the protocol of Redis, over TCP, or none",
            [](Text text, Config& c) { return store(parse_address(text), c.resp); }},
    Setting{"tls-cert", "NEXT_ID_TLS_CERT", nullptr, "PATH",
            "file of the certificate chain: with it, --http and --resp speak TLS; read again when it changes",
            [](Text text, Config& c) { return store_text(text, c.tls_cert); }},
    Setting{"tls-key", "NEXT_ID_TLS_KEY", nullptr, "PATH", "file of the certificate's private key",
            [](Text text, Config& c) { return store_text(text, c.tls_key); }},
    Setting{"tls-client-ca", "NEXT_ID_TLS_CLIENT_CA", nullptr, "PATH",
            "file of authorities: every client must show a certificate that one of them issued",
            [](Text text, Config& c) { return store_text(text, c.tls_client_ca); }},
    Setting{"socket", "NEXT_ID_SOCKET", "/run/next-id/next-id.sock", "PATH", "path of the Unix socket, or none",
            [](Text text, Config& c) { return store(parse_socket_path(text), c.socket_path); }, {.for_get = true}},
    Setting{"socket-mode", "NEXT_ID_SOCKET_MODE", "0666", "MODE",
            "who may connect to the Unix socket, as an octal mode",
            [](Text text, Config& c) { return store(parse_mode(text), c.socket_mode); }},
    Setting{"admin", "NEXT_ID_ADMIN", "127.0.0.1:9911", "ADDRESS", "address of health checks, status and metrics, or none",
            [](Text text, Config& c) { return store(parse_address(text), c.admin); }, {.for_check = true}},
    Setting{"token-file", "NEXT_ID_TOKEN_FILE", nullptr, "PATH",
            "tokens that clients over TCP are asked for, one a line; read again when it changes",
            [](Text text, Config& c) { return store_text(text, c.token_file); }, {.for_get = true}},
    Setting{"socket-auth", "NEXT_ID_SOCKET_AUTH", "no", "yes|no", "the Unix socket asks for a token too",
            [](Text text, Config& c) { return store(parse_choice(text, answers), c.socket_auth); }, {.alone = "yes"}},
    Setting{"socket-allow-uid", "NEXT_ID_SOCKET_ALLOW_UID", nullptr, "UIDS",
            "the users that may connect to the Unix socket, by number, comma-separated; all, if not set",
            [](Text text, Config& c) { return store(parse_uids(text), c.socket_uids); }},
    Setting{"admin-token-file", "NEXT_ID_ADMIN_TOKEN_FILE", nullptr, "PATH",
            "tokens that status and metrics ask for; health checks ask for none",
            [](Text text, Config& c) { return store_text(text, c.admin_token_file); }, {.for_check = true}},
    Setting{"rate", "NEXT_ID_RATE", "none", "RATE", "requests that each client may send, such as 100/s, 600/m or 1000/h",
            [](Text text, Config& c) { return store(parse_rate(text), c.rate); }},
    Setting{"burst", "NEXT_ID_BURST", nullptr, "N", "requests that a client may send at once; as many as --rate says, if not set",
            [](Text text, Config& c) { return store(parse_whole(text, 1, rate_most), c.burst); }},
    Setting{"rate-ids", "NEXT_ID_RATE_IDS", "no", "yes|no", "--rate and --burst count IDs instead of requests",
            [](Text text, Config& c) { return store(parse_choice(text, answers), c.rate_ids); }, {.alone = "yes"}},
    Setting{"connections-max", "NEXT_ID_CONNECTIONS_MAX", "10000", "N", "open connections; those beyond are told 503",
            [](Text text, Config& c) { return store(parse_whole(text, 1, connections_most), c.connections_max); }},
    Setting{"connections-per-client", "NEXT_ID_CONNECTIONS_PER_CLIENT", "none", "N",
            "the same for each client: an address, or a user of the Unix socket",
            [](Text text, Config& c) { return store(parse_whole_or_none(text, 1, connections_most), c.connections_per_client); }},
    Setting{"head-bytes-max", "NEXT_ID_HEAD_BYTES_MAX", "8192", "N",
            "of a request line and its headers; the target may be half as long",
            [](Text text, Config& c) { return store(parse_whole(text, head_bytes_least, head_bytes_most), c.head_bytes_max); }},
    Setting{"answers-bytes-max", "NEXT_ID_ANSWERS_BYTES_MAX", "262144", "N",
            "answers held for a client that does not read them; then no more of its requests are looked at",
            [](Text text, Config& c) { return store(parse_whole(text, answers_bytes_least, answers_bytes_most), c.answers_bytes_max); }},
    Setting{"waiting-max", "NEXT_ID_WAITING_MAX", "16384", "N",
            "requests that may wait when no ID of a sequence is left; those beyond are told 503",
            [](Text text, Config& c) { return store(parse_whole(text, 1, connections_most), c.waiting_max); }},
    Setting{"request-timeout", "NEXT_ID_REQUEST_TIMEOUT", "30s", "DURATION",
            "how long a client may take to send a request, or to read its answer",
            [](Text text, Config& c) { return store(parse_duration(text, 1s, 1h), c.request_timeout); }},
    Setting{"idle-timeout", "NEXT_ID_IDLE_TIMEOUT", "10m", "DURATION",
            "how long a connection may stay open without a request",
            [](Text text, Config& c) { return store(parse_duration(text, 1s, 24h), c.idle_timeout); }},
    Setting{"state-dir", "NEXT_ID_STATE_DIR", "/run/next-id/state", "PATH",
            "directory of the reserved IDs; on a tmpfs they survive a restart",
            [](Text text, Config& c) { return store(parse_directory(text), c.state_dir); }},
    Setting{"window-share", "NEXT_ID_WINDOW_SHARE", nullptr, "PATH",
            "directory of the reserved IDs instead, on a tmpfs, for clients that map them and take by themselves",
            [](Text text, Config& c) { return store(parse_directory(text), c.window_share); }},
    Setting{"window-share-mode", "NEXT_ID_WINDOW_SHARE_MODE", "0660", "MODE",
            "who may map them, as an octal mode: whoever may write them can give out any number",
            [](Text text, Config& c) { return store(parse_mode(text), c.window_share_mode); }},
    Setting{"threads", "NEXT_ID_THREADS", "1", "N", "threads that serve, 1 to 64",
            [](Text text, Config& c) { return store(parse_whole(text, 1, 64), c.threads); }},
    Setting{"reserve", "NEXT_ID_RESERVE", "60s", "DURATION",
            "how long the reserved IDs should last when PostgreSQL is away",
            [](Text text, Config& c) { return store(parse_duration(text, 1s, 1h), c.reserve); }},
    Setting{"window-min", "NEXT_ID_WINDOW_MIN", "1000", "N", "IDs to hold reserved at least",
            [](Text text, Config& c) { return store(parse_whole(text, 1, window_ids_most), c.window_ids_min); }},
    Setting{"window-max", "NEXT_ID_WINDOW_MAX", "10000000", "N", "IDs to hold reserved at most",
            [](Text text, Config& c) { return store(parse_whole(text, 1, window_ids_most), c.window_ids_max); }},
    Setting{"order", "NEXT_ID_ORDER", "window", "window|strict",
            "IDs from the window, or each from a nextval after its request: slower, but in real time's order",
            [](Text text, Config& c) { return store(parse_choice(text, orders), c.order); }},
    Setting{"increment", "NEXT_ID_INCREMENT", "step", "step|block",
            "what one nextval reserves: one ID, or all of the sequence's INCREMENT",
            [](Text text, Config& c) { return store(parse_choice(text, increments), c.increment); }},
    Setting{"wait-max", "NEXT_ID_WAIT_MAX", "1s", "DURATION", "how long a request may wait when no ID is left",
            [](Text text, Config& c) { return store(parse_duration(text, 0s, 1min), c.wait_max); }},
    Setting{"db-timeout", "NEXT_ID_DB_TIMEOUT", "5s", "DURATION",
            "patience with PostgreSQL: for each step of connecting, for a query",
            [](Text text, Config& c) { return store(parse_duration(text, 100ms, 10min), c.db_timeout); }},
    Setting{"db-idle-close", "NEXT_ID_DB_IDLE_CLOSE", "5s", "DURATION",
            "close the connection when it will not be needed for so long",
            [](Text text, Config& c) { return store(parse_duration(text, 0s, 1h), c.db_idle_close); }},
    Setting{"stop-delay", "NEXT_ID_STOP_DELAY", "0s", "DURATION",
            "how long to go on as before when told to stop, for neighbours that were told at the same time",
            [](Text text, Config& c) { return store(parse_duration(text, 0s, 10min), c.stop_delay); }},
    Setting{"drain-max", "NEXT_ID_DRAIN_MAX", "5s", "DURATION",
            "how long open requests may take to finish when told to stop",
            [](Text text, Config& c) { return store(parse_duration(text, 0s, 10min), c.drain_max); }},
    Setting{"log-level", "NEXT_ID_LOG_LEVEL", "info", "LEVEL", "trace, debug, info, warn or error",
            [](Text text, Config& c) { return store(parse_choice(text, log_levels), c.log_level); }},
    Setting{"log-format", "NEXT_ID_LOG_FORMAT", "text", "text|json", "lines for people, or one JSON object a line",
            [](Text text, Config& c) { return store(parse_choice(text, log_formats), c.log_format); }},
    Setting{"config", "NEXT_ID_CONFIG", nullptr, "PATH",
            "file of settings: name = value, a name being a flag without its dashes",
            [](Text, Config&) { return Stored{Nothing{}}; }, {.for_get = true, .for_check = true}},
    Setting{"pg-host", "PG_HOST", "127.0.0.1", "HOST", "PostgreSQL's host, or the directory of its Unix socket",
            [](Text text, Config& c) { return store_keyword("host", std::string{text}, c); }, {.libpq_variable = "PGHOST"}},
    Setting{"pg-port", "PG_PORT", "5432", "PORT", "PostgreSQL's port",
            [](Text text, Config& c) { return store_keyword("port", parse_pg_port(text), c); }, {.libpq_variable = "PGPORT"}},
    Setting{"pg-database", "PG_DATABASE", "test_db", "NAME", "the database that has the sequence",
            [](Text text, Config& c) { return store_keyword("dbname", std::string{text}, c); }, {.libpq_variable = "PGDATABASE"}},
    Setting{"pg-user", "PG_USER", "postgres", "NAME", "the role to log in as; it needs USAGE on the sequence",
            [](Text text, Config& c) { return store_keyword("user", std::string{text}, c); }, {.libpq_variable = "PGUSER"}},
    Setting{"pg-password", "PG_PASSWORD", nullptr, "PASSWORD", "the role's password; set but empty says that none is needed",
            [](Text text, Config& c) { return store_text(text, c.pg_password.text); }, {.secret = true,
            .may_be_empty = true}},
    Setting{"pg-password-file", "PG_PASSWORD_FILE", nullptr, "PATH",
            "file that holds the password; read anew at each connection",
            [](Text text, Config& c) { return store_text(text, c.pg_password.text); }},
    Setting{"pg-sequence", "PG_SEQUENCE", "global_id_seq", "NAMES",
            "the sequence, or several, comma-separated; schema.name and \"Quoted\" work",
            [](Text text, Config& c) { return store(parse_sequences(text), c.pg_sequences); }},
    Setting{"pg-conninfo", "PG_CONNINFO", nullptr, "CONNINFO",
            "a libpq connection string; what it says goes before the other PG_ settings",
            [](Text text, Config& c) { return store_text(text, c.pg_conninfo); }, {.secret = true, .may_be_empty = true}},
};
// clang-format on

}  // namespace

std::span<const Setting> settings() {
    return table;
}

const Setting* find_setting(std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Setting& one) { return one.name == name; });
    return found == table.end() ? nullptr : &*found;
}

}  // namespace next_id
