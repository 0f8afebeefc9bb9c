#include "sidecar/serve/connection.h"

#include <boost/test/unit_test.hpp>

#include "tests/serve/connection_fixture.h"

namespace next_id {

BOOST_FIXTURE_TEST_SUITE(http_connection_tests, ConnectionFixture)

BOOST_AUTO_TEST_CASE(a_connection_serves_one_request_after_another) {
    for (std::size_t i = 1; i <= 100; ++i) {
        peer.send(get("/" + std::to_string(i)));
        BOOST_TEST_REQUIRE(run_until_answers(i));
    }
    BOOST_TEST(answers_in(peer.received).back().body == "/100");
    BOOST_TEST(!answers_in(peer.received).back().closes());
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
}

BOOST_AUTO_TEST_CASE(pipelined_requests_are_answered_in_their_order) {
    std::string requests, expected;
    for (int i = 0; i < 1000; ++i) {
        requests += get("/" + std::to_string(i));
        expected += (i == 0 ? "/" : " /") + std::to_string(i);
    }
    BOOST_TEST_REQUIRE(peer.send(requests) == requests.size());
    BOOST_TEST(run_until_answers(1000));
    BOOST_TEST(bodies_in(peer.received) == expected);
}

BOOST_AUTO_TEST_CASE(a_request_that_comes_byte_by_byte_is_answered) {
    for (const char byte : get("/a", "Accept: text/plain\r\n") + get("/b")) {
        BOOST_TEST_REQUIRE(peer.send({&byte, 1}) == 1);
        settle();
    }
    BOOST_TEST(run_until_answers(2));
    BOOST_TEST(bodies_in(peer.received) == "/a /b");
}

BOOST_AUTO_TEST_CASE(http_1_0_closes_unless_the_client_asks_to_stay) {
    peer.send(get("/a", "Connection: keep-alive\r\n", "1.0"));
    BOOST_TEST_REQUIRE(run_until_answers(1));
    BOOST_TEST(answers_in(peer.received)[0].head.find("Connection: keep-alive\r\n") != std::string::npos);
    BOOST_TEST(finished == 0);
    peer.send(get("/b", "", "1.0"));
    BOOST_TEST(run_until_finished());
    BOOST_TEST(bodies_in(peer.received) == "/a /b");
    BOOST_TEST(answers_in(peer.received)[1].closes());
    BOOST_TEST(peer.ended);
}

BOOST_AUTO_TEST_CASE(a_request_that_says_close_is_the_last) {
    peer.send(get("/a") + get("/b", "Connection: close\r\n"));
    BOOST_TEST(run_until_finished());
    BOOST_TEST(bodies_in(peer.received) == "/a /b");
    BOOST_TEST(answers_in(peer.received)[1].closes());
    BOOST_TEST(peer.ended);
}

BOOST_AUTO_TEST_CASE(an_error_is_answered_behind_what_came_before_it) {
    peer.send(get("/a") + "NONSENSE\r\n\r\n");
    BOOST_TEST(run_until_answers(2));
    const auto answers = answers_in(peer.received);
    BOOST_TEST(answers[0].body == "/a");
    BOOST_TEST(answers[1].status == 400);
    BOOST_TEST(answers[1].closes());
    BOOST_TEST(answers[1].body.starts_with("{\"code\":400,\"msg\":\"bad request\",\"error\":\""));
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
    BOOST_TEST(handler.handled == 1);
}

BOOST_AUTO_TEST_CASE(each_error_has_its_status) {
    const std::pair<std::string, int> cases[] = {
        {get("/" + std::string(5000, 'x')), 414},
        {get("/", "X: " + std::string(9000, 'x') + "\r\n"), 431},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 413},
        {"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405},
        {"GET / HTTP/1.1\r\n\r\n", 400},
    };
    for (const auto& [request, status] : cases) {
        ConnectionFixture one;
        one.peer.send(request);
        BOOST_TEST_REQUIRE(one.run_until_answers(1));
        BOOST_TEST(answers_in(one.peer.received)[0].status == status);
        const bool allow =
            answers_in(one.peer.received)[0].head.find("Allow: GET, HEAD, POST\r\n") != std::string::npos;
        BOOST_TEST(allow == (status == 405));
    }
}

BOOST_AUTO_TEST_CASE(a_request_after_a_refused_one_is_not_served) {
    peer.send("GET / HTTP/9.9\r\nHost: a\r\n\r\n" + get("/a"));
    BOOST_TEST(run_until_answers(1));
    settle();
    BOOST_TEST(answers() == 1);
    BOOST_TEST(handler.handled == 0);
}

BOOST_AUTO_TEST_CASE(a_parked_request_holds_back_those_behind_it) {
    peer.send(get("/a") + get("/park") + get("/b") + get("/park2") + get("/c"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    peer.send(get("/d"));
    settle();
    BOOST_TEST(handler.handled == 2);
    BOOST_TEST(run_until_answers(1));  // the first need not wait

    handler.resume_oldest();
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    BOOST_TEST(run_until_answers(3));
    handler.resume_oldest();
    BOOST_TEST(run_until_answers(6));
    BOOST_TEST(bodies_in(peer.received) == "/a /park /b /park2 /c /d");
    BOOST_TEST(handler.forgotten == 0);
}

BOOST_AUTO_TEST_CASE(a_parked_request_that_says_close_is_the_last) {
    peer.send(get("/park", "Connection: close\r\n"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    handler.resume_oldest();
    BOOST_TEST(run_until_finished());
    BOOST_TEST(answers_in(peer.received).at(0).closes());
    BOOST_TEST(peer.ended);
    BOOST_TEST(handler.forgotten == 0);
}

BOOST_AUTO_TEST_CASE(a_client_that_sends_no_more_still_gets_all_its_answers) {
    peer.send(get("/a") + get("/b"));
    peer.end_sending();
    BOOST_TEST(run_until_finished());
    BOOST_TEST(bodies_in(peer.received) == "/a /b");
    BOOST_TEST(peer.ended);
}

BOOST_AUTO_TEST_CASE(a_client_that_sends_no_more_still_gets_what_was_parked) {
    peer.send(get("/a") + get("/park") + get("/b"));
    peer.end_sending();
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    settle();
    BOOST_TEST(finished == 0);
    handler.resume_oldest();
    BOOST_TEST(run_until_finished());
    BOOST_TEST(bodies_in(peer.received) == "/a /park /b");
    BOOST_TEST(peer.ended);
    BOOST_TEST(handler.forgotten == 0);
}

BOOST_AUTO_TEST_CASE(a_client_that_sends_no_more_still_gets_answers_larger_than_its_buffers) {
    peer.send(get("/big/3000000") + get("/big/2000000") + get("/c"));
    peer.end_sending();
    settle();
    BOOST_TEST(finished == 0);
    BOOST_TEST(run_until_finished());
    const auto answers = answers_in(peer.received);
    BOOST_TEST_REQUIRE(answers.size() == 3);
    BOOST_TEST((answers[0].body == big_body(3'000'000)));
    BOOST_TEST((answers[1].body == big_body(2'000'000)));
    BOOST_TEST(answers[2].body == "/c");
}

BOOST_AUTO_TEST_CASE(an_end_within_a_request_ends_the_connection) {
    peer.send("GET /a HT");
    peer.end_sending();
    BOOST_TEST(run_until_finished());
    BOOST_TEST(peer.received == "");
    BOOST_TEST(handler.handled == 0);
}

BOOST_AUTO_TEST_CASE(a_large_answer_is_intact_before_the_connection_closes) {
    peer.send(get("/big/5000000", "Connection: close\r\n"));
    settle();
    BOOST_TEST(run_until_finished());
    BOOST_TEST((answers_in(peer.received).at(0).body == big_body(5'000'000)));
    BOOST_TEST(peer.ended);
}

BOOST_AUTO_TEST_CASE(a_large_answer_to_a_parked_request_is_intact_behind_another) {
    peer.send(get("/big/250000") + get("/park") + get("/c"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    handler.resume_oldest("/big/1000000");
    settle();
    BOOST_TEST(handler.handled == 2);
    BOOST_TEST(run_until_answers(3));
    const auto answers = answers_in(peer.received);
    BOOST_TEST((answers[0].body == big_body(250'000)));
    BOOST_TEST((answers[1].body == big_body(1'000'000)));
    BOOST_TEST(answers[2].body == "/c");
}

BOOST_AUTO_TEST_CASE(while_a_client_does_not_read_its_requests_are_left_in_the_socket) {
    const std::string request = get("/big/10000", "X: " + std::string(500, 'x') + "\r\n");
    std::string requests;
    for (int i = 0; i < 200; ++i) requests += request;
    // Sends until the socket takes no more, however often the other side looks.
    std::size_t sent = 0, unmoved = 0;
    while (unmoved < 20) {
        const std::size_t now = peer.send(std::string_view{requests}.substr(sent % requests.size()));
        sent += now;
        unmoved = now == 0 ? unmoved + 1 : 0;
        settle();
        BOOST_TEST_REQUIRE(sent < 4'000'000);
    }
    // What was answered is in the buffer of the socket, or fits into what is made before any of it is written.
    BOOST_TEST(handler.handled < 80);
    BOOST_TEST(finished == 0);

    const std::size_t whole = sent / request.size();
    BOOST_TEST(whole > 2 * handler.handled);
    BOOST_TEST(run_until_answers(whole));
    for (const Answer& answer : answers_in(peer.received)) BOOST_TEST_REQUIRE((answer.body == big_body(10'000)));
}

BOOST_AUTO_TEST_CASE(of_the_answers_that_nobody_reads_as_many_are_made_as_allowed) {
    const auto made = [](std::size_t answers_bytes_max) {
        ConnectionFixture unread{unix_pair(), {.answers_bytes_max = answers_bytes_max}};
        std::string requests;
        for (int i = 0; i < 200; ++i) requests += get("/big/10000");
        unread.peer.send(requests);
        unread.settle();
        return unread.handler.handled;
    };
    const unsigned few = made(4096);  // one at a time, and those that the socket holds
    BOOST_TEST(made(1'000'000) > few + 50);
}

BOOST_AUTO_TEST_CASE(a_client_that_goes_away_ends_the_connection) {
    peer.send(get("/a"));
    BOOST_TEST(run_until_answers(1));
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
}

BOOST_AUTO_TEST_CASE(a_client_that_goes_away_amid_a_large_answer_ends_the_connection) {
    peer.send(get("/big/3000000") + get("/b"));
    settle();
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
}

BOOST_AUTO_TEST_CASE(a_client_that_goes_away_while_parked_ends_the_connection_at_its_answer) {
    peer.send(get("/park") + get("/b"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    peer.go();
    settle();
    handler.resume_oldest();
    BOOST_TEST(run_until([&] { return finished == 1; }));
    BOOST_TEST(handler.forgotten == 0);
    connection.reset();
    BOOST_TEST(handler.forgotten == 0);
}

BOOST_AUTO_TEST_CASE(a_client_that_goes_away_while_parked_behind_a_large_answer_is_forgotten_once) {
    peer.send(get("/big/250000") + get("/park"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
    BOOST_TEST(handler.forgotten == 1);
    connection.reset();
    BOOST_TEST(handler.forgotten == 1);
    BOOST_TEST(handler.parked.empty());
}

BOOST_AUTO_TEST_CASE(a_parked_connection_that_is_destroyed_is_forgotten_once) {
    peer.send(get("/park"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    connection.reset();
    BOOST_TEST(handler.forgotten == 1);
    BOOST_TEST(finished == 0);
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_destroyed_amid_a_large_answer_leaves_nothing_behind) {
    peer.send(get("/big/3000000"));
    settle();
    connection.reset();
    settle();
    BOOST_TEST(run_until([&] { return peer.over(); }));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(http_connection_drain_tests, ConnectionFixture)

BOOST_AUTO_TEST_CASE(between_requests_it_closes_at_once) {
    peer.send(get("/a"));
    BOOST_TEST(run_until_answers(1));
    connection->drain();
    BOOST_TEST(finished == 1);
    connection->drain();
    BOOST_TEST(finished == 1);
    connection.reset();
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(peer.ended);
}

BOOST_AUTO_TEST_CASE(a_request_that_has_begun_is_answered_as_the_last) {
    peer.send("GET /a HTTP/1.1\r\n");
    settle();
    connection->drain();
    settle();
    BOOST_TEST(finished == 0);
    peer.send("Host: a\r\n\r\n");
    BOOST_TEST(run_until_answers(1));
    BOOST_TEST(answers_in(peer.received)[0].closes());
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(peer.ended);
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
}

BOOST_AUTO_TEST_CASE(a_parked_request_is_answered_as_the_last) {
    peer.send(get("/park") + get("/b"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    connection->drain();
    settle();
    BOOST_TEST(finished == 0);
    handler.resume_oldest();
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(bodies_in(peer.received) == "/park");
    BOOST_TEST(answers_in(peer.received)[0].closes());
    BOOST_TEST(peer.ended);
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
    BOOST_TEST(handler.handled == 1);
}

BOOST_AUTO_TEST_CASE(answers_that_are_not_read_yet_are_written_first) {
    peer.send(get("/big/3000000"));
    settle();
    connection->drain();
    settle();
    BOOST_TEST(finished == 0);
    BOOST_TEST(run_until_finished());
    BOOST_TEST((answers_in(peer.received).at(0).body == big_body(3'000'000)));
}

BOOST_AUTO_TEST_CASE(the_next_of_pipelined_requests_is_the_last) {
    peer.send(get("/big/3000000") + get("/b") + get("/c"));
    settle();
    connection->drain();
    BOOST_TEST(run_until([&] { return peer.over(); }));
    const auto answers = answers_in(peer.received);
    BOOST_TEST_REQUIRE(answers.size() == 2);
    BOOST_TEST(answers[1].body == "/b");
    BOOST_TEST(answers[1].closes());
    BOOST_TEST(peer.ended);
}

BOOST_AUTO_TEST_SUITE_END()

// Over TCP, where a socket that is closed with unread bytes in it takes back what it has sent.
struct TcpConnectionFixture : ConnectionFixture {
    TcpConnectionFixture() : ConnectionFixture{tcp_pair()} {}

    // Sends so much, whether it is taken or not, while the loop turns; then until the server closes.
    void send_steadily(std::size_t bytes) {
        const std::string block(10'000, 'x');
        for (std::size_t sent = 0; sent < bytes && finished == 0; settle()) sent += peer.send(block);
    }
};

BOOST_FIXTURE_TEST_SUITE(http_connection_close_tests, TcpConnectionFixture)

BOOST_AUTO_TEST_CASE(a_client_that_is_still_sending_a_body_gets_its_413) {
    peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n");
    send_steadily(500'000);
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(peer.ended);
    BOOST_TEST(!peer.reset);
    BOOST_TEST(answers_in(peer.received).at(0).status == 413);
    BOOST_TEST(finished == 0);  // until the client closes
    peer.go();
    BOOST_TEST(run_until([&] { return finished == 1; }));
}

BOOST_AUTO_TEST_CASE(a_client_that_never_stops_sending_is_cut_off) {
    peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n");
    send_steadily(5'000'000);
    BOOST_TEST(finished == 1);
}

BOOST_AUTO_TEST_CASE(a_refused_client_that_never_closes_is_closed) {
    peer.send("NONSENSE\r\n\r\n");
    BOOST_TEST(run_until_answers(1));
    for (int second = 0; second < 2; ++second) connection->sweep();
    BOOST_TEST(finished == 0);
    connection->sweep();
    BOOST_TEST(finished == 1);
}

BOOST_AUTO_TEST_CASE(requests_behind_the_last_do_not_take_its_answer_back) {
    peer.send(get("/park"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    std::string more;
    for (int i = 0; i < 1000; ++i) more += get("/more");
    peer.send(more);
    connection->drain();
    handler.resume_oldest();
    BOOST_TEST(run_until([&] { return peer.over(); }));
    BOOST_TEST(!peer.reset);
    BOOST_TEST(bodies_in(peer.received) == "/park");
    BOOST_TEST(handler.handled == 1);
}

BOOST_AUTO_TEST_CASE(a_request_that_is_never_finished_has_a_deadline) {
    peer.send("GET /a HT");
    settle();
    for (int second = 0; second < 30; ++second) connection->sweep();
    BOOST_TEST(finished == 0);
    connection->sweep();
    BOOST_TEST(finished == 1);
}

BOOST_AUTO_TEST_CASE(answers_that_are_never_read_have_a_deadline) {
    peer.send(get("/big/30000000"));
    settle();
    for (int second = 0; second < 30; ++second) connection->sweep();
    BOOST_TEST(finished == 0);
    connection->sweep();
    BOOST_TEST(finished == 1);
}

BOOST_AUTO_TEST_CASE(who_keeps_asking_is_not_cut_off) {
    for (std::size_t i = 1; i <= 50; ++i) {
        peer.send(get("/a").substr(i == 1 ? 0 : 5) + "GET /");
        BOOST_TEST_REQUIRE(run_until_answers(i));
        connection->sweep();
    }
    BOOST_TEST(finished == 0);
}

BOOST_AUTO_TEST_CASE(who_asks_nothing_or_is_parked_may_stay) {
    for (int second = 0; second < 100; ++second) connection->sweep();
    BOOST_TEST(finished == 0);
    peer.send(get("/park"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    for (int second = 0; second < 100; ++second) connection->sweep();
    BOOST_TEST(finished == 0);
}

BOOST_AUTO_TEST_CASE(who_was_idle_for_long_has_the_full_time_for_a_request) {
    for (int second = 0; second < 100; ++second) connection->sweep();
    peer.send("GET /a HT");
    settle();
    for (int second = 0; second < 30; ++second) connection->sweep();
    BOOST_TEST(finished == 0);
    peer.send("TP/1.1\r\nHost: a\r\n\r\n");
    BOOST_TEST(run_until_answers(1));
}

BOOST_AUTO_TEST_CASE(a_byte_now_and_then_is_no_request) {
    for (int second = 0; second < 31 && finished == 0; ++second) {
        peer.send(second == 0 ? "GET /" : "a");
        settle();
        connection->sweep();
    }
    BOOST_TEST(finished == 1);
}

BOOST_AUTO_TEST_CASE(empty_lines_do_not_keep_an_idle_connection_open) {
    for (int second = 0; second < 601 && finished == 0; ++second) {
        peer.send("\r\n");
        settle();
        connection->sweep();
    }
    BOOST_TEST(finished == 1);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct ShortTempered : ConnectionFixture {
    ShortTempered() : ConnectionFixture{unix_pair(), {.request_timeout_s = 2, .idle_timeout_s = 5}} {}

    // Until it is closed.
    unsigned sweeps() {
        unsigned count = 0;
        while (finished == 0 && count < 1000) connection->sweep(), ++count;
        return count;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(http_connection_timeout_tests, ShortTempered)

BOOST_AUTO_TEST_CASE(an_idle_connection_is_closed) {
    BOOST_TEST(sweeps() == 6);
}

BOOST_AUTO_TEST_CASE(a_slow_request_is_given_up) {
    peer.send("GET ");
    settle();
    BOOST_TEST(sweeps() == 3);
}

BOOST_AUTO_TEST_CASE(a_request_that_waits_for_ids_is_not_the_clients_fault) {
    peer.send(get("/park"));
    BOOST_TEST(run_until([&] { return handler.parked.size() == 1; }));
    BOOST_TEST(sweeps() == 1000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
