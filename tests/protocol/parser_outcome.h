// All that the parser of HTTP makes of some bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/http_request.h"
#include "tests/protocol/in_pieces.h"

namespace next_id {

struct ParserOutcome {
    struct Request {
        HttpRequest::Method method;
        std::string target, accept;
        bool keep_alive;
    };
    std::vector<Request> requests;
    int error_status = 0;    // that ended it; 0: none did
    std::string short_form;  // "GET /x, 400": the requests, then the status of an error, then "..." if more is awaited
    std::string details;     // all that the parser said

    void note(const std::string& short_one, const std::string& detail) {
        short_form += (short_form.empty() ? "" : ", ") + short_one;
        details += short_one + " {" + detail + "}\n";
    }
    void note_request(const HttpRequest& request, std::size_t end) {
        static constexpr std::string_view methods[] = {"GET", "HEAD", "POST", "other"};
        const auto text = [](std::string_view s) { return "[" + std::string{s} + "] "; };
        requests.push_back(
            {request.method, std::string{request.target}, std::string{request.accept}, request.keep_alive});
        note(std::string{methods[static_cast<std::size_t>(request.method)]} + " " + std::string{request.target},
             text(request.host) + text(request.accept) + text(request.origin) + text(request.sec_fetch_site) +
                 text(request.authorization) + text(request.api_token) + (request.http_1_0 ? "1.0 " : "1.1 ") +
                 (request.keep_alive ? "keep-alive " : "close ") + "ends at " + std::to_string(end));
    }
};

inline ParserOutcome parse_in_pieces(std::string_view bytes, const std::vector<std::size_t>& cuts) {
    using Result = HttpParser::Result;
    ParserOutcome outcome;
    HttpParser parser;
    parse_pieces(parser, bytes, cuts, [&](Result result, std::size_t, std::size_t at) {
        if (result == Result::request) outcome.note_request(parser.request(), at);
        if (result != Result::error) return true;
        outcome.error_status = parser.error().status;
        outcome.note(std::to_string(parser.error().status), std::string{parser.error().sentence});
        std::size_t consumed = 0;
        promised(parser.parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n", consumed) == Result::error, "an error is for good");
        promised(!parser.mid_request(), "behind an error there is no request");
        return false;
    });
    if (parser.mid_request()) outcome.note("...", "");
    return outcome;
}

inline ParserOutcome parse_byte_by_byte(std::string_view bytes) {
    return parse_in_pieces(bytes, cut_everywhere(bytes));
}

}  // namespace next_id
