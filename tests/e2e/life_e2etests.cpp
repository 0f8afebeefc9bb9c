// How the sidecar starts, stops, dies and comes back; what it refuses, and what it says and does not say.
#include <rapidjson/document.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "sidecar/base/file_descriptor.h"
#include "tests/refill/pg_sessions.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr char one_id[] = "GET /next-id HTTP/1.1\r\nHost: test\r\n\r\n";

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// While it lives nobody gets a value of the sequence: a refill waits for the lock, and so do the requests.
struct SequenceLock {
    explicit SequenceLock(const std::string& sequence) : session{connect(shared_postgres())} {
        run(session, "BEGIN");
        run(session, "ALTER SEQUENCE " + sequence + " INCREMENT 1");
    }
    Session session;
};

struct LifeFixture {
    std::string sequence = new_sequence();

    std::unique_ptr<SidecarProcess> sidecar(SidecarSettings settings = {}, std::vector<std::string> flags = {}) const {
        settings.emplace("PG_SEQUENCE", sequence);
        return std::make_unique<SidecarProcess>(shared_postgres(), settings, std::move(flags));
    }

    // A sidecar whose one request waits, and the client that waits for its answer.
    struct Waiting {
        std::unique_ptr<SidecarProcess> sidecar;
        std::unique_ptr<TestClient> client;
    };
    Waiting waiting(const SidecarSettings& settings) const {
        Waiting made{sidecar(settings), nullptr};
        made.sidecar->start();
        made.client = std::make_unique<TestClient>(made.sidecar->http());
        made.client->send(one_id);
        BOOST_REQUIRE(wait_until([&] { return made.sidecar->status("requests_waiting") == "1"; }));
        return made;
    }
};

// What systemd listens on.
struct NotifySocket {
    explicit NotifySocket(const std::string& path) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        const timeval patience{.tv_sec = SidecarProcess::patience / 1s, .tv_usec = 0};
        BOOST_REQUIRE_EQUAL(setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
        BOOST_REQUIRE_EQUAL(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    std::string receive() const {
        char message[100];
        const ssize_t size = recv(socket.get(), message, sizeof message, 0);
        return {message, size > 0 ? std::size_t(size) : 0};
    }
    FileDescriptor socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

// It ends by itself, with this exit code and one line that holds these words.
void check_refused(SidecarProcess& sidecar, int exit_code, const std::vector<std::string>& words) {
    BOOST_CHECK_EQUAL(sidecar.run_to_exit(), exit_code);
    const std::string log = sidecar.log();
    const std::string last = log.substr(log.rfind('\n', log.size() - 2) + 1);
    BOOST_TEST_CONTEXT(log) {
        BOOST_CHECK(last.starts_with("next-id: "));
        for (const std::string& word : words) BOOST_CHECK_MESSAGE(holds(last, word), "no '" << word << "'");
    }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(life_e2etests, LifeFixture)

BOOST_AUTO_TEST_CASE(sigterm_sigint_and_sighup_stop_it_with_exit_code_0_and_without_its_socket) {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        const auto one = sidecar({{"NEXT_ID_THREADS", "3"}});
        one->start_ready();
        TestClient idle{one->http()}, idle_too{one->socket()}, silent{one->http()};
        BOOST_CHECK_GT(id_of(idle.get("/next-id")), 0);
        BOOST_CHECK_GT(id_of(idle_too.get("/next-id")), 0);
        const std::string address = one->http();
        BOOST_CHECK(std::filesystem::exists(one->socket()));
        BOOST_CHECK_EQUAL(one->stop(signal), 0);
        BOOST_CHECK(!std::filesystem::exists(one->socket()));
        BOOST_CHECK(!can_connect(address));
        BOOST_CHECK(idle.is_closed() && idle_too.is_closed() && silent.is_closed());
        BOOST_CHECK(holds(one->log(), "stopping: no new connections"));
        BOOST_CHECK(holds(one->log(), "drained"));  // idle connections are nothing to wait for
    }
}

BOOST_AUTO_TEST_CASE(a_request_in_flight_is_answered_while_new_connections_are_refused) {
    SequenceLock lock{sequence};
    auto [one, client] = waiting({{"NEXT_ID_WAIT_MAX", "20s"}, {"NEXT_ID_DRAIN_MAX", "20s"}});
    const std::string address = one->http();
    one->signal(SIGTERM);
    BOOST_CHECK(wait_until([&] { return !can_connect(address) && !can_connect(one->socket()); }));
    run(lock.session, "COMMIT");
    const TestAnswer answer = client->receive();
    BOOST_CHECK_EQUAL(id_of(answer), 1);
    BOOST_CHECK_EQUAL(answer.header("Connection"), "close");
    BOOST_CHECK(client->is_closed());
    BOOST_CHECK_EQUAL(one->wait_for_exit(), 0);
    BOOST_CHECK(holds(one->log(), "drained"));
}

BOOST_AUTO_TEST_CASE(a_second_signal_stops_at_once) {
    const SequenceLock lock{sequence};
    auto [one, client] = waiting({{"NEXT_ID_WAIT_MAX", "1m"}, {"NEXT_ID_DRAIN_MAX", "10m"}});
    one->signal(SIGTERM);
    BOOST_CHECK(one->wait_for_log("stopping"));
    one->signal(SIGINT);
    BOOST_CHECK_EQUAL(one->wait_for_exit(10s), 0);
    BOOST_CHECK(holds(one->log(), "at the second signal"));
    BOOST_CHECK(client->is_closed());
}

BOOST_AUTO_TEST_CASE(until_stop_delay_it_goes_on_as_before_and_then_stops_by_itself) {
    const auto one = sidecar({{"NEXT_ID_STOP_DELAY", "10m"}});
    one->start_ready();
    one->signal(SIGTERM);
    BOOST_CHECK(one->wait_for_log("going on for --stop-delay"));
    BOOST_CHECK_GT(id_of(TestClient{one->socket()}.get("/next-id")), 0);
    BOOST_CHECK_EQUAL(one->stop(), 0);  // the second signal
    BOOST_CHECK(!holds(one->log(), "stopping: no new connections"));

    const auto other = sidecar({{"NEXT_ID_STOP_DELAY", "300ms"}});
    other->start_ready();
    const auto begin = Clock::now();
    BOOST_CHECK_EQUAL(other->stop(), 0);
    BOOST_CHECK(Clock::now() - begin >= 300ms);
    BOOST_CHECK(holds(other->log(), "drained"));
}

BOOST_AUTO_TEST_CASE(drain_max_ends_the_wait_for_ids_with_an_answer) {
    const SequenceLock lock{sequence};
    auto [one, client] = waiting({{"NEXT_ID_WAIT_MAX", "1m"}, {"NEXT_ID_DRAIN_MAX", "700ms"}});
    const auto begin = Clock::now();
    one->signal(SIGTERM);
    const TestAnswer answer = client->receive();
    BOOST_CHECK(Clock::now() - begin >= 700ms);
    BOOST_CHECK_EQUAL(answer.status, 503);
    BOOST_CHECK_EQUAL(answer.header("Connection"), "close");
    BOOST_CHECK(client->is_closed());
    BOOST_CHECK_EQUAL(one->wait_for_exit(10s), 0);
}

BOOST_AUTO_TEST_CASE(drain_max_cuts_off_whoever_does_not_send_the_rest_of_its_request) {
    const auto one = sidecar({{"NEXT_ID_DRAIN_MAX", "300ms"}});
    one->start_ready();
    TestClient slow{one->http()}, other{one->http()};
    slow.send("GET /next-id HTT");
    BOOST_CHECK_GT(id_of(other.get("/next-id")), 0);  // what was sent before it has been read
    const auto begin = Clock::now();
    BOOST_CHECK_EQUAL(one->stop(), 0);
    BOOST_CHECK(Clock::now() - begin >= 300ms);
    BOOST_CHECK(holds(one->log(), "stopped at --drain-max"));
    BOOST_CHECK(slow.is_closed());
}

BOOST_AUTO_TEST_CASE(after_kill_9_it_goes_on_with_the_very_next_id) {
    const auto one = sidecar();
    one->start_filled(1000);
    std::int64_t last = 0;
    for (int i = 0; i < 100; ++i) last = id_of(TestClient{one->socket()}.get("/next-id"));
    BOOST_CHECK_EQUAL(last, 100);
    BOOST_CHECK_EQUAL(one->stop(SIGKILL), 128 + SIGKILL);
    BOOST_CHECK(std::filesystem::exists(one->socket()));  // stale; the next start replaces it

    Outage outage;  // PostgreSQL is not needed for what is reserved
    one->start();
    BOOST_CHECK(holds(one->log(), "window adopted"));
    BOOST_CHECK(holds(one->log(), "ids=900"));
    TestClient client{one->socket()};
    for (int i = 101; i <= 1000; ++i) BOOST_REQUIRE_EQUAL(id_of(client.get("/next-id")), i);
    outage.end();
    BOOST_CHECK(wait_until([&] { return client.get("/next-id").status == 200; }));
}

BOOST_AUTO_TEST_CASE(after_sigterm_too) {
    const auto one = sidecar();
    one->start_filled(1000);
    BOOST_CHECK_EQUAL(id_of(TestClient{one->http()}.get("/next-id")), 1);
    BOOST_CHECK_EQUAL(one->stop(), 0);
    one->start();
    BOOST_CHECK_EQUAL(id_of(TestClient{one->http()}.get("/next-id")), 2);
}

BOOST_AUTO_TEST_CASE(a_window_of_another_source_is_not_adopted) {
    const auto one = sidecar();
    one->start_ready();
    BOOST_CHECK_EQUAL(id_of(TestClient{one->http()}.get("/next-id")), 1);
    BOOST_CHECK_EQUAL(one->stop(), 0);
    one->set("PG_USER", "somebody_else");
    one->start();
    BOOST_CHECK(holds(one->log(), "window discarded: "));
    BOOST_CHECK_EQUAL(one->status("ids_left"), "0");
}

BOOST_AUTO_TEST_CASE(what_a_living_sidecar_has_is_not_taken_from_it) {
    const auto first = sidecar();
    first->start_ready();
    const std::string holder = "process " + std::to_string(first->pid());
    const std::string state = first->state_dir(), socket = first->socket();
    check_refused(*sidecar({{"NEXT_ID_STATE_DIR", state}}), 71, {holder, state, "--state-dir"});
    check_refused(*sidecar({{"NEXT_ID_SOCKET", socket}}), 71, {holder, socket, "--socket"});
    check_refused(*sidecar({{"NEXT_ID_HTTP", first->http()}}), 71,
                  {"cannot listen on " + first->http() + ": Address already in use"});
    check_refused(*sidecar({{"NEXT_ID_ADMIN", first->admin()}}), 71,
                  {"cannot listen on " + first->admin() + ": Address already in use"});
    BOOST_CHECK_EQUAL(id_of(TestClient{first->http()}.get("/next-id")), 1);
    BOOST_CHECK_EQUAL(id_of(TestClient{socket}.get("/next-id")), 2);
}

BOOST_AUTO_TEST_CASE(a_socket_that_answers_is_not_replaced_though_nobody_holds_its_lock) {
    const auto first = sidecar();
    first->start();
    std::filesystem::remove(first->socket() + ".lock");
    check_refused(*sidecar({{"NEXT_ID_SOCKET", first->socket()}}), 71,
                  {"process " + std::to_string(first->pid()) + " answers there"});
    BOOST_CHECK(can_connect(first->socket()));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_socket_is_not_replaced) {
    const auto one = sidecar();
    std::ofstream{one->socket()} << "precious";
    check_refused(*one, 71, {one->socket(), "not a socket"});
    BOOST_CHECK_EQUAL(std::filesystem::file_size(one->socket()), 8U);
}

BOOST_AUTO_TEST_CASE(the_socket_has_exactly_the_mode_that_was_asked_for) {
    const mode_t before = umask(077);
    for (const auto& [text, mode] : {std::pair{"0660", 0660U}, {"0666", 0666U}, {"0600", 0600U}}) {
        const auto one = sidecar({{"NEXT_ID_SOCKET_MODE", text}});
        one->start();
        struct stat status {};
        BOOST_REQUIRE_EQUAL(stat(one->socket().c_str(), &status), 0);
        BOOST_CHECK_EQUAL(status.st_mode & 07777U, mode);
        BOOST_REQUIRE_EQUAL(stat(one->state_dir().c_str(), &status), 0);
        BOOST_CHECK_EQUAL(status.st_mode & 07777U, 0700U);
    }
    umask(before);
}

BOOST_AUTO_TEST_CASE(a_socket_path_that_the_system_cannot_hold_is_refused_at_start) {
    const std::string longest = "/dev/shm/" + std::string(100 - 9, 'x'), too_long = longest + "x";
    check_refused(*sidecar({{"NEXT_ID_SOCKET", too_long}}), 78, {"NEXT_ID_SOCKET", "at most 100 bytes"});
    check_refused(*sidecar({}, {"--socket", too_long}), 64, {"--socket", "at most 100 bytes"});
    const auto one = sidecar({{"NEXT_ID_SOCKET", longest}});
    one->start();
    BOOST_CHECK(can_connect(longest));
    BOOST_CHECK_EQUAL(one->stop(), 0);
    std::filesystem::remove(longest + ".lock");
}

BOOST_AUTO_TEST_CASE(a_state_directory_without_rights_is_refused_with_its_name) {
    const auto one = sidecar();
    const std::string state = one->directory() + "/closed/state";
    std::filesystem::create_directory(one->directory() + "/closed");
    std::filesystem::permissions(one->directory() + "/closed", std::filesystem::perms::owner_read);
    std::filesystem::permissions(one->directory(), std::filesystem::perms{0755});
    one->set("NEXT_ID_STATE_DIR", state);
    std::optional<ProgramUser> nobody;
    if (geteuid() == 0) nobody = ProgramUser{65534, 65534};  // root is never without rights
    BOOST_CHECK_EQUAL(one->run_to_exit(nobody), 71);
    BOOST_CHECK_MESSAGE(holds(one->log(), state + ": Permission denied"), one->log());
}

BOOST_AUTO_TEST_CASE(a_configuration_that_cannot_work_is_refused_with_what_to_set) {
    check_refused(*sidecar({{"PG_PASSWORD", std::nullopt}}), 78, {"PG_PASSWORD not set", "PG_PASSWORD_FILE"});
    check_refused(*sidecar({{"PG_PORT", "tcp://10.0.0.1:5432"}}), 78,
                  {"PG_PORT is \"tcp://10.0.0.1:5432\"", "Kubernetes", "Service that is named pg"});
    check_refused(*sidecar({{"PG_PASSWORD_FILE", "/none"}, {"PG_PASSWORD", std::nullopt}}), 78,
                  {"PG_PASSWORD_FILE", "/none", "No such file or directory"});
    check_refused(*sidecar({{"NEXT_ID_HTTP", "none"}, {"NEXT_ID_SOCKET", "none"}}), 78, {"one of them must be on"});
    check_refused(*sidecar({}, {"--no-such-flag"}), 64, {"--no-such-flag"});
    check_refused(*sidecar({}, {"--pg-password=secret"}), 64, {"everyone on the machine can read a command line"});

    const auto one = sidecar();
    const std::string file = one->directory() + "/settings";
    std::ofstream{file} << "# settings\nthreads = 2\nwindow-size = 10\n";
    one->set("NEXT_ID_CONFIG", file);
    check_refused(*one, 78, {file + ":3: \"window-size\" is no setting"});
}

BOOST_AUTO_TEST_CASE(a_sequence_that_is_missing_is_reported_once_and_used_once_it_is_there) {
    const auto one = sidecar({{"PG_SEQUENCE", "made_later"}, {"NEXT_ID_WAIT_MAX", "0s"}});
    one->start();
    BOOST_CHECK(one->wait_for_log("reserving IDs failed"));
    TestClient client{one->http()};
    const auto failures = [&] { return count_of(shared_postgres().log(), R"(relation "made_later" does not exist)"); };
    BOOST_CHECK(wait_until([&] { return failures() >= 3; }));
    const TestAnswer answer = client.get("/next-id");
    BOOST_CHECK_EQUAL(answer.status, 503);
    BOOST_CHECK_EQUAL(answer.header("Retry-After"), "1");
    BOOST_TEST_INFO(answer.body);
    BOOST_CHECK(answer.body.starts_with(R"({"code":503,"msg":"query seq failed","error":")"));
    BOOST_CHECK(holds(answer.body, "made_later") && holds(answer.body, "does not exist"));
    BOOST_CHECK_EQUAL(count_of(one->log(), "does not exist"), 1U);

    shared_postgres().psql("CREATE SEQUENCE made_later");
    BOOST_CHECK(wait_until([&] { return client.get("/next-id").status == 200; }));
    BOOST_CHECK(one->wait_for_log("reserving IDs works again"));
}

BOOST_AUTO_TEST_CASE(a_password_file_is_read_anew_at_each_connection) {
    shared_postgres().psql(
        "CREATE ROLE rotated LOGIN IN ROLE guarded PASSWORD 'second';"
        "GRANT USAGE ON SEQUENCE " +
        sequence + " TO rotated");
    const auto one = sidecar({{"PG_USER", "rotated"}, {"PG_PASSWORD", std::nullopt}});
    const std::string file = one->directory() + "/password";
    std::ofstream{file} << "first\n";
    one->set("PG_PASSWORD_FILE", file);
    one->start();
    BOOST_CHECK(one->wait_for_log("password authentication failed"));
    std::ofstream{file} << "second\n";
    one->wait_until_ready();
}

BOOST_AUTO_TEST_CASE(systemd_is_told_when_it_listens_and_when_it_stops_whatever_postgresql_does) {
    const Outage outage;
    const auto one = sidecar();
    one->set("NOTIFY_SOCKET", one->directory() + "/notify");
    const NotifySocket systemd{one->setting("NOTIFY_SOCKET")};
    one->start();
    BOOST_CHECK_EQUAL(systemd.receive(), "READY=1");
    BOOST_CHECK_EQUAL(one->stop(), 0);
    BOOST_CHECK_EQUAL(systemd.receive(), "STOPPING=1");
}

BOOST_AUTO_TEST_CASE(each_line_of_a_json_log_is_a_json_object) {
    const auto one =
        sidecar({{"NEXT_ID_LOG_FORMAT", "json"}, {"NEXT_ID_LOG_LEVEL", "trace"}, {"NEXT_ID_WAIT_MAX", "0s"}});
    one->start_ready();
    Outage outage;
    TestClient client{one->http()};
    for (const char* target : {"/next-id?count=1000", "/\"quoted\\", "/next-id"}) client.get(target);
    BOOST_CHECK(one->wait_for_log("no connection to PostgreSQL"));
    outage.end();
    BOOST_CHECK(one->wait_for_log("PostgreSQL is back"));
    BOOST_CHECK_EQUAL(one->stop(), 0);
    std::istringstream lines{one->log()};
    int number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
        rapidjson::Document object;
        object.Parse(line.c_str());
        BOOST_REQUIRE_MESSAGE(!object.HasParseError() && object.IsObject(), line);
        for (const char* key : {"time", "level", "msg"}) BOOST_CHECK(object.HasMember(key) && object[key].IsString());
    }
    BOOST_CHECK_GT(number, 5);
}

BOOST_AUTO_TEST_CASE(requests_good_and_bad_leave_no_line_in_the_log) {
    const auto one = sidecar({{"NEXT_ID_WAIT_MAX", "0s"}});
    one->start_filled(1000);
    const auto lines = [&] { return count_of(one->log(), "\n"); };
    const auto before = lines();
    TestClient client{one->http()};
    for (int i = 0; i < 400; ++i) client.get("/next-id");
    for (int i = 0; i < 100; ++i) client.get("/wrong");
    for (int i = 0; i < 100; ++i) {
        TestClient bad{one->http()};
        bad.send("rubbish\r\n\r\n");
        BOOST_CHECK_EQUAL(bad.receive().status, 400);
    }
    BOOST_CHECK_EQUAL(lines(), before);
    const Outage outage;
    for (int i = 0; i < 1500; ++i) client.get("/next-id");  // dry in the end
    BOOST_CHECK_EQUAL(client.get("/next-id").status, 503);
    BOOST_CHECK_LT(lines(), before + 10);
}

BOOST_AUTO_TEST_CASE(clients_that_go_away_while_they_wait_are_forgotten) {
    const SequenceLock lock{sequence};
    auto [one, client] = waiting({{"NEXT_ID_WAIT_MAX", "1m"}});
    client.reset();
    // The connection is not read while its request waits; it is noticed at the latest when the answer is written.
    run(lock.session, "COMMIT");
    BOOST_CHECK(wait_until([&] { return one->status("requests_waiting") == "0"; }));
    BOOST_CHECK_EQUAL(TestClient{one->http()}.get("/next-id").status, 200);
    BOOST_CHECK_EQUAL(one->stop(), 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
