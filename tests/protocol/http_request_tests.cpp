// Every input is read whole, byte by byte and cut in two at every place; the outcome must be the same in every detail.
// So each line below promises that many things at once.
#include "protocol/http_request.h"

#include <boost/test/unit_test.hpp>

#include <random>
#include <vector>

#include "tests/protocol/parser_outcome.h"

using namespace next_id;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

using Result = HttpParser::Result;

constexpr auto& parse = parse_in_pieces;

// The outcome, after a check that it does not depend on how the bytes are cut. Long inputs are cut in fewer places.
std::string outcome(std::string_view bytes) {
    const ParserOutcome whole = parse(bytes, {});
    BOOST_TEST(parse_byte_by_byte(bytes).details == whole.details);
    const std::size_t stride = bytes.size() > 1000 ? 211 : 1;
    for (std::size_t cut = 1; cut < bytes.size(); cut += stride) {
        BOOST_TEST(parse(bytes, {cut}).details == whole.details, "cut at " << cut << " of\n" << bytes);
    }
    return whole.short_form;
}

std::string sentence_about(std::string_view bytes, std::size_t head_bytes_max = head_bytes_max_default) {
    HttpParser parser{head_bytes_max};
    std::size_t consumed = 0;
    if (parser.parse(bytes, consumed) != Result::error) return "nothing";
    return std::to_string(parser.error().status).append(": ").append(parser.error().sentence);
}

std::string get(const std::string& headers) {
    return "GET /x HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n";
}

const std::string second = "GET /second HTTP/1.1\r\nHost: a\r\n\r\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(http_request_tests)

BOOST_AUTO_TEST_CASE(a_request_is_read_with_the_headers_that_matter) {
    const std::string bytes =
        "POST /next-id/orders?count=3 HTTP/1.1\r\nhOsT: example:8080\r\nUser-Agent: curl/7.88.1\r\nACCEPT: text/plain "
        "\t\r\n"
        "Origin:http://example\r\nSec-Fetch-Site: same-origin\r\nAuthorization: Bearer abc\r\nX-Api-Token: \tabc\r\n"
        "Content-Length: 0\r\n\r\n";
    BOOST_TEST(outcome(bytes) == "POST /next-id/orders?count=3");
    HttpParser parser;
    std::size_t consumed = 0;
    BOOST_REQUIRE(parser.parse(bytes, consumed) == Result::request);
    const HttpRequest& request = parser.request();
    BOOST_TEST(consumed == bytes.size());
    BOOST_TEST(request.host == "example:8080");
    BOOST_TEST(request.accept == "text/plain");
    BOOST_TEST(request.origin == "http://example");
    BOOST_TEST(request.sec_fetch_site == "same-origin");
    BOOST_TEST(request.authorization == "Bearer abc");
    BOOST_TEST(request.api_token == "abc");
    BOOST_TEST(!request.http_1_0);
    BOOST_TEST(request.keep_alive);
}

BOOST_AUTO_TEST_CASE(a_request_that_repeats_the_last_one_means_the_same) {
    const std::string with_headers = get("Accept: text/plain\r\nOrigin: o\r\n"), plain = get("");
    const std::string long_one = get("X-Long: " + std::string(1000, 'x') + "\r\n");
    for (const std::string& one : {with_headers, plain, long_one}) {
        const ParserOutcome once = parse(one, {});
        ParserOutcome expected = once;
        for (int i = 1; i < 4; ++i) {
            const ParserOutcome alone = parse(one, {});
            expected.short_form += ", " + alone.short_form;
        }
        BOOST_TEST(outcome(one + one + one + one) == expected.short_form);
        // What follows a repeated one is read for itself, also when it begins like it.
        BOOST_TEST(outcome(one + one + one.substr(0, one.size() - 2) + "X-Api-Token: t\r\n\r\n").ends_with("GET /x"));
        BOOST_TEST(outcome(one + one + second).ends_with("GET /second"));
        BOOST_TEST(outcome(one + one + one.substr(0, one.size() - 2) + " folded\r\n\r\n").ends_with("400"));
    }
    // After a request that ends the connection nothing is repeated.
    const std::string last = get("Connection: close\r\n");
    BOOST_TEST(outcome(last + last).ends_with("400"));
}

BOOST_AUTO_TEST_CASE(headers_of_one_request_are_not_seen_in_the_next) {
    const ParserOutcome both = parse(get("Accept: text/plain\r\nOrigin: o\r\nX-Api-Token: t\r\n") + second, {});
    BOOST_TEST(both.details.find("GET /second {[a] [] [] [] [] [] 1.1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(similar_and_empty_headers_are_not_confused) {
    const ParserOutcome read_whole = parse(get("Acceptt: 1\r\nAccep: 2\r\nX-Api_Token: 3\r\nOrigin:\r\nAccept: "
                                               "\r\nAuthorization:\r\nSec-Fetch-Mode: 4\r\n"),
                                           {});
    BOOST_TEST(read_whole.details.starts_with("GET /x {[a] [] [] [] [] [] 1.1 keep-alive"));
    BOOST_TEST(outcome(get("Origin:\r\nAccept: \r\nAuthorization:  \t \r\n")) == "GET /x");
}

BOOST_AUTO_TEST_CASE(whether_the_connection_stays_open_is_the_clients_wish) {
    const auto kept = [](const std::string& version, const std::string& headers) {
        const std::string bytes = "GET / HTTP/" + version + "\r\nHost: a\r\n" + headers + "\r\n";
        outcome(bytes);
        return parse(bytes, {}).details.find("keep-alive") != std::string::npos;
    };
    BOOST_TEST(kept("1.1", ""));
    BOOST_TEST(kept("1.1", "Connection: keep-alive\r\n"));
    BOOST_TEST(!kept("1.1", "Connection: close\r\n"));
    BOOST_TEST(!kept("1.1", "connection: Keep-Alive, CLOSE\r\n"));
    BOOST_TEST(!kept("1.0", ""));
    BOOST_TEST(kept("1.0", "Connection: keep-alive\r\n"));
    BOOST_TEST(!kept("1.0", "Connection: keep-alive, close\r\n"));
}

BOOST_AUTO_TEST_CASE(http_1_0_needs_no_host) {
    BOOST_TEST(outcome("GET /x HTTP/1.0\r\n\r\n") == "GET /x");
    BOOST_TEST(parse("GET /x HTTP/1.0\r\n\r\n", {}).details.find("1.0 close") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(methods_are_told_apart) {
    BOOST_TEST(outcome("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n") == "HEAD /x");
    BOOST_TEST(outcome("POST /x HTTP/1.1\r\nHost: a\r\n\r\n") == "POST /x");
    BOOST_TEST(outcome("DELETE /x HTTP/1.1\r\nHost: a\r\n\r\n") == "other /x");
    BOOST_TEST(outcome("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n") == "other *");
    BOOST_TEST(outcome("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n") == "405");
    BOOST_TEST(outcome("get /x HTTP/1.1\r\nHost: a\r\n\r\n") == "400");
    BOOST_TEST(outcome("BREW /x HTTP/1.1\r\nHost: a\r\n\r\n") == "400");
}

BOOST_AUTO_TEST_CASE(what_is_incomplete_is_awaited_and_no_error) {
    const std::string bytes = get("Accept: */*\r\n");
    for (std::size_t size = 1; size < bytes.size(); ++size) {
        BOOST_TEST(outcome(std::string_view{bytes}.substr(0, size)) == "...");
    }
    BOOST_TEST(outcome("") == "");
}

BOOST_AUTO_TEST_CASE(empty_lines_before_a_request_are_overlooked) {
    BOOST_TEST(outcome("\r\n\r\n" + second + "\r\n" + second) == "GET /second, GET /second");
    BOOST_TEST(outcome(second + "\r\n") == "GET /second");  // and hold nobody up: the parser is not within a request
}

BOOST_AUTO_TEST_CASE(pipelined_requests_come_out_one_by_one) {
    const std::string first = get("Accept: text/plain\r\n");
    BOOST_TEST(outcome(first + second + first + "GET /unfin") == "GET /x, GET /second, GET /x, ...");
    HttpParser parser;
    const std::string bytes = first + second;
    std::size_t consumed = 0;
    BOOST_REQUIRE(parser.parse(bytes, consumed) == Result::request);
    BOOST_TEST(consumed == first.size());
    BOOST_REQUIRE(parser.parse(std::string_view{bytes}.substr(consumed), consumed) == Result::request);
    BOOST_TEST(consumed == second.size());
    BOOST_TEST(!parser.mid_request());
    BOOST_REQUIRE(parser.parse("G", consumed) == Result::need_more);
    BOOST_TEST(parser.mid_request());
    BOOST_REQUIRE(parser.parse({}, consumed) == Result::need_more);
    BOOST_TEST(parser.mid_request());
}

BOOST_AUTO_TEST_CASE(absolute_targets_are_stripped_and_their_authority_is_the_host) {
    BOOST_TEST(outcome("GET http://b:8080/next-id?count=2 HTTP/1.1\r\nHost: a\r\n\r\n") == "GET /next-id?count=2");
    BOOST_TEST(parse("GET HTTP://b:80/x HTTP/1.1\r\nHost: a\r\n\r\n", {}).details.starts_with("GET /x {[b:80]"));
    BOOST_TEST(outcome("GET https://b HTTP/1.1\r\nHost: a\r\n\r\n") == "GET /");
    BOOST_TEST(outcome("GET http://b?count=2 HTTP/1.1\r\nHost: a\r\n\r\n") == "GET /");
    BOOST_TEST(outcome("GET http://b/http://c/x HTTP/1.1\r\nHost: a\r\n\r\n") == "GET /http://c/x");
    BOOST_TEST(outcome("GET http://b/x HTTP/1.1\r\n\r\n") == "400");  // Host is required all the same
    BOOST_TEST(outcome("GET ftp://b/x HTTP/1.1\r\nHost: a\r\n\r\n") == "400");
    BOOST_TEST(outcome("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n") == "400");
    BOOST_TEST(outcome("GET http://user@b/x HTTP/1.1\r\nHost: a\r\n\r\n") == "400");
    BOOST_TEST(outcome("GET x HTTP/1.1\r\nHost: a\r\n\r\n") == "400");
    BOOST_TEST(outcome("GET b:80 HTTP/1.1\r\nHost: a\r\n\r\n") == "400");
}

BOOST_AUTO_TEST_CASE(only_http_1_0_and_1_1_are_spoken) {
    for (const char* line :
         {"GET /x\r\n", "GET /x \r\n", "GET /x HTTP/0.9\r\n", "GET /x HTTP/1.2\r\n", "GET /x HTTP/2.0\r\n",
          "GET /x HTTP/3.1\r\n", "GET /x HTTP/1.10\r\n", "GET /x HTTP/1\r\n", "GET /x http/1.1\r\n",
          "GET /x RTSP/1.0\r\n", "DESCRIBE rtsp://a/b RTSP/1.0\r\n", "SOURCE /x ICE/1.0\r\n", "GET  /x HTTP/1.1\r\n",
          "GET /x  HTTP/1.1\r\n", "GET /x HTTP/1.1 \r\n", "GET\t/x HTTP/1.1\r\n", " GET /x HTTP/1.1\r\n",
          "GET /x y HTTP/1.1\r\n"}) {
        BOOST_TEST(outcome(line + "Host: a\r\n\r\n"s) == "400", line);
    }
    BOOST_TEST(outcome("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == "400");
    BOOST_TEST(outcome("\x16\x03\x01\x02") == "400");
    BOOST_TEST(sentence_about("\x16\x03\x01").find("plain HTTP/1.1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_body_is_accepted) {
    for (const char* headers :
         {"Content-Length: 5\r\n", "content-length: 1\r\n", "Transfer-Encoding: chunked\r\n",
          "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
          "Transfer-Encoding: xchunked\r\n", "Content-Length: 5\r\nExpect: 100-continue\r\n",
          "Content-Length: 5\r\nUpgrade: h2c\r\n", "Content-Length: 18446744073709551615\r\n"}) {
        BOOST_TEST(outcome(get(headers) + "5\r\nhello\r\n0\r\n\r\n" + second) == "413", headers);
    }
    BOOST_TEST(outcome(get("Content-Length: 0\r\n") + second) == "GET /x, GET /second");
    BOOST_TEST(outcome("POST /x HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello") == "413");
}

BOOST_AUTO_TEST_CASE(requests_to_smuggle_another_are_refused) {
    for (const std::string& bytes : {
             // CVE-2023-30589: a lone CR ends no line
             get("x:\rTransfer-Encoding: chunked\r\n") + "0\r\n\r\n",
             // CVE-2025-23167: nor does it end the head
             "GET /x HTTP/1.1\r\nHost: a\r\n\rX" + second,
             // folded lines: CVE-2024-27982
             get(" Content-Length: 33\r\n") + second,
             get("\tContent-Length: 33\r\n") + second,
             "GET /x HTTP/1.1\r\n Content-Length: 33\r\nHost: a\r\n\r\n" + second,
             get("Accept: a\r\n b\r\n"),
             get("Accept:\r\n b\r\n"),
             get("Connection: keep-alive\r\n , close\r\n"),
             // white space in front of the colon
             "GET /x HTTP/1.1\r\nHost : a\r\n\r\n"s,
             "GET /x HTTP/1.1\r\nHost\t: a\r\n\r\n"s,
             get("Content-Length : 33\r\n") + second,
             // lengths that contradict each other, or are none
             get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
             get("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
             get("Content-Length: 5\r\nContent-Length: 5\r\n"),
             get("Content-Length: 0\r\nContent-Length: 33\r\n") + second,
             get("Content-Length: 0\r\nContent-Length: 0\r\n"),
             get("Content-Length: 0, 33\r\n") + second,
             get("Content-Length: +5\r\n"),
             get("Content-Length: -1\r\n"),
             get("Content-Length: 0x5\r\n"),
             get("Content-Length: 5 5\r\n"),
             get("Content-Length: 18446744073709551616\r\n"),
             // LF alone
             "GET /x HTTP/1.1\nHost: a\n\n"s,
             "GET /x HTTP/1.1\nHost: a\r\n\r\n"s,
             "GET /x HTTP/1.1\r\nHost: a\n\r\n"s,
             "GET /x HTTP/1.1\r\nHost: a\r\n\n" + second,
             "\n" + second,
             // by way of HTTP/0.9
             "GET /x\nContent-Length: 5\n\nhello" + second,
             "GET /x\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + second,
             // CR alone
             "GET /x HTTP/1.1\rHost: a\r\n\r\n"s,
             get("Accept: a\rb\r\n"),
             get("Accept: a\r\r\n"),
             // NUL and other control characters
             get("Accept: a\0b\r\n"s),
             get("Acc\0ept: a\r\n"s),
             "GET /x\0y HTTP/1.1\r\nHost: a\r\n\r\n"s,
             "\0GET /x HTTP/1.1\r\nHost: a\r\n\r\n"s,
             get("Accept: a\x01\r\n"),
             get("Accept: a\x7f\r\n"),
             // names that are none
             get(": a\r\n"),
             get("Accept\r\n"),
             get("Acc ept: a\r\n"),
             get("Acc\xc3\xa9: a\r\n"),
             get("\"Accept\": a\r\n"),
             // a target that is not ASCII
             "GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n"s,
             // no Host
             "GET /x HTTP/1.1\r\n\r\n"s,
             "GET /x HTTP/1.1\r\nX-Host: a\r\n\r\n"s,
             // two of them
             get("Host: a\r\n"),
             get("hOST: b\r\n"),
             get("Origin: a\r\nOrigin: a\r\n"),
             get("Sec-Fetch-Site: none\r\nsec-fetch-site: cross-site\r\n"),
             get("Authorization: a\r\nAuthorization: b\r\n"),
             get("X-Api-Token: a\r\nX-Api-Token: b\r\n"),
         }) {
        BOOST_TEST(outcome(bytes) == "400", bytes);
    }
}

BOOST_AUTO_TEST_CASE(chunks_never_come_into_play) {
    for (const char* body :
         {"5\r\nhello\r\n0\r\n\r\n", "5\nhello\n0\n\n", "5;a=b\r\nhello\r\n0\r\n\r\n", "5\r\nhello0\r\n\r\n",
          "0x5\r\nhello\r\n0\r\n\r\n", "0\r\nX: y\r\n\r\n", "ffffffffffffffffff\r\n", "-1\r\n"}) {
        BOOST_TEST(outcome(get("Transfer-Encoding: chunked\r\n") + body + second) == "413", body);
    }
}

BOOST_AUTO_TEST_CASE(a_second_accept_header_is_overlooked) {
    BOOST_TEST(outcome(get("Accept: text/plain\r\nX: y\r\nAccept: */*\r\n")) == "GET /x");
    BOOST_TEST(parse(get("Accept: text/plain\r\nAccept: */*\r\n"), {}).details.starts_with("GET /x {[a] [text/plain]"));
}

BOOST_AUTO_TEST_CASE(an_offer_to_upgrade_holds_nothing_up) {
    const std::string h2c = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP\r\n";
    BOOST_TEST(outcome(get(h2c) + second) == "GET /x, GET /second");
    BOOST_TEST(outcome(get("Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n") + second) ==
               "GET /x, GET /second");
}

BOOST_AUTO_TEST_CASE(data_after_the_last_request_is_an_error) {
    BOOST_TEST(outcome(get("Connection: close\r\n")) == "GET /x");
    BOOST_TEST(outcome(get("Connection: close\r\n") + second) == "GET /x, 400");
    BOOST_TEST(outcome(get("Connection: close\r\n") + "\r\n") == "GET /x");
    BOOST_TEST(outcome("GET /x HTTP/1.0\r\n\r\n" + second) == "GET /x, 400");
    BOOST_TEST(outcome("GET /x HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n" + second) == "GET /x, 400");
}

BOOST_AUTO_TEST_CASE(the_target_has_a_limit) {
    constexpr std::size_t target_bytes_max = head_bytes_max_default / 2;
    const auto with_target = [](std::size_t size) {
        return "GET /" + std::string(size - 1, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
    };
    BOOST_TEST(outcome(with_target(target_bytes_max)) == "GET /" + std::string(target_bytes_max - 1, 'x'));
    BOOST_TEST(outcome(with_target(target_bytes_max + 1)) == "414");
    BOOST_TEST(outcome(with_target(20'000)) == "414");

    const std::string full = "GET /" + std::string(target_bytes_max - 1, 'x');
    BOOST_TEST(outcome(full) == "...");
    BOOST_TEST(outcome(full + "x") == "414");
    BOOST_TEST(outcome(full + "\x7f") == "400");
    BOOST_TEST(outcome(full + "x\x7f") == "414");
    BOOST_TEST(outcome(full + "x\n") == "414");
    BOOST_TEST(outcome("GET" + std::string(20'000, ' ')) == "414");
    BOOST_TEST(outcome("GET /x " + std::string(20'000, ' ')) == "414");
    BOOST_TEST(outcome("GET http://b/" + std::string(target_bytes_max, 'x')) == "414");
}

BOOST_AUTO_TEST_CASE(the_head_has_a_limit) {
    const auto with_size = [](std::size_t size) {
        return get("X: " + std::string(size - get("X: \r\n").size(), 'y') + "\r\n");
    };
    BOOST_REQUIRE(with_size(head_bytes_max_default).size() == head_bytes_max_default);
    BOOST_TEST(outcome(with_size(head_bytes_max_default)) == "GET /x");
    BOOST_TEST(outcome(with_size(head_bytes_max_default) + second) == "GET /x, GET /second");
    BOOST_TEST(outcome(second + with_size(head_bytes_max_default) + second) == "GET /second, GET /x, GET /second");
    BOOST_TEST(outcome(with_size(head_bytes_max_default + 1)) == "431");
    BOOST_TEST(outcome(second + with_size(head_bytes_max_default + 1)) == "GET /second, 431");
    BOOST_TEST(outcome(with_size(100'000)) == "431");
    std::string many = "GET /x HTTP/1.1\r\nHost: a\r\n";
    while (many.size() < head_bytes_max_default) many += "a:\r\n";
    BOOST_TEST(outcome(many) == "431");
    BOOST_TEST(outcome("\r\n" + with_size(head_bytes_max_default - 2)) == "GET /x");
}

BOOST_AUTO_TEST_CASE(the_limits_are_those_that_were_set) {
    const std::string request = "GET /" + std::string(99, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
    BOOST_TEST(sentence_about(request, 200) == "nothing");
    BOOST_TEST(sentence_about(request, 198) == "414: the request target is longer than 99 bytes; shorten it");
    BOOST_TEST(sentence_about(get("X: " + std::string(300, 'y') + "\r\n"), 200) ==
               "431: request line and headers are longer than 200 bytes; send fewer or shorter headers");
}

BOOST_AUTO_TEST_CASE(every_error_names_what_was_wrong) {
    const auto says = [](const std::string& bytes, std::string_view word) {
        return sentence_about(bytes).find(word) != std::string::npos;
    };
    BOOST_TEST(says("GET /x HTTP/1.1\r\n\r\n", "requires a Host"));
    BOOST_TEST(says(get("Host: b\r\n"), "twice"));
    BOOST_TEST(says(get(" folded\r\n"), "folded"));
    BOOST_TEST(says(get("Content-Length: 1\r\n"), "body"));
    BOOST_TEST(says("GET /x HTTP/2.0\r\n\r\n", "HTTP/1.1"));
    BOOST_TEST(says("GET /" + std::string(5000, 'x'), "4096"));
    BOOST_TEST(says(get("X: " + std::string(9000, 'x')), "8192"));
}

// Requests with random damage. Whatever comes of them comes of them however they are cut.
BOOST_AUTO_TEST_CASE(damaged_requests_are_read_alike_however_they_are_cut) {
    const unsigned seed = std::random_device{}();
    BOOST_TEST_MESSAGE("seed " << seed);
    std::mt19937 random{seed};
    const auto below = [&](std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>{0, bound - 1}(random);
    };
    const std::string sound =
        get("Accept: text/plain\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n") +
        "GET http://b/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + second;
    const std::string_view splinters[] = {"\r",
                                          "\n",
                                          "\r\n",
                                          " ",
                                          "\t",
                                          ":",
                                          "\0"sv,
                                          "/",
                                          "HTTP/",
                                          "Host: b\r\n",
                                          "\r\n ",
                                          "0",
                                          "close",
                                          "Transfer-Encoding: chunked\r\n",
                                          "Content-Length: 3\r\n",
                                          "\x80",
                                          "://"};
    for (int round = 0; round < 3000; ++round) {
        std::string bytes = sound;
        for (std::size_t wounds = 1 + below(3); wounds > 0; --wounds) {
            bytes.replace(below(bytes.size()), below(3), splinters[below(std::size(splinters))]);
        }
        const ParserOutcome whole = parse(bytes, {});
        BOOST_TEST(parse_byte_by_byte(bytes).details == whole.details, "seed " << seed << "\n" << bytes);
        const std::size_t cut = 1 + below(bytes.size() - 1);
        BOOST_TEST(parse(bytes, {cut}).details == whole.details, "seed " << seed << " cut at " << cut << "\n" << bytes);
    }
}

BOOST_AUTO_TEST_SUITE_END()
