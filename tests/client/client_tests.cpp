#include <fcntl.h>
#include <next_id/client.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <future>

#include "protocol/client/exchange.h"
#include "tests/client/in_a_fork.h"
#include "tests/client/scripted_server.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

bool says(const Error& error, const std::string& part) {
    return std::string{error.what()}.find(part) != std::string::npos;
}

// Counts the signals that come while it lives, and lets them interrupt system calls.
class Handler {
 public:
    explicit Handler(int signal) : signal_{signal} {
        calls = 0;
        struct sigaction action {};
        action.sa_handler = [](int) { calls = calls + 1; };
        ::sigaction(signal, &action, &before_);
    }
    ~Handler() { ::sigaction(signal_, &before_, nullptr); }
    Handler(const Handler&) = delete;

    static inline volatile std::sig_atomic_t calls = 0;

 private:
    int signal_;
    struct sigaction before_ {};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_tests, ClientFixture)

BOOST_AUTO_TEST_CASE(ids_come_over_either_kind_of_socket_and_one_connection) {
    for (const std::string& where : {path, std::string{}}) {
        Counter counter;
        ScriptedServer server{where, [&](Peer& peer) { counter.serve(peer); }};
        Options with_address = options();
        with_address.address = where.empty() ? "http://" + server.address() : where;
        Client client{with_address};
        BOOST_TEST(client.next() == 1);
        BOOST_TEST(client.next(3) == (std::vector<std::int64_t>{2, 3, 4}));
        const auto ranges = client.next_ranges(Client::count_max);
        BOOST_TEST_REQUIRE(ranges.size() == 1u);
        BOOST_TEST(ranges[0].first == 5);
        BOOST_TEST(ranges[0].count == Client::count_max);
        Client moved{std::move(client)};
        BOOST_TEST(moved.next() == 5 + std::int64_t{Client::count_max});
        BOOST_TEST(server.connections() == 1);
    }
}

BOOST_AUTO_TEST_CASE(the_request_is_one_that_the_contract_knows) {
    std::string seen;
    ScriptedServer server{path, [&](Peer& peer) {
                              seen = peer.receive();
                              peer.send(http_ranges(7, "[1,7]"));
                          }};
    Options all = options();
    all.sequence = "app.\"Order ids\"/\xc3\xa4";
    all.token = "secret";
    Client{all}.next_ranges(7);
    BOOST_TEST(seen ==
               "GET /next-id/app.%22Order%20ids%22%2F%C3%A4?format=ranges&count=7 HTTP/1.1\r\n"
               "Host: localhost\r\nAuthorization: Bearer secret\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(ids_are_exact_to_both_ends_of_64_bits) {
    ScriptedServer server{path, [&](Peer& peer) {
                              peer.receive();
                              peer.send(http_ranges(2, "[9223372036854775806,9223372036854775807]"));
                              peer.receive();
                              peer.send(http_ranges(3, "[-9223372036854775804,-9223372036854775808,-2]"));
                          }};
    Client client{options()};
    BOOST_TEST(client.next(2) == (std::vector<std::int64_t>{INT64_MAX - 1, INT64_MAX}));
    BOOST_TEST(client.next(3) == (std::vector<std::int64_t>{INT64_MIN + 4, INT64_MIN + 2, INT64_MIN}));
}

BOOST_AUTO_TEST_CASE(an_answer_may_come_in_pieces) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) {
                              for (std::string request; !(request = peer.receive()).empty();)
                                  peer.send_byte_by_byte(counter.answer(request));
                          }};
    Client client{options()};
    for (int i = 1; i <= 3; ++i) BOOST_TEST(client.next() == i);
}

BOOST_AUTO_TEST_CASE(a_connection_that_was_closed_meanwhile_is_made_anew) {
    Counter counter;
    std::atomic<int> closed = 0;
    ScriptedServer server{path, [&](Peer& peer) {
                              peer.send(counter.answer(peer.receive()));
                              ::shutdown(peer.descriptor(), SHUT_RDWR);
                              ++closed;
                          }};
    Client client{options()};
    for (int i = 1; i <= 3; ++i) {
        BOOST_TEST(client.next() == i);
        BOOST_TEST_REQUIRE(wait_until([&] { return closed == i; }));
    }
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_closed_under_the_request_is_made_anew) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) {
                              peer.send(counter.answer(peer.receive()));
                              peer.receive();  // and no answer
                          }};
    Client client{options()};
    for (int i = 1; i <= 3; ++i) BOOST_TEST(client.next() == i);
    BOOST_TEST(server.connections() == 3);
}

BOOST_AUTO_TEST_CASE(an_answer_that_breaks_off_is_asked_for_again) {
    Counter counter;
    ScriptedServer server{
        path, [&](Peer& peer) {
            const std::string answer = counter.answer(peer.receive());
            peer.send(peer.number() < 4 ? answer.substr(0, answer.size() * peer.number() / 4) : answer);
        }};
    BOOST_TEST(Client{options()}.next() == 4);  // 1 to 3 are a gap
}

BOOST_AUTO_TEST_CASE(bytes_that_nobody_asked_for_are_no_answer) {
    std::atomic<bool> sent = false;
    ScriptedServer server{path, [&](Peer& peer) {
                              peer.receive();
                              peer.send(http_ranges(1, peer.number() == 1 ? "[1,1]" : "[2,2]"));
                              if (peer.number() > 1) return;
                              peer.send(http_ranges(1, "[666,666]"));
                              sent = true;
                              peer.receive();
                          }};
    Client client{options()};
    try {
        client.next();
    } catch (const Error& error) {  // when both came at once
        BOOST_TEST((error.code() == ErrorCode::not_understood));
    }
    BOOST_TEST_REQUIRE(wait_until([&] { return sent.load(); }));
    BOOST_TEST(client.next() == 2);
}

BOOST_AUTO_TEST_CASE(a_sidecar_that_restarts_is_waited_for) {
    Counter counter;
    const auto script = [&](Peer& peer) { counter.serve(peer); };
    auto server = std::make_unique<ScriptedServer>(path, script);
    Client client{options()};
    BOOST_TEST(client.next() == 1);
    server.reset();
    auto second = std::async(std::launch::async, [&] { return client.next(); });
    BOOST_TEST((second.wait_for(30ms) == std::future_status::timeout));
    server = std::make_unique<ScriptedServer>(path, script);
    BOOST_TEST(second.get() == 2);
}

BOOST_AUTO_TEST_CASE(a_dry_window_is_waited_for_as_long_as_it_says) {
    ScriptedServer server{path, [&](Peer& peer) {
                              peer.receive();
                              peer.send(http_503("1"));
                              peer.receive();
                              peer.send(http_ranges(1, "[5,5]"));
                          }};
    const auto begin = steady_clock::now();
    BOOST_TEST(Client{options()}.next() == 5);
    BOOST_TEST((steady_clock::now() - begin >= 1s));
    BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(a_wait_that_would_pass_the_deadline_is_not_begun) {
    for (const auto& [answer, code] :
         {std::pair{http_503("60"), ErrorCode::no_ids},
          {http("429 Too Many Requests", "{\"code\":429,\"msg\":\"too many requests\"}\n", "Retry-After: 60\r\n"),
           ErrorCode::too_many_requests}}) {
        ScriptedServer server{path, [&](Peer& peer) {
                                  peer.receive();
                                  peer.send(answer);
                                  peer.receive();
                              }};
        const auto begin = steady_clock::now();
        const Error error = error_of([&] { Client{options()}.next(); });
        BOOST_TEST((error.code() == code));
        BOOST_TEST((error.retry_after() == 60s));
        BOOST_TEST(says(error, path));
        BOOST_TEST((steady_clock::now() - begin < 10s));
        if (code == ErrorCode::no_ids) BOOST_TEST(says(error, "503 (connect postgresql failed: no route to \"db\")"));
    }
}

BOOST_AUTO_TEST_CASE(answers_that_are_no_ids_are_typed_errors) {
    for (const auto& [answer, code] :
         {std::pair{http("400 Bad Request", "{\"code\":400,\"msg\":\"bad request\"}\n"), ErrorCode::rejected},
          {http("404 Not Found", "{\"code\":404,\"msg\":\"not found\",\"error\":\"no such sequence\"}\n"),
           ErrorCode::rejected},
          {http("401 Unauthorized", "{\"code\":401,\"msg\":\"unauthorized\"}\n"), ErrorCode::not_allowed},
          {http("403 Forbidden", "{\"code\":403,\"msg\":\"forbidden\"}\n"), ErrorCode::not_allowed},
          {http("500 Oops", "<html>"), ErrorCode::not_understood},
          {http("200 OK", "<html>hello</html>"), ErrorCode::not_understood},
          {http_ranges(1, "[1,2]"), ErrorCode::not_understood},
          {http_ranges(1, "[1.5,1.5]"), ErrorCode::not_understood},
          {std::string{"SSH-2.0-OpenSSH\r\n"}, ErrorCode::not_understood},
          {std::string(100'000, '\0'), ErrorCode::not_understood},
          {"HTTP/1.1 200 " + std::string(100'000, 'x'), ErrorCode::not_understood}}) {
        ScriptedServer server{path, [&](Peer& peer) {
                                  peer.receive();
                                  peer.send(peer.number() == 1 ? answer : http_ranges(1, "[8,8]"));
                                  if (peer.receive().empty()) return;
                                  peer.send(http_ranges(1, "[8,8]"));
                              }};
        Client client{options()};
        const Error error = error_of([&] { client.next(); });
        BOOST_TEST((error.code() == code), error.what());
        BOOST_TEST(says(error, path));
        BOOST_TEST(client.next() == 8);  // the next call is not disturbed
    }
}

BOOST_AUTO_TEST_CASE(each_call_ends_at_its_deadline_and_its_answer_is_nobodys) {
    std::promise<void> late;
    ScriptedServer server{path, [&, gate = late.get_future().share()](Peer& peer) {
                              peer.receive();
                              if (peer.number() == 1) gate.wait();
                              peer.send(http_ranges(1, peer.number() == 1 ? "[1,1]" : "[2,2]"));
                          }};
    Client client{options(100ms)};
    const auto begin = steady_clock::now();
    const Error error = error_of([&] { client.next(); });
    const auto took = steady_clock::now() - begin;
    late.set_value();
    BOOST_TEST((error.code() == ErrorCode::timed_out));
    BOOST_TEST(says(error, "within 100 ms"));
    BOOST_TEST((took >= 100ms && took < 10s));
    BOOST_TEST(client.next() == 2);
}

BOOST_AUTO_TEST_CASE(an_answer_that_trickles_has_no_longer_than_others) {
    std::atomic<bool> stop = false;
    ScriptedServer server{path, [&](Peer& peer) {
                              peer.receive();
                              peer.send("HTTP/1.1 200 OK\r\nX: ");
                              while (!stop) {
                                  peer.send("x");
                                  std::this_thread::sleep_for(1ms);
                              }
                          }};
    BOOST_TEST((error_of([&] { Client{options(100ms)}.next(); }).code() == ErrorCode::timed_out));
    stop = true;
}

BOOST_AUTO_TEST_CASE(no_sigpipe_is_raised) {
    const Handler pipe{SIGPIPE};
    std::promise<void> go_on;
    std::atomic<bool> closed = false;
    ScriptedServer server{path, [&, gate = go_on.get_future().share()](Peer& peer) {
                              gate.wait();
                              ::shutdown(peer.descriptor(), SHUT_RDWR);
                              closed = true;
                          }};
    const client::Address address{path};
    client::Exchange exchange{address};
    exchange.begin(std::string(10'000'000, 'x'), 100);  // more than the kernel takes at once
    BOOST_TEST((exchange.state() == client::Exchange::State::sending));
    go_on.set_value();
    BOOST_TEST_REQUIRE(wait_until([&] { return closed.load(); }));
    BOOST_TEST((exchange.wait(steady_clock::now() + 20s) == client::Exchange::State::failed));
    BOOST_TEST(Handler::calls == 0);
}

BOOST_AUTO_TEST_CASE(signals_disturb_nothing) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    ::pthread_sigmask(SIG_BLOCK, &alarms, nullptr);  // and so in the server's threads
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) {
                              for (std::string request; !(request = peer.receive()).empty();) {
                                  std::this_thread::sleep_for(20ms);
                                  peer.send_byte_by_byte(counter.answer(request));
                              }
                          }};
    Client client{options()};
    client.next();
    const Handler alarm{SIGALRM};
    const itimerval often{{0, 1000}, {0, 1000}}, never{};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    ::pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    for (int i = 2; i <= 6; ++i) BOOST_TEST(client.next() == i);
    ::setitimer(ITIMER_REAL, &never, nullptr);
    BOOST_TEST(Handler::calls > 0);
    BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(an_error_says_what_was_tried_and_what_to_do) {
    const Error missing = error_of([&] { Client{options(50ms)}.next(); });
    BOOST_TEST((missing.code() == ErrorCode::unreachable));
    BOOST_TEST(missing.what() ==
               "there is no socket " + path + ": next-id serve must be running, with the same --socket");
    std::string closed;
    {
        ScriptedServer server{"", [](Peer&) {}};
        closed = server.address();
    }
    Options tcp = options(50ms);
    tcp.address = closed;
    const Error refused = error_of([&] { Client{tcp}.next(); });
    BOOST_TEST((refused.code() == ErrorCode::unreachable));
    BOOST_TEST(refused.what() ==
               "nobody listens on " + closed + ": next-id serve must be running, with the same address");
}

BOOST_AUTO_TEST_CASE(missing_rights_are_told_at_once) {
    ScriptedServer server{path, [](Peer& peer) { peer.receive(); }};
    ::chmod(path.c_str(), 0600);
    ::chmod(directory.path.c_str(), 0755);
    BOOST_TEST(in_a_fork([&] {  // root is never without rights
                   if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 2;
                   if (::geteuid() != 65534) return 0;  // its own socket: nothing to see here
                   try {
                       Client{options()}.next();
                   } catch (const Error& error) {
                       return error.code() == ErrorCode::not_allowed && says(error, "--socket-mode") ? 0 : 1;
                   }
                   return 3;
               }) == 0);
}

BOOST_AUTO_TEST_CASE(a_token_file_is_read_again_when_its_token_is_refused) {
    Counter counter;
    ScriptedServer server{
        path, [&](Peer& peer) {
            for (std::string request; !(request = peer.receive()).empty();)
                peer.send(request.find("Authorization: Bearer second\r\n") != std::string::npos
                              ? counter.answer(request)
                              : http("401 Unauthorized", "{\"code\":401,\"msg\":\"unauthorized\"}\n"));
        }};
    Options all = options();
    all.token_file = directory.write("token", "# comment\n\n  first \n");
    Client client{all};
    const Error refused = error_of([&] { client.next(); });
    BOOST_TEST((refused.code() == ErrorCode::not_allowed));
    BOOST_TEST(says(refused, "--token-file"));
    BOOST_TEST(!says(refused, "first"));
    directory.write("token", "second\nthird\n");
    BOOST_TEST(client.next() == 1);
    directory.write("token", "#\n");
    BOOST_TEST(client.next() == 2);  // it is good still, and not read
    Client hopeful{all};
    auto filled = std::async(std::launch::async, [&] { return hopeful.next(); });
    BOOST_TEST((filled.wait_for(30ms) == std::future_status::timeout));
    directory.write("token", "second\n");
    BOOST_TEST(filled.get() == 3);
    all.timeout = 50ms;
    for (const bool is_there : {true, false}) {
        if (is_there) directory.write("token", "#\n");
        if (!is_there) std::filesystem::remove(all.token_file);
        const Error none = error_of([&] { Client{all}.next(); });
        BOOST_TEST((none.code() == ErrorCode::invalid_argument));
        BOOST_TEST(says(none, "no token to be read in " + all.token_file));
    }
}

BOOST_AUTO_TEST_CASE(a_refused_token_is_replaced_by_one_that_comes_late) {
    Counter counter;
    std::promise<void> emptied;
    Options all = options();
    all.token_file = directory.write("token", "first\n");
    ScriptedServer server{
        path, [&](Peer& peer) {
            for (std::string request; !(request = peer.receive()).empty();) {
                const bool is_second = request.find("Bearer second\r\n") != std::string::npos;
                if (!is_second) directory.write("token", ""), emptied.set_value();  // somebody begins to write it
                peer.send(is_second ? counter.answer(request)
                                    : http("401 Unauthorized", "{\"code\":401,\"msg\":\"unauthorized\"}\n"));
            }
        }};
    Client client{all};
    auto id = std::async(std::launch::async, [&] { return client.next(); });
    emptied.get_future().wait();
    BOOST_TEST((id.wait_for(30ms) == std::future_status::timeout));
    directory.write("token", "second\n");
    BOOST_TEST(id.get() == 1);
}

BOOST_AUTO_TEST_CASE(without_descriptors_no_token_file_is_blamed) {
    Options all = options();
    all.token_file = directory.write("token", "secret\n");
    BOOST_TEST(in_a_fork([&] {
                   const rlimit none{0, 0};
                   ::setrlimit(RLIMIT_NOFILE, &none);
                   try {
                       Client{all}.next();
                   } catch (const Error& error) {
                       return error.code() == ErrorCode::system && says(error, "Too many open files") ? 0 : 1;
                   }
                   return 2;
               }) == 0);
}

BOOST_AUTO_TEST_CASE(options_that_cannot_work_are_refused_at_once) {
    const auto code_with = [&](auto change) {
        Options all = options();
        change(all);
        return error_of([&] { Client{all}; }).code();
    };
    for (const std::string& address :
         {std::string{}, std::string{"sidecar"}, std::string{"next-id:8080"}, std::string{"127.0.0.1"},
          std::string{"127.0.0.1:0"}, std::string{"127.0.0.1:65536"}, std::string{"::1:8080"},
          std::string{"https://127.0.0.1:8080"}, std::string{"http://127.0.0.1:8080/next-id"}, std::string{"/a\0b", 4},
          "/" + std::string(200, 'x')})
        BOOST_TEST((code_with([&](Options& all) { all.address = address; }) == ErrorCode::invalid_argument), address);
    for (const char* address : {"localhost:8080", "http://[::1]:8080/", "./s", "127.0.0.1:1"}) {
        Options all = options();
        all.address = address;
        BOOST_CHECK_NO_THROW(Client{all});
    }
    for (const char* token : {"a b", "a\r\nX: y", "\x7f"})
        BOOST_TEST((code_with([&](Options& all) { all.token = token; }) == ErrorCode::invalid_argument));
    BOOST_TEST((code_with([](Options& all) { all.token = all.token_file = "both"; }) == ErrorCode::invalid_argument));
    BOOST_TEST((code_with([](Options& all) { all.timeout = 0ms; }) == ErrorCode::invalid_argument));
    Client client{options()};
    for (const std::size_t n : {std::size_t{0}, Client::count_max + 1})
        BOOST_TEST((error_of([&] { client.next(n); }).code() == ErrorCode::invalid_argument));
}

BOOST_AUTO_TEST_CASE(after_a_fork_parent_and_child_have_a_connection_each) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    Client client{options()};
    BOOST_TEST(client.next() == 1);
    BOOST_TEST(in_a_fork([&] {
                   try {
                       return client.next() == 2 && client.next() == 3 ? 0 : 1;
                   } catch (...) {
                       return 2;
                   }
               }) == 0);
    BOOST_TEST(client.next() == 4);
    BOOST_TEST(server.connections() == 2);
}

BOOST_AUTO_TEST_CASE(a_connection_ends_with_its_client_though_a_child_has_it_open) {
    Counter counter;
    std::atomic<bool> ended = false;
    ScriptedServer server{path, [&](Peer& peer) {
                              counter.serve(peer);
                              ended = true;
                          }};
    auto client = std::make_unique<Client>(options());
    BOOST_TEST(client->next() == 1);
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        char byte;
        ::close(ends[1]);
        ::_exit(::read(ends[0], &byte, 1) == 0 ? 0 : 1);  // until the parent lets go
    }
    client.reset();
    BOOST_TEST(wait_until([&] { return ended.load(); }));
    ::close(ends[1]);
    ::close(ends[0]);
    BOOST_TEST(::waitpid(child, nullptr, 0) == child);
}

// As a daemon closes what it has inherited.
BOOST_AUTO_TEST_CASE(after_a_fork_nothing_is_closed_but_what_was_inherited) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    Client client{options()};
    BOOST_TEST(client.next() == 1);
    BOOST_TEST(in_a_fork([&] {
                   try {
                       std::vector<int> own;
                       for (int descriptor = 3; descriptor < 200; ++descriptor) ::close(descriptor);
                       while (own.empty() || own.back() < 200) own.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
                       if (client.next() != 2) return 1;
                       for (const int descriptor : own) {
                           struct stat status {};
                           if (::fstat(descriptor, &status) != 0 || !S_ISCHR(status.st_mode)) return 2;
                       }
                       return 0;
                   } catch (...) {
                       return 3;
                   }
               }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
