// Getting a connection: hosts, addresses, names, deadlines, and what is said when none lets us in.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/refill/pg_recorder.h"

namespace next_id::test {
namespace {

const PgCluster& cluster() {
    static const PgCluster made{
        {.hba = {"host all with_password 127.0.0.1/32 scram-sha-256", "hostnossl all only_tls 127.0.0.1/32 reject"}}};
    return made;
}

// A TCP port at which somebody listens and nobody answers.
struct SilentHost {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    std::vector<int> fillers;

    explicit SilentHost(int backlog = 16) {
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        BOOST_REQUIRE_EQUAL(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
        BOOST_REQUIRE_EQUAL(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
        BOOST_REQUIRE_EQUAL(listen(listener, backlog), 0);
    }
    ~SilentHost() {
        for (const int filler : fillers) close(filler);
        close(listener);
    }
    // With its backlog full, the kernel drops what comes: as a firewall would.
    void fill() {
        for (int i = 0; i < 4; ++i) {
            fillers.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            ::connect(fillers.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
        }
    }
    std::string port() const { return std::to_string(ntohs(address.sin_port)); }
};

// A TCP port at which nobody listens.
std::string refused_port() {
    return SilentHost{}.port();
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pg_connector_pgtests, ConnectionFixture)

BOOST_AUTO_TEST_CASE(it_connects_over_tcp_and_over_a_unix_socket) {
    for (const std::string& host : {std::string{"127.0.0.1"}, cluster().socket_dir()}) {
        BOOST_TEST(connects(target({{"host", host}, {"port", cluster().port()}})), host);
        const PgAnswer answer = ask("SELECT current_setting('application_name'), inet_server_addr() IS NULL");
        BOOST_REQUIRE(answer.ok);
        BOOST_TEST(*answer.rows[0][0] == "next-id");
        BOOST_TEST(*answer.rows[0][1] == (host == "127.0.0.1" ? "f" : "t"));
    }
}

BOOST_AUTO_TEST_CASE(a_name_is_looked_up_before_libpq_sees_it) {
    make(target({{"host", "localhost"}, {"port", cluster().port()}}));
    BOOST_CHECK(connection->state() == PgState::closed);
    connection->connect();
    BOOST_CHECK(connection->state() == PgState::resolving);
    BOOST_REQUIRE(run_until([&] { return told.connected == 1; }));
    BOOST_CHECK(connection->state() == PgState::idle);
}

BOOST_AUTO_TEST_CASE(a_name_goes_along_with_an_address_that_was_given) {
    BOOST_TEST(
        connects(target({{"host", "no-such-name.invalid"}, {"hostaddr", "127.0.0.1"}, {"port", cluster().port()}})));
}

BOOST_AUTO_TEST_CASE(hosts_are_tried_in_turn_until_one_lets_us_in) {
    BOOST_TEST(connects(target({{"host", "127.0.0.1,no-such-name.invalid,/nowhere," + cluster().socket_dir()},
                                {"port", refused_port() + ",1,2," + cluster().port()}})));
    BOOST_TEST(told.reasons.empty());
}

BOOST_AUTO_TEST_CASE(when_nobody_lets_us_in_each_reason_is_told_in_one_line) {
    const std::string one = refused_port(), two = refused_port();
    BOOST_TEST(
        !connects(target({{"host", "127.0.0.1,no-such-name.invalid,127.0.0.1"}, {"port", one + ",5432," + two}})));
    BOOST_CHECK(connection->state() == PgState::broken);
    BOOST_REQUIRE_EQUAL(told.reasons.size(), 1U);
    const std::string& reason = told.reasons[0];
    BOOST_TEST(says(reason, "port " + one + " failed: Connection refused"), reason);
    BOOST_TEST(says(reason, "no-such-name.invalid, port 5432: cannot look up the name"), reason);
    BOOST_TEST(says(reason, "port " + two + " failed: Connection refused"), reason);
    BOOST_TEST(reason.find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_host_that_listens_and_never_answers_is_left_at_its_deadline) {
    const SilentHost silent;
    BOOST_TEST(connects(target({{"host", "127.0.0.1,127.0.0.1"}, {"port", silent.port() + "," + cluster().port()}},
                               std::chrono::seconds{1})));
    connection->close();
    BOOST_TEST(!connects(target({{"host", "127.0.0.1"}, {"port", silent.port()}}, std::chrono::milliseconds{100})));
    BOOST_TEST(told.reasons.back() == "127.0.0.1, port " + silent.port() + ": not connected within 100 ms");
}

BOOST_AUTO_TEST_CASE(a_host_that_drops_packets_is_left_at_its_deadline) {
    SilentHost dropping{0};
    dropping.fill();
    BOOST_TEST(connects(target({{"host", "127.0.0.1,127.0.0.1"}, {"port", dropping.port() + "," + cluster().port()}},
                               std::chrono::seconds{1})));
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told_and_never_shown) {
    cluster().psql("DROP ROLE IF EXISTS with_password; CREATE ROLE with_password LOGIN PASSWORD 'right-one'");
    PgTarget secret = target({{"host", "127.0.0.1"}, {"port", cluster().port()}, {"user", "with_password"}});
    std::string password = "wrong-secret";
    secret.read_password = [&]() -> Expected<std::optional<std::string>> { return std::optional{password}; };
    BOOST_TEST(!connects(secret));
    BOOST_TEST(says(told.reasons[0], "password authentication failed"), told.reasons[0]);
    BOOST_TEST(!says(told.reasons[0], "secret"), told.reasons[0]);

    // It is read anew at each connect().
    password = "right-one";
    connection->connect();
    BOOST_REQUIRE(run_until([&] { return told.connected == 1; }));
}

BOOST_AUTO_TEST_CASE(a_password_that_cannot_be_read_is_the_reason) {
    PgTarget secret = target({{"host", "127.0.0.1"}, {"port", cluster().port()}});
    secret.read_password = []() -> Expected<std::optional<std::string>> {
        return Unexpected{std::string{"cannot read /run/secrets/pg"}};
    };
    BOOST_TEST(!connects(secret));
    BOOST_TEST(told.reasons[0] == "cannot read /run/secrets/pg");
}

BOOST_AUTO_TEST_CASE(a_server_that_takes_no_writes_is_passed_over) {
    cluster().psql("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN");
    cluster().psql("ALTER ROLE reader SET default_transaction_read_only = on");
    const PgParameters parameters{{"host", "127.0.0.1"}, {"port", cluster().port()}, {"user", "reader"}};
    BOOST_TEST(!connects(target(parameters)));
    BOOST_TEST(says(told.reasons[0], "read-only"), told.reasons[0]);
}

BOOST_AUTO_TEST_CASE(lists_that_do_not_match_are_the_reason) {
    BOOST_TEST(!connects(target({{"host", "a,b"}, {"port", "1,2,3"}})));
    BOOST_TEST(says(told.reasons[0], "do not match"), told.reasons[0]);
}

// libpq itself opens a second socket here: refused without TLS, it tries with. Lower numbers become free in between, so
// that the socket's number moves; a watch that kept the first would make libuv abort.
BOOST_AUTO_TEST_CASE(the_socket_may_move_while_connecting) {
    cluster().psql("DROP ROLE IF EXISTS only_tls; CREATE ROLE only_tls LOGIN");
    std::vector<int> low;
    for (int i = 0; i < 200; ++i) low.push_back(dup(0));
    make(target({{"host", "127.0.0.1,127.0.0.1,127.0.0.1"},
                 {"port", cluster().port()},
                 {"user", "only_tls"},
                 {"sslmode", "allow"}}));
    connection->connect();
    BOOST_TEST(run_until([&] {
        if (!low.empty()) close(low.back()), low.pop_back();
        return !told.reasons.empty();
    }));
    for (const int fd : low) close(fd);
    std::size_t refusals = 0;
    for (std::size_t at = 0; (at = told.reasons[0].find("rejects", at)) != std::string::npos; ++at) ++refusals;
    BOOST_TEST(refusals == 6U, told.reasons[0]);  // two sockets for each host
}

BOOST_AUTO_TEST_CASE(destruction_while_connecting_leaves_nothing) {
    const SilentHost silent;
    const PgTarget named = target({{"host", "localhost"}, {"port", cluster().port()}});
    const PgTarget waiting = target({{"host", "127.0.0.1"}, {"port", silent.port()}});
    make(named);
    make(named), connection->connect();
    make(named), connection->connect(), uv_run(loop(), UV_RUN_NOWAIT);  // mostly while the name is being looked up
    make(waiting), connection->connect();
    BOOST_TEST(run_until([&] { return connection->state() == PgState::connecting; }));
    connection.reset();
    BOOST_TEST(told.connected + int(told.reasons.size()) == 0);
}

BOOST_AUTO_TEST_CASE(the_owner_may_destroy_it_or_begin_anew_from_within_a_callback) {
    make(target({{"host", "127.0.0.1"}, {"port", refused_port()}}));
    told.then = [&] {
        if (told.reasons.size() < 3)
            connection->connect();
        else
            connection.reset();
    };
    connection->connect();
    BOOST_TEST(run_until([&] { return connection == nullptr; }));
    BOOST_TEST(told.reasons.size() == 3U);

    make(target({{"host", "127.0.0.1"}, {"port", cluster().port()}}));
    told.then = [&] { connection.reset(); };
    connection->connect();
    BOOST_TEST(run_until([&] { return connection == nullptr; }));
    BOOST_TEST(told.connected == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
