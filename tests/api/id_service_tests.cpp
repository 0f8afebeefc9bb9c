#include "sidecar/api/id_service.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>

#include "tests/api/supply_fixture.h"

namespace next_id {
namespace {

using Method = HttpRequest::Method;

HttpRequest get(std::string_view target) {
    HttpRequest request;
    request.method = Method::get;
    request.host = "localhost";
    request.target = target;
    return request;
}

std::string response(const std::string& body, const std::string& headers = {}, const std::string& status = "200 OK",
                     const std::string& type = "application/json") {
    return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "; charset=utf-8\r\nCache-Control: no-store\r\n" +
           headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct ServiceFixture : SupplyFixture {
    std::uint64_t left() { return supply.window().left(); }

    std::string answered(const HttpRequest& request, bool close = false) {
        std::string out = "before";
        const bool parked = service->answer(request, caller, close, out).has_value();
        BOOST_TEST_REQUIRE(out.starts_with("before"));  // it appends
        return parked ? "(parked)" + out.substr(6) : out.substr(6);
    }
    std::string answered(std::string_view target) { return answered(get(target)); }

    ParkedRequest parked(const HttpRequest& request, bool close = false) {
        std::string out;
        auto waits = service->answer(request, caller, close, out);
        BOOST_TEST_REQUIRE(waits.has_value());
        BOOST_TEST(out == "");
        return *waits;
    }

    void limit_rate(const RateLimit& limit) {
        limiter = std::make_unique<RateLimiter>(limit, 42, 16);
        service.emplace(std::vector<Supply*>{&supply}, Catalog{{"app.ids"}, 1'000'000}, limiter.get());
    }

    std::optional<IdService> service{std::in_place, std::vector<Supply*>{&supply}, Catalog{{"app.ids"}, 1'000'000}};
    std::unique_ptr<RateLimiter> limiter;
    Client client;
    Caller caller{client};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(id_service_tests, ServiceFixture)

BOOST_AUTO_TEST_CASE(each_format_is_answered_to_the_byte) {
    publish(9'007'199'254'740'993, 1000);  // beyond what a double holds
    BOOST_TEST(answered("/next-id") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":9007199254740993}}\n"));
    BOOST_TEST(answered("/next-id/app.ids?count=2") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"ids\":[9007199254740994,9007199254740995]}}\n"));
    BOOST_TEST(answered("/next-id?count=1") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"ids\":[9007199254740996]}}\n"));
    BOOST_TEST(answered("/next-id?count=3&format=ranges") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"count\":3,\"ranges\":[[9007199254740997,"
                        "9007199254740999]]}}\n"));
    BOOST_TEST(answered("/next-id?format=string") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":\"9007199254741000\"}}\n"));
    BOOST_TEST(answered("/next-id?format=ranges,string&count=2") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"count\":2,\"ranges\":[[\"9007199254741001\","
                        "\"9007199254741002\"]]}}\n"));
    BOOST_TEST(answered("/next-id?format=text") == response("9007199254741003\n", "", "200 OK", "text/plain"));
    BOOST_TEST(answered("/next-id?format=text&count=2") ==
               response("9007199254741004\n9007199254741005\n", "", "200 OK", "text/plain"));
    BOOST_TEST(left() == 1000 - 13);
}

BOOST_AUTO_TEST_CASE(a_batch_goes_across_ranges_and_tells_their_step) {
    publish(1, 2);
    publish(11, 3, 10);
    BOOST_TEST(answered("/next-id?count=5&format=ranges") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"count\":5,\"ranges\":[[1,2],[11,31,10]]}}\n"));
}

BOOST_AUTO_TEST_CASE(the_answer_says_whether_the_connection_stays_open) {
    publish(1, 10);
    BOOST_TEST(answered(get("/next-id"), true) ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":1}}\n", "Connection: close\r\n"));
    HttpRequest old = get("/next-id");
    old.http_1_0 = true;
    BOOST_TEST(answered(old) ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":2}}\n", "Connection: keep-alive\r\n"));
    BOOST_TEST(answered(old, true) ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":3}}\n", "Connection: close\r\n"));
}

BOOST_AUTO_TEST_CASE(head_takes_no_id_and_never_waits) {
    HttpRequest head = get("/next-id?format=text");
    head.method = Method::head;
    const std::string expected =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n\r\n";
    BOOST_TEST(answered(head) == expected);  // the window is dry
    publish(1, 1);
    BOOST_TEST(answered(head) == expected);
    BOOST_TEST(left() == 1);
    head.target = "/nope";
    BOOST_TEST(
        answered(head) ==
        "HTTP/1.1 404 Not Found\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(a_refusal_takes_nothing_and_is_json_whatever_the_format) {
    publish(1, 1);
    HttpRequest request = get("/next-id?count=0&format=text");
    BOOST_TEST(answered(request) == response("{\"code\":400,\"msg\":\"bad request\",\"error\":\"count must be a whole "
                                             "number from 1 to 10000, not '0'\"}\n",
                                             "", "400 Bad Request"));
    request.method = Method::other;
    BOOST_TEST(answered(request, true) ==
               response("{\"code\":405,\"msg\":\"method not allowed\",\"error\":\"IDs are taken with GET or POST\"}\n",
                        "Connection: close\r\nAllow: GET, HEAD, POST\r\n", "405 Method Not Allowed"));
    request = get("/next-id/%00%ff%22");
    BOOST_TEST(answered(request) == response("{\"code\":404,\"msg\":\"not found\",\"error\":\"no such sequence: "
                                             "'\\u0000\xEF\xBF\xBD\\\"'. Configured: app.ids\"}\n",
                                             "", "404 Not Found"));
    request = get("/next-id");
    request.sec_fetch_site = "cross-site";
    BOOST_TEST(answered(request).starts_with("HTTP/1.1 403 Forbidden\r\n"));
    BOOST_TEST(left() == 1);
}

BOOST_AUTO_TEST_CASE(a_dry_window_parks_the_request) {
    BOOST_TEST(answered("/next-id") == "(parked)");
    const ParkedRequest waits = parked(get("/next-id?count=3&format=ranges"), true);
    BOOST_TEST(waits.wanted.count == 3);
    BOOST_TEST(waits.head.close);
    BOOST_TEST(&service->supply_of(waits) == &supply);
}

BOOST_AUTO_TEST_CASE(a_batch_is_all_or_nothing) {
    publish(1, 4);
    BOOST_TEST(answered("/next-id?count=5") == "(parked)");
    BOOST_TEST(left() == 4);
    BOOST_TEST(answered("/next-id?count=4") ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"ids\":[1,2,3,4]}}\n"));
}

BOOST_AUTO_TEST_CASE(nobody_overtakes_those_who_wait) {
    const auto waiter = supply.waiting().park({.ids = 100});
    publish(1, 10);
    BOOST_TEST(answered("/next-id") == "(parked)");
    BOOST_TEST(left() == 10);
    supply.waiting().cancel(*waiter);
    BOOST_TEST(answered("/next-id") == response("{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":1}}\n"));
}

BOOST_AUTO_TEST_CASE(the_take_that_passes_the_reserve_rings) {
    publish(1, 10);
    supply.window().wake_when_left(8);
    answered("/next-id");
    BOOST_TEST(rings == 0);
    answered("/next-id");
    BOOST_TEST(rings == 1);
    answered("/next-id");
    BOOST_TEST(rings == 1);
}

BOOST_AUTO_TEST_CASE(what_was_parked_is_answered_in_its_own_format) {
    const std::vector<Range> ranges{{5, 1, 2}, {20, 1, 1}};
    const auto answer_to = [&](const HttpRequest& request, bool close) {
        std::string out;
        service->answer_taken(parked(request, close), ranges, out);
        return out;
    };
    BOOST_TEST(answer_to(get("/next-id?count=3"), false) ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"ids\":[5,6,20]}}\n"));
    BOOST_TEST(answer_to(get("/next-id?count=3&format=text"), true) ==
               response("5\n6\n20\n", "Connection: close\r\n", "200 OK", "text/plain"));
    BOOST_TEST(answer_to(get("/next-id?format=string"), false) ==
               response("{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":\"5\"}}\n"));
}

BOOST_AUTO_TEST_CASE(a_wait_in_vain_ends_in_503_with_the_reason) {
    const ParkedRequest waits = parked(get("/next-id?format=text"), true);
    const auto dry = [&] {
        std::string out;
        service->answer_dry(waits, out);
        return out;
    };
    const std::string headers = "Connection: close\r\nRetry-After: 1\r\n", status = "503 Service Unavailable";
    BOOST_TEST(dry() == response("{\"code\":503,\"msg\":\"query seq failed\",\"error\":\"the window has too few IDs, "
                                 "and its refill did not come in "
                                 "time\"}\n",
                                 headers, status));
    supply.set_trouble({"connect postgresql failed", "connection to 10.0.0.1 \"refused\""});
    BOOST_TEST(dry() == response("{\"code\":503,\"msg\":\"connect postgresql failed\",\"error\":\"connection to "
                                 "10.0.0.1 \\\"refused\\\"\"}\n",
                                 headers, status));
    std::string out;
    service->answer_crowded(waits, out);
    BOOST_TEST(out == response("{\"code\":503,\"msg\":\"query seq failed\",\"error\":\"too many requests wait for IDs "
                               "already\"}\n",
                               headers, status));
}

BOOST_AUTO_TEST_CASE(without_a_token_nothing_is_said_but_that_one_is_wanted) {
    publish(1, 10);
    caller.token_needed = true;
    const std::string unauthorized = response(
        "{\"code\":401,\"msg\":\"unauthorized\",\"error\":\"this service wants a token: send Authorization: "
        "Bearer TOKEN, or X-Api-Token: TOKEN\"}\n",
        "WWW-Authenticate: Bearer\r\n", "401 Unauthorized");
    BOOST_TEST(answered("/next-id") == unauthorized);  // also as long as there are no tokens at all
    service->set_tokens(std::make_shared<const Tokens>(*Tokens::parse("good")));
    for (const char* target : {"/next-id", "/nope", "/next-id?count=x"}) BOOST_TEST(answered(target) == unauthorized);
    HttpRequest request = get("/next-id?format=text");
    request.authorization = "Bearer bad";
    BOOST_TEST(answered(request) == unauthorized);
    BOOST_TEST(left() == 10);
    request.authorization = "Bearer good";
    BOOST_TEST(answered(request) == response("1\n", "", "200 OK", "text/plain"));
    service->set_tokens(std::make_shared<const Tokens>(*Tokens::parse("better")));
    BOOST_TEST(answered(request) == unauthorized);
    caller.token_needed = false;
    BOOST_TEST(answered(request) == response("2\n", "", "200 OK", "text/plain"));
}

BOOST_AUTO_TEST_CASE(who_asks_too_often_is_told_when_to_come_again) {
    publish(1, 10);
    limit_rate({.rate = {1, std::chrono::seconds{10}}, .burst = 2});
    BOOST_TEST(answered("/next-id?count=3&format=text") == response("1\n2\n3\n", "", "200 OK", "text/plain"));
    BOOST_TEST(answered("/nope").find("404") != std::string::npos);  // counts too
    const std::string error =
        "{\"code\":429,\"msg\":\"too many requests\",\"error\":\"this client has used up what it may ask for; "
        "Retry-After says in how many seconds there is enough again\"}\n";
    BOOST_TEST(answered("/next-id?format=text") == response(error, "Retry-After: 10\r\n", "429 Too Many Requests"));
    caller.now += std::chrono::milliseconds{8001};
    BOOST_TEST(answered("/next-id") == response(error, "Retry-After: 2\r\n", "429 Too Many Requests"));
    caller.now += std::chrono::milliseconds{1900};
    BOOST_TEST(answered("/next-id") == response(error, "Retry-After: 1\r\n", "429 Too Many Requests"));
    BOOST_TEST(left() == 7);
    client.uid = 7;
    BOOST_TEST(answered("/next-id?format=text") == response("4\n", "", "200 OK", "text/plain"));
}

BOOST_AUTO_TEST_CASE(a_rate_of_ids_counts_ids_and_whoever_has_no_token_counts_as_one) {
    publish(1, 100);
    limit_rate({.rate = {10, std::chrono::seconds{1}}, .burst = 10, .of_ids = true});
    BOOST_TEST(answered("/next-id?count=8").find("200 OK") != std::string::npos);
    BOOST_TEST(answered("/next-id?count=3").find("429 Too") != std::string::npos);
    HttpRequest head = get("/next-id?count=8");
    head.method = Method::head;
    BOOST_TEST(answered(head).find("200 OK") != std::string::npos);  // takes none
    caller.token_needed = true;
    BOOST_TEST(answered("/next-id").find("401 Un") != std::string::npos);
    BOOST_TEST(answered("/next-id").find("429 Too") != std::string::npos);
    BOOST_TEST(left() == 92);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(id_service_of_two_sequences_tests)

BOOST_AUTO_TEST_CASE(each_path_takes_from_its_own_sequence) {
    SupplyFixture first, second;
    IdService service{{&first.supply, &second.supply}, {{"first", "second"}, 1000}};
    first.publish(1, 10);
    second.publish(1001, 10);
    std::string out;
    BOOST_TEST(!service.answer(get("/next-id?format=text"), Caller{Client{}}, false, out).has_value());
    BOOST_TEST(!service.answer(get("/next-id/second?format=text"), Caller{Client{}}, false, out).has_value());
    BOOST_TEST(!service.answer(get("/next-id/first?format=text"), Caller{Client{}}, false, out).has_value());
    BOOST_TEST(out == response("1\n", "", "200 OK", "text/plain") + response("1001\n", "", "200 OK", "text/plain") +
                          response("2\n", "", "200 OK", "text/plain"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
