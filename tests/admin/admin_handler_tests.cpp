#include "sidecar/admin/admin_handler.h"

#include <rapidjson/document.h>

#include <boost/test/unit_test.hpp>
#include <optional>

#include "sidecar/base/log.h"
#include "tests/api/supply_fixture.h"
#include "tests/serve/connection_fixture.h"

namespace next_id {
namespace {

using Method = HttpRequest::Method;

// Nothing connects to PostgreSQL here: the refill is never driven.
struct AdminFixture : SupplyFixture, LoopFixture {
    ~AdminFixture() {
        board.reset();
        refiller.reset();
    }

    Answer answered(std::string_view target, Method method = Method::get, bool close = false,
                    std::string_view token = {}, std::string_view accept = {}) {
        HttpRequest request;
        request.api_token = token;
        request.accept = accept;
        request.method = method;
        request.target = target;
        Connection connection{handler, nullptr, {}};
        std::string out, rest;
        BOOST_TEST_REQUIRE(handler.handle(request, close, connection, out));
        if (method == Method::head) return {.status = std::stoi(out.substr(9, 3)), .head = out};
        const auto answers = answers_in(out, &rest);
        BOOST_TEST_REQUIRE(answers.size() == 1);
        BOOST_TEST(rest == "");
        return answers[0];
    }

    std::optional<Refiller> refiller{std::in_place, &loop, Refiller::Settings{}, std::vector<Supply*>{&supply}};
    std::vector<std::unique_ptr<ServeThread>> threads;
    Admission admission{{}}, admin_admission{{}};
    MetricsPage metrics{
        "1.2.3",
        {},
        {.refiller = *refiller, .threads = threads, .admission = admission, .admin_admission = admin_admission}};
    std::optional<StatusBoard> board{std::in_place, &loop, StatusBoard::Process{.version = "1.2.3", .host = "pod-7"},
                                     *refiller};
    AdminHandler handler{*board, *refiller, threads, metrics};
};

constexpr std::string_view browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

rapidjson::Document parsed(const std::string& body) {
    rapidjson::Document document;
    document.Parse(body.c_str());
    BOOST_TEST_REQUIRE(!document.HasParseError());
    return document;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(admin_handler_tests, AdminFixture)

BOOST_AUTO_TEST_CASE(it_lives_and_has_started_whatever_postgresql_does) {
    supply.set_trouble({"connect postgresql failed", "it is away"});
    BOOST_TEST(answered("/livez").status == 200);
    BOOST_TEST(answered("/livez").body == "alive\n");
    BOOST_TEST(answered("/livez?verbose").status == 200);
    BOOST_TEST(answered("/startupz").status == 200);
    BOOST_TEST(answered("/startupz").body == "started\n");
}

BOOST_AUTO_TEST_CASE(a_serve_thread_that_turns_is_alive) {
    threads.push_back(std::make_unique<ServeThread>(
        IdHandler{IdService{{&supply}, {{"app.ids"}, 1000}}, 0, std::chrono::seconds{1}}));
    threads.back()->start();
    BOOST_TEST(answered("/livez").status == 200);
}

BOOST_AUTO_TEST_CASE(it_is_ready_when_an_id_can_be_given_out) {
    BOOST_TEST(answered("/readyz").status == 503);
    BOOST_TEST(answered("/readyz").body == "app.ids: the window is dry\n");
    supply.set_trouble({"connect postgresql failed", "it is away"});
    BOOST_TEST(answered("/readyz").status == 503);
    BOOST_TEST(answered("/readyz").body == "app.ids: connect postgresql failed: it is away\n");
    publish(1, 1);
    BOOST_TEST(answered("/readyz").status == 200);  // also while PostgreSQL is away
    BOOST_TEST(answered("/readyz").body == "ready\n");
}

BOOST_AUTO_TEST_CASE(status_tells_about_each_sequence) {
    publish(9'007'199'254'740'993, 10);
    supply.window().set_mark({1, 9'007'199'254'740'993, 9'007'199'254'741'002, 0, false});
    supply.set_trouble({"query seq failed", "why"});
    supply.waiting().park({});
    const Answer status = answered("/status");
    BOOST_TEST(status.status == 200);
    BOOST_TEST(status.head.find("Content-Type: application/json") != std::string::npos);
    const rapidjson::Document document = parsed(status.body);
    BOOST_TEST(document["version"].GetString() == std::string{"1.2.3"});
    const auto& sequence = document["sequences"][0];
    BOOST_TEST(sequence["sequence"].GetString() == std::string{"app.ids"});
    BOOST_TEST(sequence["trouble"].GetString() == std::string{"query seq failed: why"});
    BOOST_TEST(sequence["ids_left"].GetUint64() == 10U);
    BOOST_TEST(sequence["requests_waiting"].GetUint64() == 1U);
    BOOST_TEST(sequence["lowest_reserved"].GetInt64() == 9'007'199'254'740'993);
    BOOST_TEST(sequence["highest_reserved"].GetInt64() == 9'007'199'254'741'002);
}

BOOST_AUTO_TEST_CASE(metrics_are_for_prometheus) {
    publish(1, 10);
    supply.window().set_mark({1, 3, 9'007'199'254'741'001, 0, false});
    supply.waiting().park({});
    threads.push_back(std::make_unique<ServeThread>(
        IdHandler{IdService{{&supply}, {{"app.ids"}, 1000}}, 0, std::chrono::seconds{1}}));
    const auto held = admission.decide({}, ListenerName::socket);
    const Answer answer = answered("/metrics");
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.head.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != std::string::npos);
    for (const char* line : {
             "next_id_window_left_ids{sequence=\"app.ids\"} 10\n",
             "next_id_window_left_seconds{sequence=\"app.ids\"} +Inf\n",
             "next_id_window_start{sequence=\"app.ids\",result=\"fresh\"} 1\n",
             "next_id_window_start{sequence=\"app.ids\",result=\"adopted\"} 0\n",
             "next_id_sequence_state{sequence=\"app.ids\",state=\"verifying\"} 1\n",
             "next_id_sequence_state{sequence=\"app.ids\",state=\"latched\"} 0\n",
             "next_id_requests_waiting{sequence=\"app.ids\"} 1\n",
             "next_id_requests_total{listener=\"http\",code=\"200\"} 0\n",
             "next_id_ids_issued_total{listener=\"socket\",sequence=\"app.ids\"} 0\n",
             "next_id_connections{listener=\"socket\"} 1\n",
             "next_id_connections{listener=\"admin\"} 0\n",
             "next_id_lowest_reserved_id{sequence=\"app.ids\"} 3\n",
             "next_id_highest_reserved_id{sequence=\"app.ids\"} 9007199254741010\n",
             "next_id_refill_last_success_timestamp_seconds{sequence=\"app.ids\"} 0\n",
             "next_id_database_connected 0\n",
         })
        BOOST_TEST(answer.body.find(line) != std::string::npos, line << answer.body);
    for (const char* unknown : {"next_id_sequence_used_ratio", "next_id_tls_certificate"})
        BOOST_TEST(answer.body.find(unknown) == std::string::npos, unknown);
}

BOOST_AUTO_TEST_CASE(status_says_whether_it_is_well_and_what_to_do) {
    publish(1, 10);
    rapidjson::Document document = parsed(answered("/status").body);
    BOOST_TEST(document["health"].GetString() == std::string{"ok"});
    BOOST_TEST(document["sequences"][0]["ready"].GetBool());
    supply.set_trouble({"query seq failed", "ERROR: permission denied for sequence ids"});
    document = parsed(answered("/status").body);
    BOOST_TEST(document["health"].GetString() == std::string{"at risk"});
    BOOST_TEST(document["sequences"][0]["advice"].GetString() ==
               std::string{"Let the role use the sequence, with sql/role.sql."});
}

BOOST_AUTO_TEST_CASE(the_last_warnings_of_the_log_are_told_the_newest_first) {
    log::warn("reserving IDs failed: permission denied", {{"sequence", "app.ids"}});
    log::error("the last one");
    const rapidjson::Document document = parsed(answered("/status").body);
    const auto& past = document["past_troubles"];
    BOOST_TEST(past[0]["message"].GetString() == std::string{"the last one"});
    BOOST_TEST(past[0]["level"].GetString() == std::string{"error"});
    BOOST_TEST(past[1]["fields"].GetString() == std::string{"sequence=app.ids"});
    BOOST_TEST(past[1]["advice"].GetString() == std::string{"Let the role use the sequence, with sql/role.sql."});
}

BOOST_AUTO_TEST_CASE(the_history_grows_by_itself_and_is_told_from_where_one_has_it) {
    publish(1, 10);
    const auto history_of = [&](const std::string& target) { return parsed(answered(target).body); };
    BOOST_TEST(!history_of("/status").HasMember("history_next"));
    BOOST_TEST(run_until([&] { return history_of("/status?since=0")["history_next"].GetUint64() == 2; }));
    const rapidjson::Document all = history_of("/status?since=0"), rest = history_of("/status?since=1");
    BOOST_TEST(all["sequences"][0]["history"]["ids_left"].Size() == 2U);
    BOOST_TEST(all["sequences"][0]["history"]["ids_left"][0].GetUint64() == 10U);
    BOOST_TEST(rest["history_first"].GetUint64() == 1U);
    BOOST_TEST(rest["sequences"][0]["history"]["ids_reserved"].Size() == 1U);
}

BOOST_AUTO_TEST_CASE(ids_are_strings_for_clients_whose_numbers_are_doubles) {
    supply.window().set_mark({1, 9'007'199'254'740'993, 9'007'199'254'741'002, 0, false});
    const rapidjson::Document document = parsed(answered("/status?format=string").body);
    BOOST_TEST(document["sequences"][0]["lowest_reserved"].GetString() == std::string{"9007199254740993"});
}

BOOST_AUTO_TEST_CASE(browsers_get_the_page_at_either_path) {
    for (const char* path : {"/", "/status"}) {
        const Answer page = answered(path, Method::get, false, {}, browser);
        BOOST_TEST(page.status == 200);
        BOOST_TEST(page.body.starts_with("<!doctype html>"));
        BOOST_TEST(page.head.find("Content-Type: text/html; charset=utf-8\r\n") != std::string::npos);
        BOOST_TEST(page.head.find("Content-Security-Policy: default-src 'none'; ") != std::string::npos);
        BOOST_TEST(page.head.find("Cache-Control: no-store\r\n") != std::string::npos);
        const Answer text = answered(std::string{path} + "?format=text", Method::get, false, {}, browser);
        BOOST_TEST(text.head.find("Content-Type: text/plain; charset=utf-8\r\n") != std::string::npos);
        BOOST_TEST(text.body.starts_with("next-id 1.2.3 on pod-7: "));
        BOOST_TEST(parsed(answered(path).body)["version"].GetString() == std::string{"1.2.3"});
        BOOST_TEST(answered(path).head.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
        BOOST_TEST(answered(path, Method::head, false, {}, browser).head.find("text/html") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(another_path_is_told_which_there_are) {
    for (const char* path : {"//", "/status/", "/livez2", "/LIVEZ", "/next-id", "*"}) {
        const Answer answer = answered(path);
        BOOST_TEST(answer.status == 404);
        BOOST_TEST(answer.body ==
                   "{\"code\":404,\"msg\":\"not found\",\"error\":\"there are GET /livez, /startupz, /readyz, /metrics "
                   "and /status\"}\n");
        BOOST_TEST(answer.head.find("Allow:") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(other_methods_than_get_and_head_are_refused) {
    for (const Method method : {Method::post, Method::other}) {
        const Answer answer = answered("/livez", method, true);
        BOOST_TEST(answer.status == 405);
        BOOST_TEST(answer.head.find("Allow: GET, HEAD\r\n") != std::string::npos);
        BOOST_TEST(answer.closes());
    }
}

BOOST_AUTO_TEST_CASE(head_has_no_body) {
    for (const char* path : {"/livez", "/readyz", "/metrics", "/status", "/nope"}) {
        const Answer answer = answered(path, Method::head);
        BOOST_TEST(answer.status == answered(path).status);
        BOOST_TEST(answer.head.ends_with("\r\n\r\n"));
    }
}

BOOST_AUTO_TEST_CASE(status_and_metrics_may_want_a_token_and_health_never_does) {
    handler.set_tokens(std::make_shared<const Tokens>(*Tokens::parse("good")));
    const Answer answer = answered("/status");
    BOOST_TEST(answer.status == 401);
    BOOST_TEST(answer.head.find("WWW-Authenticate: Bearer\r\n") != std::string::npos);
    for (const char* page : {"/status", "/metrics"}) {
        BOOST_TEST(answered(page).status == 401);
        BOOST_TEST(answered(page, Method::get, false, "bad").status == 401);
        BOOST_TEST(answered(page, Method::get, false, "good").status == 200);
    }
    for (const char* path : {"/livez", "/startupz"}) BOOST_TEST(answered(path).status == 200);
    BOOST_TEST(answered("/readyz").status == 503);
    handler.set_tokens(std::make_shared<const Tokens>(*Tokens::parse("better")));
    BOOST_TEST(answered("/status", Method::get, false, "good").status == 401);
}

BOOST_AUTO_TEST_CASE(the_page_itself_is_for_everyone_and_what_it_shows_wants_the_token) {
    publish(1, 10);
    handler.set_tokens(std::make_shared<const Tokens>(*Tokens::parse("good")));
    const Answer page = answered("/", Method::get, false, {}, browser);
    BOOST_TEST(page.status == 200);
    BOOST_TEST(page.body.find("data-token=\"wanted\"") != std::string::npos);
    for (const char* word : {"app.ids", "1.2.3", "good"}) BOOST_TEST(page.body.find(word) == std::string::npos, word);
    for (const char* target : {"/", "/?format=json", "/?format=text", "/status?format=string&since=0"})
        BOOST_TEST(answered(target).status == 401, target);
    BOOST_TEST(answered("/status?format=json", Method::get, false, {}, browser).status == 401);
    BOOST_TEST(answered("/status?format=string&since=0", Method::get, false, "good", browser).status == 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
