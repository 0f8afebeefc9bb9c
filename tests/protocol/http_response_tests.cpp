#include "protocol/http_response.h"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace next_id;

namespace {

std::string response(const ResponseHead& head, std::string_view body) {
    std::string out;
    append_response(out, head, body);
    return out;
}

bool has_line(const std::string& response, const std::string& line) {
    return response.substr(0, response.find("\r\n\r\n") + 2).find("\r\n" + line + "\r\n") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_response_tests)

BOOST_AUTO_TEST_CASE(the_common_answer_is_this_to_the_byte) {
    const std::string expected =
        "HTTP/1.1 200 OK\r\n"
        "Content-Type: application/json; charset=utf-8\r\n"
        "Cache-Control: no-store\r\n"
        "Content-Length: 43\r\n"
        "\r\n"
        "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":1}}\n";
    std::string out;
    append_id_response(out, 1);
    BOOST_TEST(out == expected);
    BOOST_TEST(response({}, "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":1}}\n") == expected);
}

BOOST_AUTO_TEST_CASE(both_ways_to_answer_an_id_agree_for_every_length_of_it) {
    const auto check = [](std::int64_t id) {
        std::string out;
        append_id_response(out, id);
        BOOST_TEST(out == response({}, R"({"code":0,"msg":"success","data":{"id":)" + std::to_string(id) + "}}\n"));
    };
    std::int64_t power = 1;
    for (int digits = 1; digits <= 19; ++digits, power = digits <= 18 ? power * 10 : power) {
        for (const std::int64_t id : {power - 1, power, power + 1, -power, 1 - power}) check(id);
    }
    check(std::numeric_limits<std::int64_t>::max());
    check(std::numeric_limits<std::int64_t>::min());
    check((std::int64_t{1} << 53) + 1);
}

BOOST_AUTO_TEST_CASE(answers_are_appended_to_what_is_there) {
    std::string out = "before";
    append_id_response(out, 7);
    const std::size_t first = out.size();
    append_response(out, {.status = 404}, "{}\n");
    BOOST_TEST(out.starts_with("beforeHTTP/1.1 200 OK\r\n"));
    BOOST_TEST(out.substr(first).starts_with("HTTP/1.1 404 Not Found\r\n"));
    BOOST_TEST(out.ends_with("\r\nContent-Length: 3\r\n\r\n{}\n"));
}

BOOST_AUTO_TEST_CASE(every_status_of_the_contract_has_its_reason) {
    for (const char* line :
         {"200 OK", "400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "405 Method Not Allowed",
          "413 Content Too Large", "414 URI Too Long", "429 Too Many Requests", "431 Request Header Fields Too Large",
          "500 Internal Server Error", "503 Service Unavailable"}) {
        const std::string out = response({.status = std::atoi(line), .close = true}, "{}\n");
        BOOST_TEST(out.starts_with("HTTP/1.1 " + std::string(line) + "\r\n"));
        BOOST_TEST(has_line(out, "Cache-Control: no-store"));
    }
}

BOOST_AUTO_TEST_CASE(connection_is_named_where_it_is_not_understood) {
    BOOST_TEST(response({}, "").find("Connection") == std::string::npos);
    BOOST_TEST(response({.status = 404}, "").find("Connection") == std::string::npos);
    BOOST_TEST(has_line(response({.close = true}, ""), "Connection: close"));
    BOOST_TEST(has_line(response({.close = true, .http_1_0 = true}, ""), "Connection: close"));
    BOOST_TEST(!has_line(response({.close = true, .http_1_0 = true}, ""), "Connection: keep-alive"));
    BOOST_TEST(has_line(response({.http_1_0 = true}, ""), "Connection: keep-alive"));
}

BOOST_AUTO_TEST_CASE(text_is_plain_text) {
    const std::string out = response({.text = true}, "1\n2\n");
    BOOST_TEST(has_line(out, "Content-Type: text/plain; charset=utf-8"));
    BOOST_TEST(has_line(out, "Content-Length: 4"));
    BOOST_TEST(out.ends_with("\r\n\r\n1\n2\n"));
}

BOOST_AUTO_TEST_CASE(head_gets_no_body_and_no_length) {
    const std::string out = response({.head_only = true}, "{}\n");
    BOOST_TEST(out.find("Content-Length") == std::string::npos);
    BOOST_TEST(out.ends_with("Cache-Control: no-store\r\n\r\n"));
}

BOOST_AUTO_TEST_CASE(refusals_say_what_to_do) {
    BOOST_TEST(has_line(response({.status = 405, .allow = "GET, HEAD, POST"}, ""), "Allow: GET, HEAD, POST"));
    BOOST_TEST(has_line(response({.status = 401, .www_authenticate = true}, ""), "WWW-Authenticate: Bearer"));
    BOOST_TEST(has_line(response({.status = 503, .retry_after_seconds = 1}, ""), "Retry-After: 1"));
    BOOST_TEST(has_line(response({.status = 429, .retry_after_seconds = 4294967295}, ""), "Retry-After: 4294967295"));
    BOOST_TEST(response({.status = 503}, "").find("Retry-After") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_page_has_a_type_and_headers_of_its_own) {
    const std::string page =
        response({.content_type = "text/html; charset=utf-8", .headers = "A: 1\r\nB: 2\r\n"}, "body");
    for (const char* line : {"Content-Type: text/html; charset=utf-8", "A: 1", "B: 2", "Content-Length: 4"})
        BOOST_TEST(has_line(page, line), line);
    BOOST_TEST(!has_line(page, "Content-Type: application/json; charset=utf-8"));
    BOOST_TEST(page.ends_with("\r\n\r\nbody"));
}

BOOST_AUTO_TEST_SUITE_END()
