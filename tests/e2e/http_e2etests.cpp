// The HTTP contract, as curl and a client that is no friend see it: exact bytes, over TCP and over the Unix socket.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <memory>

#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

const std::string json_head =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n";

std::string ok(const std::string& data) {
    return R"({"code":0,"msg":"success","data":)" + data + "}\n";
}

std::string with_length(const std::string& head, const std::string& body) {
    return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct HttpFixture {
    std::string first = new_sequence(), second = new_sequence("START 501");
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", first + "," + second}}};

    HttpFixture() { sidecar.start_ready(); }

    // What `curl -i` prints.
    static std::string curl(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"curl", "-sS", "-i", "--max-time", "20"});
        const ProgramResult result = run_program(arguments);
        if (result.exit_code != 0) throw std::runtime_error{"curl: " + result.output};
        return result.output;
    }
    std::string over_tcp(const std::string& target, std::vector<std::string> more = {}) const {
        more.push_back("http://" + sidecar.http() + target);
        return curl(more);
    }
    std::string over_socket(const std::string& target, std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--unix-socket", sidecar.socket(), "http://localhost" + target});
        return curl(more);
    }

    // The answer to these very bytes on a connection of their own.
    TestAnswer answer_to(const std::string& bytes) const {
        TestClient client{sidecar.http()};
        client.send(bytes);
        return client.receive();
    }
    // The answer to a GET with these header lines, each with its CR LF.
    TestAnswer get(const std::string& target, const std::string& headers = "") const {
        return answer_to("GET " + target + " HTTP/1.1\r\nHost: test\r\n" + headers + "\r\n");
    }
};

// Of the process.
long resident_kib(pid_t pid) {
    std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    throw std::runtime_error{"no VmRSS in the status of process " + std::to_string(pid)};
}

void check_error(const TestAnswer& answer, int status, const std::string& sentence) {
    BOOST_TEST_CONTEXT(answer.head << answer.body) {
        BOOST_CHECK_EQUAL(answer.status, status);
        BOOST_CHECK(answer.body.starts_with("{\"code\":" + std::to_string(status) + ",\"msg\":\""));
        BOOST_CHECK(answer.body.ends_with("\"}\n"));
        BOOST_CHECK_MESSAGE(answer.body.find(sentence) != std::string::npos, "no '" << sentence << "'");
        BOOST_CHECK_EQUAL(answer.header("Content-Type"), "application/json; charset=utf-8");
        BOOST_CHECK_EQUAL(answer.header("Cache-Control"), "no-store");
    }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(http_e2etests, HttpFixture)

BOOST_AUTO_TEST_CASE(curl_gets_every_form_of_answer_in_its_exact_bytes) {
    BOOST_CHECK_EQUAL(over_tcp("/next-id"), with_length(json_head, ok(R"({"id":1})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id", {"-X", "POST"}), with_length(json_head, ok(R"({"id":2})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?count=3"), with_length(json_head, ok(R"({"ids":[3,4,5]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?count=1"), with_length(json_head, ok(R"({"ids":[6]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?count=3&format=ranges"),
                      with_length(json_head, ok(R"({"count":3,"ranges":[[7,9]]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?count=1&format=ranges"),
                      with_length(json_head, ok(R"({"count":1,"ranges":[[10,10]]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?count=2&format=ranges,string"),
                      with_length(json_head, ok(R"({"count":2,"ranges":[["11","12"]]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?format=string"), with_length(json_head, ok(R"({"id":"13"})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?format=string&count=2"), with_length(json_head, ok(R"({"ids":["14","15"]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?format=json"), with_length(json_head, ok(R"({"id":16})")));
    const std::string text_head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n";
    BOOST_CHECK_EQUAL(over_tcp("/next-id?format=text"), with_length(text_head, "17\n"));
    BOOST_CHECK_EQUAL(over_tcp("/next-id?format=text&count=3"), with_length(text_head, "18\n19\n20\n"));
    BOOST_CHECK_EQUAL(over_tcp("/next-id", {"-H", "Accept: text/plain"}), with_length(text_head, "21\n"));
}

BOOST_AUTO_TEST_CASE(the_unix_socket_answers_as_tcp_does) {
    BOOST_CHECK_EQUAL(over_socket("/next-id"), with_length(json_head, ok(R"({"id":1})")));
    BOOST_CHECK_EQUAL(over_socket("/next-id", {"-X", "POST"}), with_length(json_head, ok(R"({"id":2})")));
    BOOST_CHECK_EQUAL(over_socket("/next-id?count=2"), with_length(json_head, ok(R"({"ids":[3,4]})")));
    BOOST_CHECK_EQUAL(over_socket("/next-id?count=2&format=ranges"),
                      with_length(json_head, ok(R"({"count":2,"ranges":[[5,6]]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id"), with_length(json_head, ok(R"({"id":7})")));
}

BOOST_AUTO_TEST_CASE(each_configured_sequence_has_a_path_and_the_bare_path_is_the_first) {
    BOOST_CHECK_EQUAL(over_tcp("/next-id/" + second), with_length(json_head, ok(R"({"id":501})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id/" + first), with_length(json_head, ok(R"({"id":1})")));
    BOOST_CHECK_EQUAL(over_socket("/next-id/" + second + "?count=2"),
                      with_length(json_head, ok(R"({"ids":[502,503]})")));
    BOOST_CHECK_EQUAL(over_tcp("/next-id"), with_length(json_head, ok(R"({"id":2})")));
    check_error(get("/next-id/other"), 404, "no such sequence: 'other'. Configured: " + first + ", " + second);
}

BOOST_AUTO_TEST_CASE(head_takes_no_id_and_has_no_body) {
    const std::string head = json_head + "\r\n";
    BOOST_CHECK_EQUAL(over_tcp("/next-id", {"--head"}), head);
    BOOST_CHECK_EQUAL(over_tcp("/next-id?count=1000", {"--head"}), head);
    BOOST_CHECK_EQUAL(over_tcp("/next-id"), with_length(json_head, ok(R"({"id":1})")));
    TestClient client{sidecar.http()};
    client.send("HEAD /next-id?count=0 HTTP/1.1\r\nHost: test\r\n\r\n");
    BOOST_CHECK_EQUAL(client.receive(TestClient::patience, true).status, 400);
    BOOST_CHECK_EQUAL(id_of(client.get("/next-id")), 2);  // and nothing of a body came between
}

BOOST_AUTO_TEST_CASE(accept_chooses_text_only_when_it_likes_it_better_than_json) {
    const auto type_for = [&](const std::string& accept, const std::string& target = "/next-id") {
        return get(target, "Accept: " + accept + "\r\n").header("Content-Type").substr(0, 10);
    };
    BOOST_CHECK_EQUAL(type_for("text/plain"), "text/plain");
    BOOST_CHECK_EQUAL(type_for("text/plain;q=0.9, application/json;q=0.8"), "text/plain");
    BOOST_CHECK_EQUAL(type_for("application/json, text/plain, */*"), "applicatio");  // as axios sends
    BOOST_CHECK_EQUAL(type_for("text/plain;q=0.5, application/json"), "applicatio");
    BOOST_CHECK_EQUAL(type_for("*/*"), "applicatio");
    BOOST_CHECK_EQUAL(type_for("text/plain", "/next-id?format=json"), "applicatio");
    BOOST_CHECK_EQUAL(type_for("application/json", "/next-id?format=text"), "text/plain");
    check_error(get("/next-id?count=0", "Accept: text/plain\r\n"), 400, "count");  // errors are JSON all the same
}

BOOST_AUTO_TEST_CASE(http_1_0_closes_unless_asked_to_keep_alive) {
    BOOST_CHECK_EQUAL(over_tcp("/next-id", {"--http1.0"}),
                      with_length(json_head + "Connection: close\r\n", ok(R"({"id":1})")));
    TestClient client{sidecar.http()};
    client.send("GET /next-id HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const TestAnswer kept = client.receive();
    BOOST_CHECK_EQUAL(kept.header("Connection"), "keep-alive");
    BOOST_CHECK_EQUAL(id_of(kept), 2);
    client.send("GET /next-id HTTP/1.0\r\n\r\n");  // the same connection
    BOOST_CHECK_EQUAL(id_of(client.receive()), 3);
    BOOST_CHECK(client.is_closed());
}

BOOST_AUTO_TEST_CASE(a_connection_is_kept_until_close_is_said) {
    TestClient client{sidecar.socket()};
    for (int i = 1; i <= 100; ++i) BOOST_REQUIRE_EQUAL(id_of(client.get("/next-id")), i);
    client.send("GET /next-id HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    const TestAnswer last = client.receive();
    BOOST_CHECK_EQUAL(last.header("Connection"), "close");
    BOOST_CHECK_EQUAL(id_of(last), 101);
    BOOST_CHECK(client.is_closed());
}

BOOST_AUTO_TEST_CASE(pipelined_requests_are_answered_in_their_order_errors_among_them) {
    TestClient client{sidecar.http()};
    const std::string get = "GET /next-id HTTP/1.1\r\nHost: test\r\n\r\n";
    std::string bytes;
    for (int i = 0; i < 50; ++i) bytes += get + "GET /none HTTP/1.1\r\nHost: test\r\n\r\n";
    for (const char byte : bytes.substr(0, 200)) client.send(std::string{byte});  // however it is cut
    client.send(bytes.substr(200));
    for (int i = 1; i <= 50; ++i) {
        BOOST_REQUIRE_EQUAL(id_of(client.receive()), i);
        BOOST_REQUIRE_EQUAL(client.receive().status, 404);
    }
}

BOOST_AUTO_TEST_CASE(what_a_client_got_wrong_is_said_with_the_limit_and_the_connection_goes_on) {
    TestClient client{sidecar.http()};
    const auto ask = [&](const std::string& target) { return client.get(target); };
    check_error(ask("/"), 404, "IDs are at /next-id and /next-id/{sequence}");
    check_error(ask("/next-id/"), 404, "no such path: '/next-id/'");
    check_error(ask("/next-idx"), 404, "no such path: '/next-idx'");
    for (const std::string count : {"0", "-1", "+1", "1.0", "1e3", "abc", "", "10001", "18446744073709551617", "1%00"})
        check_error(ask("/next-id?count=" + count), 400, "count must be a whole number from 1 to 10000, not '");
    check_error(ask("/next-id?count=1000001&format=ranges"), 400, "from 1 to 1000000, not '1000001'");
    check_error(ask("/next-id?format=xml"), 400, "there are json, string, text, ranges, and ranges,string");
    check_error(ask("/next-id?count=1&count=2"), 400, "the parameter count is given twice");
    check_error(ask("/next-id?cuont=3"), 400, "unknown parameter 'cuont': there are count and format");
    check_error(ask("/next-id?count=%zz"), 400, "%");
    for (const std::string method : {"PUT", "DELETE", "OPTIONS", "PATCH"}) {
        client.send(method + " /next-id HTTP/1.1\r\nHost: test\r\n\r\n");
        const TestAnswer answer = client.receive();
        check_error(answer, 405, "GET or POST");
        BOOST_CHECK_EQUAL(answer.header("Allow"), "GET, HEAD, POST");
    }
    BOOST_CHECK_EQUAL(id_of(client.get("/next-id")), 1);  // none of them took an ID
}

BOOST_AUTO_TEST_CASE(pages_of_other_sites_take_no_ids) {
    check_error(get("/next-id", "Sec-Fetch-Site: cross-site\r\n"), 403, "another site");
    check_error(get("/next-id", "Origin: https://evil.example\r\n"), 403, "another site");
    check_error(get("/next-id", "Origin: null\r\n"), 403, "another site");
    BOOST_CHECK_EQUAL(id_of(get("/next-id", "Origin: http://test\r\nSec-Fetch-Site: same-origin\r\n")), 1);
}

BOOST_AUTO_TEST_CASE(a_request_that_cannot_be_trusted_is_refused_and_its_connection_closed) {
    struct Case {
        std::string bytes;
        int status;
        std::string sentence;
    };
    const std::string line = "GET /next-id HTTP/1.1\r\n", host = "Host: test\r\n";
    const std::vector<Case> cases{
        {line + host + "Content-Length: 2\r\n\r\n{}", 413, "a request body is not accepted"},
        {"POST /next-id HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413, "body"},
        {"GET /" + std::string(4096, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414, "longer than 4096 bytes"},
        {"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414, "longer than 4096 bytes"},
        {line + host + "X: " + std::string(8192, 'a') + "\r\n\r\n", 431, "longer than 8192 bytes"},
        {line + host + "X: a\r\n b\r\n\r\n", 400, "folded"},
        {line + host + ": nameless\r\n\r\n", 400, ""},
        {line + "Host : test\r\n\r\n", 400, ""},
        {line + host + "X: a\nY: b\r\n\r\n", 400, ""},
        {line + host + std::string{"X: a\0b\r\n\r\n", 10}, 400, ""},
        {line + "\r\n", 400, "requires a Host header"},
        {line + host + host + "\r\n", 400, "Host header is given twice"},
        {line + host + "Origin: http://test\r\nOrigin: http://x\r\n\r\n", 400, "given twice"},
        {"GET /next-id HTTP/2.0\r\n" + host + "\r\n", 400, "only HTTP/1.0 and HTTP/1.1"},
        {"GET next-id HTTP/1.1\r\n" + host + "\r\n", 400, ""},
        {"CONNECT test:80 HTTP/1.1\r\n" + host + "\r\n", 405, "no proxy"},
        {"\x16\x03\x01\x02\x01\x01\xfc\x03\x03", 400, "speak plain HTTP/1.1"},  // TLS
        {line + host + "Connection: close\r\n\r\n" + line, 200, ""},
    };
    for (const Case& one : cases) {
        BOOST_TEST_CONTEXT(one.bytes.substr(0, 60)) {
            TestClient client{sidecar.http()};
            client.send(one.bytes);
            const TestAnswer answer = client.receive();
            BOOST_CHECK_EQUAL(answer.header("Connection"), "close");
            if (one.status == 200)
                BOOST_CHECK_EQUAL(id_of(answer), 1);  // none of the others took an ID
            else
                check_error(answer, one.status, one.sentence);
            BOOST_CHECK(client.is_closed());
        }
    }
}

BOOST_AUTO_TEST_CASE(the_longest_target_and_head_that_are_promised_are_taken) {
    const std::string target = "/next-id?" + std::string(4096 - 17, '&') + "count=1";
    BOOST_REQUIRE_EQUAL(target.size(), 4095U);
    BOOST_CHECK_EQUAL(get(target + "1").status, 200);
    const std::string front = "GET /next-id HTTP/1.1\r\nHost: test\r\nX: ", end = "\r\n\r\n";
    BOOST_CHECK_EQUAL(answer_to(front + std::string(8192 - front.size() - end.size(), 'a') + end).status, 200);
    BOOST_CHECK_EQUAL(answer_to(front + std::string(8193 - front.size() - end.size(), 'a') + end).status, 431);
}

BOOST_AUTO_TEST_CASE(a_million_ids_come_as_ranges_and_ten_thousand_as_numbers) {
    const TestAnswer ranges = get("/next-id?count=1000000&format=ranges");
    BOOST_CHECK_EQUAL(ranges.body, ok(R"({"count":1000000,"ranges":[[1,1000000]]})"));
    std::string ids;
    for (int id = 1'000'001; id <= 1'010'000; ++id) ids += (ids.empty() ? "" : ",") + std::to_string(id);
    BOOST_CHECK(get("/next-id?count=10000").body == ok("{\"ids\":[" + ids + "]}"));
}

BOOST_AUTO_TEST_CASE(one_bad_client_harms_no_other) {
    TestClient good{sidecar.http()};
    std::vector<std::unique_ptr<TestClient>> bad;
    for (int i = 0; i < 20; ++i) {
        bad.push_back(std::make_unique<TestClient>(sidecar.http()));
        bad.back()->send(i % 2 == 0 ? "GET /next-id HT" : std::string(9000, '\xff'));  // half a request, or rubbish
    }
    bad.push_back(std::make_unique<TestClient>(sidecar.http()));
    std::string greedy;  // that asks for much and reads nothing
    for (int i = 0; i < 20; ++i) greedy += "GET /next-id?count=1000 HTTP/1.1\r\nHost: test\r\n\r\n";
    bad.back()->send(greedy);
    for (int i = 0; i < 200; ++i) BOOST_REQUIRE_GT(id_of(good.get("/next-id")), 0);
    bad.clear();
    BOOST_CHECK_GT(id_of(good.get("/next-id")), 0);
}

// They ask for answers of half a gigabyte.
BOOST_AUTO_TEST_CASE(clients_that_read_nothing_take_little_memory) {
    SidecarProcess well{shared_postgres(),
                        {{"PG_SEQUENCE", new_sequence("INCREMENT 1000000")}, {"NEXT_ID_INCREMENT", "block"}}};
    well.start_ready();
    TestClient modest{well.http()};
    BOOST_REQUIRE_EQUAL(modest.get("/next-id?count=10000").status, 200);
    const long before_kib = resident_kib(well.pid());
    std::string requests;
    for (int i = 0; i < 600; ++i) requests += "GET /next-id?count=10000 HTTP/1.1\r\nHost: test\r\n\r\n";
    std::vector<std::unique_ptr<TestClient>> greedy;
    for (int i = 0; i < 10; ++i) {
        greedy.push_back(std::make_unique<TestClient>(well.http()));
        greedy.back()->send(requests);
    }
    for (int i = 0; i < 200; ++i) BOOST_REQUIRE_GT(id_of(modest.get("/next-id")), 0);
    BOOST_CHECK_LT(resident_kib(well.pid()) - before_kib, 64 * 1024);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
