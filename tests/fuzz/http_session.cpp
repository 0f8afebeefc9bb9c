// However the bytes of a client are cut: the same answers, in the order of the requests, each well-formed, and in them
// just the IDs that left the window, in their order. And the parser's short cut for a repeated request changes nothing.
#include <random>

#include "tests/fuzz/http_answers.h"
#include "tests/fuzz/id_server.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"
#include "tests/protocol/parser_outcome.h"

namespace next_id::test {
namespace {

ParserOutcome parse(std::string_view bytes, std::minstd_rand& random) {
    const ParserOutcome whole = parse_in_pieces(bytes, {});
    promised(parse_byte_by_byte(bytes).details == whole.details, "a request means the same byte by byte");
    for (int i = 0; i < 4 && bytes.size() > 1; ++i) {
        const std::size_t cut = 1 + random() % (bytes.size() - 1);
        promised(parse_in_pieces(bytes, {cut}).details == whole.details, "a request means the same when cut at ",
                 std::to_string(cut));
    }
    return whole;
}

// The status that the answer must have, and how many IDs it may hold.
void check_answer(const HttpAnswer& answer, const ParserOutcome::Request& request, const Catalog& catalog) {
    HttpRequest seen{
        .method = request.method, .keep_alive = request.keep_alive, .target = request.target, .accept = request.accept};
    const auto wanted = read_id_request(seen, catalog);
    const bool cross_site = answer.status == 403;  // by headers that are not kept here
    promised(
        cross_site || (wanted ? answer.status == 200 || answer.status == 503 : answer.status == wanted.error().status),
        "an answer answers its own request: ", request.target, " ", std::to_string(answer.status));
    const bool takes = answer.status == 200 && request.method != HttpRequest::Method::head;
    promised(answer.ids.size() == (takes ? wanted->count : 0), "as many IDs as were asked for");
    promised(answer.closes == !request.keep_alive, "an answer says when the connection ends");
}

}  // namespace

void fuzz_http_session(std::string_view bytes) {
    static IdServer server;
    if (bytes.empty()) return;
    const auto refills = static_cast<Refills>(static_cast<unsigned char>(bytes.front()) % 4);
    bytes.remove_prefix(1);
    std::minstd_rand random{static_cast<unsigned>(std::hash<std::string_view>{}(bytes))};

    const ParserOutcome parsed = parse(bytes, random);
    const Exchange whole = server.exchange(std::vector{bytes}, refills);
    for (const unsigned cuts : {1U, 3U, 8U}) {
        const Exchange cut = server.exchange(pieces_of(bytes, cuts, random), refills);
        promised(cut.received == whole.received && cut.taken == whole.taken && cut.closed == whole.closed,
                 "a client gets the same however its bytes are cut");
    }

    const auto is_head = [&](std::size_t i) {
        return i < parsed.requests.size() && parsed.requests[i].method == HttpRequest::Method::head;
    };
    const std::vector<HttpAnswer> answers = read_answers(whole.received, is_head);
    std::vector<std::int64_t> given;
    bool open = true;
    std::size_t answered = 0;
    for (; answered < parsed.requests.size() && open; ++answered) {
        promised(answered < answers.size(), "every request is answered");
        check_answer(answers[answered], parsed.requests[answered], server.catalog());
        const auto& ids = answers[answered].ids;
        given.insert(given.end(), ids.begin(), ids.end());
        open = parsed.requests[answered].keep_alive;
    }
    if (open && parsed.error_status != 0) {
        promised(
            answered < answers.size() && answers[answered].status == parsed.error_status && answers[answered].closes,
            "an error is answered");
        ++answered;
        open = false;
    }
    promised(answers.size() == answered, "nothing else is answered");
    promised(whole.closed == !open, "the connection ends when it was said to end");
    promised(given == whole.taken, "the answers hold just the IDs that left the window");
}

}  // namespace next_id::test
