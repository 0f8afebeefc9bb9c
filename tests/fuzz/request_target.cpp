// Targets, queries and Accept, held against properties that any right reading of them has.
#include <algorithm>
#include <cctype>

#include "protocol/http_response.h"
#include "sidecar/api/accept.h"
#include "sidecar/api/id_request.h"
#include "sidecar/api/target.h"
#include "tests/fuzz/http_answers.h"
#include "tests/fuzz/targets.h"

namespace next_id::test {
namespace {

std::string percent_encoded(std::string_view text) {
    static constexpr char hex[] = "0123456789aBcDeF";
    std::string encoded;
    for (const char c : text) encoded.append({'%', hex[static_cast<unsigned char>(c) >> 4], hex[c & 15]});
    return encoded;
}

void check_decoding(std::string_view text) {
    promised(percent_decode(percent_encoded(text), true) == text, "what is encoded comes back");
    const auto decoded = percent_decode(text, false);
    const auto percents = static_cast<std::size_t>(std::ranges::count(text, '%'));
    promised(!decoded || decoded->size() <= text.size(), "what is decoded does not grow");
    promised(percents != 0 || decoded == text, "without a % nothing changes");
}

void check_query(std::string_view query) {
    const auto parameters = split_query(query);
    if (!parameters) return promised(query.find('%') != query.npos, "only a % can be wrong in a query");
    std::string again;
    for (const auto& [name, value] : *parameters) again += "&" + percent_encoded(name) + "=" + percent_encoded(value);
    promised(split_query(again) == parameters, "parameters that are written out mean the same");
}

void check_accept(std::string_view accept) {
    const bool text = prefers_text(accept);
    std::string other_case{accept}, spaced;
    for (char& c : other_case)
        c = static_cast<char>(std::isupper(static_cast<unsigned char>(c)) ? std::tolower(c) : std::toupper(c));
    for (const char c : accept) spaced += c == ',' || c == ';' ? std::string{" \t"} + c + " " : std::string{c};
    promised(prefers_text(other_case) == text, "case means nothing in Accept");
    promised(prefers_text(spaced) == text, "nor does white space");
    promised(prefers_text(std::string{accept} + ",image/png;q=0.1") == text, "nor does what we do not offer");
    promised(!prefers_text(std::string{accept} + ",text/plain;q=0"), "what is refused in the end is not preferred");
    std::string lower_case{accept};
    for (char& c : lower_case) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    promised(
        !prefers_text("application/json," + lower_case) || lower_case.find("application/json") != std::string::npos,
        "nothing but itself is preferred to JSON at its best");
}

void check_refusal(const Refusal& refusal) {
    std::string body, answer;
    append_error(body, refusal.status, msg_of(refusal.status), refusal.error);
    append_response(answer, {.status = refusal.status, .allow = refusal.allow}, body);
    std::string_view rest = answer;
    promised(read_answer(rest, false).status == refusal.status && rest.empty(), "a refusal is one answer");
    promised(!refusal.error.empty() && refusal.error.size() < 400, "a refusal says why, and is short");
}

}  // namespace

void fuzz_request_target(std::string_view bytes) {
    static const Catalog catalog{{"ids", "\"My Ids\"", "a.b"}, 1'000'000};
    const std::string_view target = bytes.substr(0, bytes.find('\n'));
    const std::string_view accept = bytes.substr(std::min(target.size() + 1, bytes.size()));
    check_decoding(target);
    check_query(split_target(target).query);
    check_accept(accept);

    for (const auto method : {HttpRequest::Method::get, HttpRequest::Method::post, HttpRequest::Method::other}) {
        const auto read = read_id_request({.method = method, .target = target, .accept = accept}, catalog);
        if (!read) {
            check_refusal(read.error());
            continue;
        }
        promised(method != HttpRequest::Method::other, "IDs are taken with GET or POST only");
        promised(read->sequence < catalog.sequences.size(), "a sequence is one of those configured");
        promised(read->count >= 1 &&
                     read->count <= (read->format.layout == Layout::ranges ? count_ranges_max : count_ids_max),
                 "a count is within its limit");
        promised(read->count == 1 || read->format.layout != Layout::single, "several IDs are no single one");
        const auto decoded = percent_decode(split_target(target).path, false);
        promised(decoded && (*decoded == "/next-id" || *decoded == "/next-id/" + catalog.sequences[read->sequence]),
                 "a path names what is answered");
    }
}

}  // namespace next_id::test
