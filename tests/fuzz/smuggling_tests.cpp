// What a proxy in front of us may read otherwise than we do, in one table: the bytes of a connection, and all the
// answers to them. Where two can disagree about the end of a request, we refuse it and close, so what stands behind it
// is never answered. Each row is sent whole, byte by byte and cut in two at several places.
#include <boost/test/unit_test.hpp>

#include "tests/fuzz/http_answers.h"
#include "tests/fuzz/id_server.h"

namespace next_id::test {
namespace {

using namespace std::string_literals;

struct Row {
    std::string bytes;
    std::string outcome;  // the statuses, and whether the connection is open afterwards
};

const std::string line = "GET /next-id HTTP/1.1\r\n", host = "Host: a\r\n";

std::string get(const std::string& headers) {
    return line + host + headers + "\r\n";
}
std::string post(const std::string& headers) {
    return "POST /next-id HTTP/1.1\r\n" + host + headers + "\r\n";
}
std::string target(const std::string& name) {
    return "GET " + name + " HTTP/1.1\r\n" + host + "\r\n";
}

const std::string next = get("");  // what is smuggled, or asked next
const std::string refused = "400 closed", no_body = "413 closed", both = "200 200 open";

IdServer& server() {
    static IdServer one;
    return one;
}

std::string outcome_of(const Exchange& exchange) {
    std::string outcome;
    std::size_t ids = 0;
    for (const HttpAnswer& answer : read_answers(exchange.received, [](std::size_t) { return false; })) {
        outcome += std::to_string(answer.status) + " ";
        ids += answer.ids.size();
    }
    BOOST_TEST(exchange.taken.size() == ids);
    return outcome + (exchange.closed ? "closed" : "open");
}

std::string outcome_of(const std::string& bytes) {
    const std::string_view whole = bytes;
    const Exchange exchange = server().exchange(std::vector{whole}, Refills::plenty);
    const auto same = [&](const std::vector<std::string_view>& pieces) {
        return server().exchange(pieces, Refills::plenty).received == exchange.received;
    };
    for (std::size_t part = 1; part < 8; ++part) {
        const std::size_t cut = bytes.size() * part / 8;
        BOOST_TEST(same({whole.substr(0, cut), whole.substr(cut)}), "cut at " << cut << " of " << bytes);
    }
    if (bytes.size() < 500) {
        std::vector<std::string_view> single;
        for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(whole.substr(i, 1));
        BOOST_TEST(same(single), "byte by byte: " << bytes);
    }
    return outcome_of(exchange);
}

void check(const std::vector<Row>& rows) {
    for (const auto& [bytes, outcome] : rows) BOOST_TEST(outcome_of(bytes) == outcome, bytes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(smuggling_tests)

BOOST_AUTO_TEST_CASE(the_end_of_a_line_is_cr_lf) {
    check({
        {get("X: a\r\nY: b\r\n") + next, both},
        {get("X: a\r\n b\r\n") + next, refused},  // folded
        {get("X: a\r\n\tContent-Length: 5\r\n") + next, refused},
        {get("X:\r\n a\r\n") + next, refused},
        {get(" X: a\r\n") + next, refused},
        {line + " Host: a\r\n\r\n" + next, refused},  // white space before the first header
        {line + "\tX: a\r\n" + host + "\r\n" + next, refused},
        {get("X: a\rContent-Length: 5\r\n") + next, refused},  // bare CR
        {get("X: a\r\r\n") + next, refused},
        {line + host + "\r\r\n" + next, refused},
        {"\r" + next, refused},
        {"GET /next-id HTTP/1.1\rHost: a\r\n\r\n" + next, refused},
        {get("X: a\nContent-Length: 5\r\n") + next, refused},  // bare LF
        {get("X: a\n") + next, refused},
        {"GET /next-id HTTP/1.1\n" + host + "\r\n" + next, refused},
        {line + host + "\n" + next, refused},
        {line + "Host: a\n\n" + next, refused},
        {"\n" + next, refused},
        {"\r\n\r\n" + next + next, both},  // empty lines before a request (RFC 9112, 2.2)
        {next + "\r\n" + next, both},
    });
}

BOOST_AUTO_TEST_CASE(a_length_ends_the_connection) {
    check({
        {post("Content-Length: 0\r\n") + next, both},
        {post("Content-Length: 00\r\n") + next, both},
        {post("Content-Length: " + std::to_string(next.size()) + "\r\n") + next, no_body},
        {get("Content-Length: 5\r\n") + "hello" + next, no_body},
        {post("Content-Length: 5\r\nContent-Length: 5\r\n") + "hello" + next, refused},
        {post("Content-Length: 0\r\nContent-Length: 0\r\n") + next, refused},
        {post("Content-Length: 0\r\nContent-Length: 40\r\n") + next, refused},
        {post("Content-Length: 40\r\ncontent-length: 0\r\n") + next, refused},
        {post("Content-Length: 0, 0\r\n") + next, refused},
        {post("Content-Length: 0, 40\r\n") + next, refused},
        {post("Content-Length:\r\n") + next, refused},
        {post("Content-Length: \t\r\n") + next, refused},
        {post("Content-Length: +0\r\n") + next, refused},
        {post("Content-Length: -1\r\n") + next, refused},
        {post("Content-Length: 0x0\r\n") + next, refused},
        {post("Content-Length: 0 0\r\n") + next, refused},
        {post("Content-Length: 0;a\r\n") + next, refused},
        {post("Content-Length: 18446744073709551616\r\n") + next, refused},
        {post("Content-Length : 40\r\n") + next, refused},
        {post("Content_Length: 40\r\n") + next, both},  // another header, whatever some gateways make of it
        {post("Content-Length: 5\r\nExpect: 100-continue\r\n") + "hello" + next, no_body},
    });
}

BOOST_AUTO_TEST_CASE(a_transfer_coding_ends_the_connection) {
    const std::string chunks = "0\r\n\r\n" + next;
    check({
        {post("Transfer-Encoding: chunked\r\n") + chunks, no_body},
        {post("transfer-encoding:chunked\r\n") + chunks, no_body},
        {post("Transfer-Encoding: Chunked\r\n") + chunks, no_body},
        {post("Transfer-Encoding: identity\r\n") + chunks, no_body},
        {post("Transfer-Encoding: chunked, identity\r\n") + chunks, refused},
        {post("Transfer-Encoding: identity, chunked\r\n") + chunks, no_body},
        {post("Transfer-Encoding: chunked, chunked\r\n") + chunks, refused},
        {post("Transfer-Encoding: xchunked\r\n") + chunks, no_body},
        {post("Transfer-Encoding: chunked x\r\n") + chunks, no_body},
        {post("Transfer-Encoding: \"chunked\"\r\n") + chunks, no_body},
        {post("Transfer-Encoding:\r\n") + chunks, no_body},
        {post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n") + chunks, no_body},
        {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") + chunks, refused},
        {post("Transfer-Encoding : chunked\r\n") + chunks, refused},
        {post("Transfer-Encoding\t: chunked\r\n") + chunks, refused},
        {post("Transfer-Encoding: \x0b"s + "chunked\r\n") + chunks, refused},
        {post("X: a\r\n Transfer-Encoding: chunked\r\n") + chunks, refused},
        {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + chunks, refused},
        {post("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n") + chunks, refused},
        {post("Content-Length: 0\r\nTransfer-Encoding: identity\r\n") + chunks, refused},
        {"POST /next-id HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n" + chunks, no_body},
    });
}

BOOST_AUTO_TEST_CASE(a_target_is_a_path_or_a_url_and_means_itself) {
    check({
        {target("http://b/next-id") + next, both},
        {target("HTTPS://b:8080/next-id?count=2") + next, both},
        {target("http://b") + next, "404 200 open"},
        {target("http:///next-id") + next, refused},
        {target("http://u@b/next-id") + next, refused},
        {target("http://u:p@b/next-id") + next, refused},
        {target("ftp://b/next-id") + next, refused},
        {target("http:/next-id") + next, refused},
        {"GET http://b/next-id HTTP/1.1\r\n\r\n" + next, refused},  // Host all the same
        {target("a:80") + next, refused},                           // authority form
        {"CONNECT a:80 HTTP/1.1\r\n" + host + "\r\n" + next, "405 closed"},
        {target("*") + next, "404 200 open"},
        {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n" + next, "404 200 open"},
        {target("next-id") + next, refused},
        {target("\\next-id") + next, refused},
        {target("/next%2Did") + next, "404 200 open"},  // the route is taken as it is, only the sequence is decoded
        {target("/%6eext-id") + next, "404 200 open"},
        {target("//next-id") + next, "404 200 open"},
        {target("/next-id/") + next, "404 200 open"},
        {target("/./next-id") + next, "404 200 open"},
        {target("/a/../next-id") + next, "404 200 open"},
        {target("/next-id/..") + next, "404 200 open"},
        {target("/next-id/%2e%2e/ids") + next, "404 200 open"},
        {target("/next-id;a=b") + next, "404 200 open"},
        {target("/NEXT-ID") + next, "404 200 open"},
        {target("/next-id%00") + next, "404 200 open"},
        {target("/next-id/id%73") + next, both},
        {target("/next-id#fragment") + next, both},
        {target("/next-id#?count=0") + next, both},
        {target("/next-id?count=1%00") + next, "400 200 open"},
        {target("/next-id?count=%zz") + next, "400 200 open"},
        {target("/next-id HTTP/1.1 HTTP/1.1") + next, refused},
        {target("/next-id a") + next, refused},
        {target("") + next, refused},
        {"GET  /next-id HTTP/1.1\r\n" + host + "\r\n" + next, refused},
        {"GET\t/next-id HTTP/1.1\r\n" + host + "\r\n" + next, refused},
        {target("/next-id\t") + next, refused},
        {target("/next-id?\xc3\xa9") + next, refused},
    });
}

BOOST_AUTO_TEST_CASE(there_is_one_protocol_and_no_switching) {
    check({
        {get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n") + next, both},
        {get("Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n") + next, both},
        {get("Upgrade: h2c\r\nContent-Length: 3\r\n") + "abc" + next, no_body},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + next, refused},
        {"GET /next-id\r\n" + next, refused},  // HTTP/0.9
        {"GET /next-id\r\n\r\n" + next, refused},
        {"GET /next-id\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + next, refused},
        {"GET /next-id HTTP/0.9\r\n" + host + "\r\n" + next, refused},
        {"GET /next-id HTTP/1.2\r\n" + host + "\r\n" + next, refused},
        {"GET /next-id HTTP/2\r\n" + host + "\r\n" + next, refused},
        {"GET /next-id HTTP/1.1x\r\n" + host + "\r\n" + next, refused},
        {"GET /next-id HTTP/01.1\r\n" + host + "\r\n" + next, refused},
        {"GET /next-id http/1.1\r\n" + host + "\r\n" + next, refused},
        {"GET /next-id RTSP/1.0\r\n" + host + "\r\n" + next, refused},
        {"get /next-id HTTP/1.1\r\n" + host + "\r\n" + next, refused},
        {"G ET /next-id HTTP/1.1\r\n" + host + "\r\n" + next, refused},
        {"\x16\x03\x01\x02\x01\x01" + next, refused},  // TLS
        {get("Connection: close\r\n") + next, "200 closed"},
        {get("Connection: keep-alive, close\r\n") + next, "200 closed"},
        {get("Connection: close\r\nConnection: keep-alive\r\n") + next, "200 closed"},
        {"GET /next-id HTTP/1.0\r\n\r\n" + next, "200 closed"},
        {"GET /next-id HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + next, both},
    });
}

BOOST_AUTO_TEST_CASE(a_header_has_a_name_and_those_that_decide_come_once) {
    check({
        {get(": a\r\n") + next, refused},
        {get("X y: a\r\n") + next, refused},
        {get("X : a\r\n") + next, refused},
        {get("X\r\n") + next, refused},
        {get("X(y): a\r\n") + next, refused},
        {get("\xc3\xa9: a\r\n") + next, refused},
        {get("X: \xc3\xa9\r\n") + next, both},
        {get("X:\r\n") + next, both},
        {get("X: a: b\r\n") + next, both},
        {line + "\r\n" + next, refused},  // no Host
        {get("Host: a\r\n") + next, refused},
        {get("Host: b\r\n") + next, refused},
        {get("hOsT: b\r\n") + next, refused},
        {line + "Host : a\r\n\r\n" + next, refused},
        {get("Authorization: a\r\nAuthorization: b\r\n") + next, refused},
        {get("X-Api-Token: a\r\nx-api-token: a\r\n") + next, refused},
        {get("Origin: http://a\r\nOrigin: http://b\r\n") + next, refused},
    });
}

BOOST_AUTO_TEST_CASE(a_host_is_a_name_or_an_address_and_perhaps_a_port) {
    const auto with_host = [](const std::string& value) { return line + "Host:" + value + "\r\n\r\n" + next; };
    check({
        {with_host(" a.example:8080"), both},
        {with_host("a"), both},
        {with_host(" [::1]:8080"), both},
        {with_host(" A_b-c~1.%20"), both},
        {with_host(""), both},  // as for a target without an authority (RFC 9112, 3.2)
        {with_host(" a:"), both},
        {with_host(" :80"), refused},
        {with_host(" a:8:0"), refused},
        {with_host(" a:b"), refused},
        {with_host(" a]"), refused},
        {with_host(" ::1"), refused},
        {with_host(" [::1"), refused},
        {with_host(" [::1]8080"), refused},
        {with_host(" a b"), refused},
        {with_host(" a, b"), refused},
        {with_host(" a/b"), refused},
        {with_host(" u@a"), refused},
        {with_host(" http://a"), refused},
        {with_host(" a\\b"), refused},
        {with_host(" a?b"), refused},
        {with_host(" a#b"), refused},
        {with_host(" \xc3\xa9"), refused},
        {target("http://a\\b/next-id") + next, refused},
        {target("http://a:8:0/next-id") + next, refused},
        {target("http://a,b/next-id") + next, refused},
    });
}

BOOST_AUTO_TEST_CASE(every_part_has_a_limit) {
    check({
        {target("/" + std::string(4096, 'a')) + next, "414 closed"},
        {target("/" + std::string(9000, 'a')) + next, "414 closed"},
        {std::string(9000, 'G') + next, refused},
        {"GET" + std::string(9000, ' ') + next, "414 closed"},
        {"GET /next-id HTTP/1." + std::string(9000, '1') + next, refused},
        {get("X: " + std::string(9000, 'a') + "\r\n") + next, "431 closed"},
        {get(std::string(9000, 'X') + ": a\r\n") + next, "431 closed"},
        {get("Content-Length: " + std::string(9000, '0') + "\r\n") + next, "431 closed"},
    });
    std::string many, empty_lines;
    while (many.size() < 9000) many += "X: a\r\n";
    while (empty_lines.size() < 9000) empty_lines += "\r\n";
    check({{get(many) + next, "431 closed"}, {empty_lines + next, "414 closed"}});
}

BOOST_AUTO_TEST_CASE(no_control_byte_is_let_through_anywhere) {
    const std::string request = line + "Host: a\r\nX: b c\r\n\r\n";
    const std::size_t values_at = request.find("a\r\n"), name_at = request.find("X:");
    for (std::size_t at = 0; at < request.size(); ++at) {
        // White space around and within a value: there a tab is like a blank.
        const bool in_value =
            (at >= values_at && at <= values_at + 1) || at == values_at - 1 || (at > name_at + 1 && at <= name_at + 6);
        for (int control = 0; control <= 0x20; ++control) {
            const char byte = static_cast<char>(control < 0x20 ? control : 0x7f);
            std::string bytes = request;
            bytes.insert(at, 1, byte);
            const std::string outcome = outcome_of(bytes + next);
            if (byte == '\n' &&
                at == request.size() - 1)  // it ends the head; the next request begins with the other LF
                BOOST_TEST(outcome == "200 " + refused);
            else if (byte == '\t' && in_value)
                BOOST_TEST(outcome == both, "a tab at " << at);
            else
                BOOST_TEST(outcome == refused, "byte " << int{byte} << " at " << at);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
