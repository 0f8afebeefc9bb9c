#include "sidecar/app/http_client.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/app/fake_server.h"

namespace next_id {
namespace {

using namespace std::chrono_literals;

Instant soon() {
    return Clock::now() + 10s;
}

std::string failure(const HttpServer& server, Instant deadline = soon()) {
    const auto answer = http_get(server, "/", deadline);
    BOOST_TEST_REQUIRE(!answer.has_value());
    return answer.error();
}

// Of a server that sends `bytes` and closes.
Expected<HttpAnswer> answer_of(const std::string& bytes) {
    FakeServer server{FakeServer::Kind::tcp, [&](const std::string&) { return bytes; }};
    return http_get(server.address(), "/", soon());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_client_tests)

BOOST_AUTO_TEST_CASE(an_answer_comes_over_either_kind_of_socket) {
    for (const auto kind : {FakeServer::Kind::unix_socket, FakeServer::Kind::tcp}) {
        FakeServer server{kind,
                          [](const std::string& target) { return http_answer("503 Service Unavailable", target); }};
        const HttpServer where =
            kind == FakeServer::Kind::tcp ? HttpServer{server.address()} : HttpServer{UnixPath{server.socket_path()}};
        const auto answer = http_get(where, "/next-id?count=3", soon());
        BOOST_TEST_REQUIRE(answer.has_value(), (answer ? "" : answer.error()));
        BOOST_TEST(answer->status == 503);
        BOOST_TEST(answer->body == "/next-id?count=3");
        BOOST_TEST(server.requests().at(0).starts_with("GET /next-id?count=3 HTTP/1.0\r\nHost: "));
    }
}

BOOST_AUTO_TEST_CASE(without_a_length_the_body_goes_to_the_end) {
    const auto answer = answer_of("HTTP/1.0 200 OK\r\n\r\n1\r\n\r\n2\n");
    BOOST_TEST_REQUIRE(answer.has_value());
    BOOST_TEST(answer->body == "1\r\n\r\n2\n");
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_cut_or_no_http_is_an_error) {
    for (const char* bytes : {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1\n",
                              "SSH-2.0-x\r\n\r\n", "HTTP/1.1 abc\r\n\r\n"}) {
        const auto answer = answer_of(bytes);
        BOOST_TEST_REQUIRE(!answer.has_value(), bytes);
        BOOST_TEST(answer.error().find("ended early") != std::string::npos, answer.error());
    }
}

BOOST_AUTO_TEST_CASE(an_endless_answer_is_cut_off) {
    const auto answer = answer_of("HTTP/1.0 200 OK\r\n\r\n" + std::string(answer_bytes_max, '1'));
    BOOST_TEST_REQUIRE(!answer.has_value());
    BOOST_TEST(answer.error().ends_with("the answer is longer than 1048576 bytes"));
}

BOOST_AUTO_TEST_CASE(a_missing_socket_is_named_and_what_must_run) {
    BOOST_TEST(failure(UnixPath{"/nonexistent/s"}) ==
               "there is no socket /nonexistent/s: next-id serve must be running, with the same --socket");
}

BOOST_AUTO_TEST_CASE(a_socket_that_nobody_listens_on_is_named) {
    HostPort closed;
    {
        FakeServer server{FakeServer::Kind::tcp, [](const std::string&) { return ""; }};
        closed = server.address();
    }
    BOOST_TEST(failure(closed) == "nobody listens on 127.0.0.1:" + std::to_string(closed.port) +
                                      ": next-id serve must be running, with the same address");
}

BOOST_AUTO_TEST_CASE(missing_rights_are_explained,
                     *boost::unit_test::precondition([](auto) { return geteuid() != 0; })) {
    FakeServer server{FakeServer::Kind::unix_socket, [](const std::string&) { return ""; }};
    chmod(server.socket_path().c_str(), 0);
    BOOST_TEST(failure(UnixPath{server.socket_path()}).starts_with("no rights to connect to " + server.socket_path()));
}

BOOST_AUTO_TEST_CASE(a_server_that_says_nothing_runs_into_the_deadline) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    BOOST_TEST_REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
    BOOST_TEST_REQUIRE(listen(fd, 1) == 0);
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    BOOST_TEST(
        failure(HostPort{"127.0.0.1", ntohs(address.sin_port)}, Clock::now() + 50ms).ends_with("no answer in time"));
    close(fd);
}

BOOST_AUTO_TEST_CASE(a_path_segment_is_encoded_byte_by_byte) {
    BOOST_TEST(percent_encode("global_id_seq-1.~") == "global_id_seq-1.~");
    BOOST_TEST(percent_encode("s.\"A/b?\" \xc3\xa4") == "s.%22A%2Fb%3F%22%20%C3%A4");
    BOOST_TEST(percent_encode(std::string(1, '\0')) == "%00");
}

BOOST_AUTO_TEST_CASE(a_listener_on_all_addresses_is_asked_on_the_loopback) {
    BOOST_TEST(reachable({"0.0.0.0", 1}).host == "127.0.0.1");
    BOOST_TEST(reachable({"::", 1}).host == "::1");
    BOOST_TEST(reachable({"10.0.0.1", 1}).host == "10.0.0.1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
