// Honest clients beside all who mean harm at once: they get all that they ask for. NEXT_ID_LONG=1: for ten minutes, and
// then their p99 is at most twice what it is while the others leave this sidecar alone: while there are none, or, since
// theirs is the same machine, while they are after another sidecar. (Timed there only: it needs a machine with nothing
// else to do.)
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>

#include "tests/chaos/id_takers.h"
#include "tests/support/certificates.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const std::string request = "GET /next-id HTTP/1.1\r\nHost: test\r\n\r\n";

// Threads that do the same again and again until they are told to stop.
class Crowd {
 public:
    enum class From {
        here,
        elsewhere,  // from machines of their own: here they only get the CPU time that nobody else wants
    };

    explicit Crowd(From from) : from_{from} {}
    ~Crowd() { stop(); }

    void add(std::chrono::milliseconds pause, std::function<void()> once) {
        threads_.emplace_back([this, pause, once = std::move(once)] {
            const sched_param any{};
            if (from_ == From::elsewhere) BOOST_REQUIRE_EQUAL(sched_setscheduler(0, SCHED_IDLE, &any), 0);
            while (!stops_within(pause)) once();
        });
    }
    void stop() {
        {
            const std::scoped_lock lock{mutex_};
            stopping_ = true;
        }
        stop_.notify_all();
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

 private:
    const From from_;

    bool stops_within(std::chrono::milliseconds pause) {
        std::unique_lock lock{mutex_};
        return stop_.wait_for(lock, pause, [this] { return stopping_; });
    }

    std::mutex mutex_;
    std::condition_variable stop_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

// What becomes of those who mean harm is theirs to bear.
void regardless(const std::function<void()>& attempt) {
    try {
        attempt();
    } catch (const std::exception&) {
    }
}

struct Honest {
    Ids ids;
    std::uint64_t refused = 0;
    double p99_ms = 0;
};

// Four clients on the Unix socket, with a request each in two milliseconds.
Honest honest_clients(const std::string& socket, std::chrono::seconds duration) {
    constexpr int clients = 4;
    struct Client {
        Ids ids;
        std::vector<double> waits_ms;
        std::uint64_t refused = 0;
        std::unique_ptr<TestClient> connection;
    };
    std::vector<Client> all(clients);
    Crowd crowd{Crowd::From::here};
    for (Client& client : all) {
        client.connection = std::make_unique<TestClient>(socket);
        crowd.add(2ms, [&client] {
            const auto begin = Clock::now();
            const TestAnswer answer = client.connection->get("/next-id");
            client.waits_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
            if (answer.status == 200)
                client.ids.push_back(id_of(answer));
            else
                ++client.refused;
        });
    }
    const auto end = Clock::now() + duration;
    wait_until([&] { return Clock::now() >= end; }, duration + 1min);
    crowd.stop();
    Honest honest;
    std::vector<double> waits_ms;
    for (Client& client : all) {
        honest.refused += client.refused;
        honest.ids.insert(honest.ids.end(), client.ids.begin(), client.ids.end());
        waits_ms.insert(waits_ms.end(), client.waits_ms.begin(), client.waits_ms.end());
    }
    const auto at = waits_ms.begin() + std::ptrdiff_t(waits_ms.size() * 99 / 100);
    std::nth_element(waits_ms.begin(), at, waits_ms.end());
    honest.p99_ms = *at;
    return honest;
}

// Connections that stay, each of which sends its next byte at each turn.
struct Slow {
    void operator()() {
        clients.resize(connections);
        for (auto& [client, sent] : clients)
            regardless([&] {
                if (!client) client = std::make_shared<TestClient>(address), sent = 0;
                try {
                    client->send(bytes.substr(sent++ % bytes.size(), 1));
                } catch (const std::exception&) {
                    client.reset();  // it was shown the door
                }
            });
    }
    std::string address;
    std::size_t connections;
    std::string bytes;
    std::vector<std::pair<std::shared_ptr<TestClient>, std::size_t>> clients = {};
};

void send_and_leave(const std::string& address, const std::string& bytes) {
    regardless([&] { TestClient{address}.send(bytes); });
}

void ask(const std::string& address, const std::string& bytes) {
    regardless([&] {
        TestClient client{address};
        client.send(bytes);
        client.receive(1s);
    });
}

// Whole handshakes, one after the other, and nothing else.
class Handshakes {
 public:
    explicit Handshakes(std::string address) : address_{std::move(address)} {
        std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's sockets know no MSG_NOSIGNAL
    }
    void operator()() const {
        const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection{BIO_new_ssl_connect(context_.get()),
                                                                       BIO_free_all};
        BIO_set_conn_hostname(connection.get(), address_.c_str());
        if (BIO_do_handshake(connection.get()) == 1) ++*done_;
        ERR_clear_error();
    }
    std::uint64_t done() const { return *done_; }

 private:
    std::string address_;
    std::shared_ptr<SSL_CTX> context_{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
    std::shared_ptr<std::atomic<std::uint64_t>> done_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

struct AbuseFixture {
    AbuseFixture() {
        set("NEXT_ID_TOKEN_FILE", "tokens", "the-token\n");
        for (SidecarProcess* one : both) {
            one->set("NEXT_ID_RATE", "5000/s");  // of IDs, since who has a token could take all that there are
            one->set("NEXT_ID_RATE_IDS", "yes");
            one->set("NEXT_ID_BURST", "20000");
            one->set("NEXT_ID_CONNECTIONS_PER_CLIENT", "300");
            one->set("NEXT_ID_REQUEST_TIMEOUT", "2s");
        }
    }

    void set(const char* name, const char* file, const std::string& text) {
        for (SidecarProcess* one : both) one->set(name, one->write_file(file, text));
    }

    void check_that_honest_clients_do_not_suffer(
        const std::function<void(Crowd&, const SidecarProcess& victim)>& add_abuses) {
        const bool timed = std::getenv("NEXT_ID_LONG") != nullptr;
        const std::chrono::seconds shortly = timed ? 30s : 1s;
        for (SidecarProcess* one : both) one->start_ready();
        const auto beside = [&](const SidecarProcess& victim, std::chrono::seconds duration) {
            Crowd abusers{Crowd::From::elsewhere};
            add_abuses(abusers, victim);
            return honest_clients(sidecar.socket(), duration);
        };
        const auto quiet = honest_clients(sidecar.socket(), shortly);
        const auto busy = beside(other, shortly);
        const auto abused = beside(sidecar, timed ? 600s : 4s);
        BOOST_TEST_MESSAGE("p99 of honest clients: " << quiet.p99_ms << " ms, while another sidecar is abused "
                                                     << busy.p99_ms << " ms, beside all abuses " << abused.p99_ms
                                                     << " ms, " << abused.ids.size() << " IDs");
        BOOST_CHECK_EQUAL(quiet.refused + busy.refused + abused.refused, 0);
        BOOST_CHECK_GT(abused.ids.size(), 100);
        Ids all;
        for (const Honest* phase : {&quiet, &busy, &abused})
            all.insert(all.end(), phase->ids.begin(), phase->ids.end());
        BOOST_CHECK_EQUAL(count_repeated(all), 0);
        if (timed) BOOST_CHECK_LE(abused.p99_ms, 2 * std::max(quiet.p99_ms, busy.p99_ms));
        BOOST_CHECK_EQUAL(sidecar.ask_admin("/livez").status, 200);
        for (SidecarProcess* one : both) BOOST_CHECK_EQUAL(one->stop(), 0);
    }

    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", new_sequence()}}};
    SidecarProcess other{shared_postgres(), {{"PG_SEQUENCE", new_sequence()}}};
    const std::array<SidecarProcess*, 2> both{&sidecar, &other};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(abuse_chaostests, AbuseFixture)

BOOST_AUTO_TEST_CASE(of_plain_http) {
    check_that_honest_clients_do_not_suffer([](Crowd& abusers, const SidecarProcess& victim) {
        const std::string http = victim.http();
        const std::string with_token = "GET /next-id?count=10000 HTTP/1.1\r\nHost: t\r\nX-Api-Token: the-token\r\n\r\n";
        abusers.add(100ms, Slow{http, 50, "GET /next-id HTTP/1.1\r\nHost: t\r\nX-Slow: " + std::string(1000, 's')});
        abusers.add(5ms, [=] { send_and_leave(http, std::string(3000, '\x16') + "\r\n\r\n"); });
        abusers.add(5ms, [=] { send_and_leave(http, request + request + "GET /next"); });
        abusers.add(5ms, [=] { ask(http, request); });  // 401
        abusers.add(5ms, [=] { ask(http, "POST /next-id HTTP/1.1\r\nHost: t\r\nContent-Length: 9999999\r\n\r\n"); });
        abusers.add(5ms, [=] { ask(http, "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n"); });
        abusers.add(20ms, [=] { ask(http, with_token); });
        std::string many;
        for (int i = 0; i < 40; ++i) many += with_token;
        abusers.add(20ms, [=, unread = std::vector<std::shared_ptr<TestClient>>(20), next = std::size_t{0}]() mutable {
            regardless([&] {
                auto& client = unread[next++ % unread.size()];
                client = std::make_shared<TestClient>(http);
                client->send(many);
            });
        });
        abusers.add(200ms, [=, held = std::vector<std::shared_ptr<TestClient>>{}]() mutable {
            if (held.size() > 500) held.clear();
            for (int i = 0; i < 50; ++i) regardless([&] { held.push_back(std::make_shared<TestClient>(http)); });
        });
    });
}

BOOST_AUTO_TEST_CASE(of_tls) {
    const Certificate authority = Certificate::authority("test"), server = authority.issue("localhost");
    set("NEXT_ID_TLS_CERT", "cert.pem", server.pem());
    set("NEXT_ID_TLS_KEY", "key.pem", server.key_pem());
    std::optional<Handshakes> handshakes;  // with the last victim
    check_that_honest_clients_do_not_suffer([&](Crowd& abusers, const SidecarProcess& victim) {
        const std::string https = victim.https();
        handshakes.emplace(https);
        abusers.add(100ms, Slow{https, 50, "\x16\x03\x01\x02\x00\x01"});
        abusers.add(5ms, [=] { send_and_leave(https, "\x16\x03\x01\x40" + std::string(3000, '\x01')); });
        abusers.add(5ms, [=] { ask(https, request); });  // 400
        for (int i = 0; i < 4; ++i) abusers.add(0ms, *handshakes);
        abusers.add(200ms, [=, held = std::vector<std::shared_ptr<TestClient>>{}]() mutable {
            if (held.size() > 150) held.clear();  // below the limit of one client: handshakes shall get in
            for (int i = 0; i < 50; ++i) regardless([&] { held.push_back(std::make_shared<TestClient>(https)); });
        });
    });
    BOOST_TEST_MESSAGE(handshakes->done() << " handshakes");
    BOOST_CHECK_GT(handshakes->done(), 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
