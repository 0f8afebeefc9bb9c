// All that the parser makes of some bytes, cut into pieces as the caller likes: for tests that hold it against what it
// makes of the same bytes in other pieces.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/http_request.h"

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

// Feeds the pieces between the cuts, each in memory of just its size, which is gone when the next one comes. Throws
// when the parser does not keep to its contract.
inline ParserOutcome parse_in_pieces(std::string_view bytes, const std::vector<std::size_t>& cuts) {
    const auto promised = [](bool holds, const char* promise) {
        if (!holds) throw std::logic_error{promise};
    };
    using Result = HttpParser::Result;
    ParserOutcome outcome;
    HttpParser parser;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t end = i < cuts.size() ? cuts[i] : bytes.size();
        const std::vector<char> piece(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(end));
        std::string_view rest{piece.data(), piece.size()};
        while (!rest.empty()) {
            std::size_t consumed = 0;
            const Result result = parser.parse(rest, consumed);
            promised(consumed <= rest.size(), "no more is consumed than there is");
            rest.remove_prefix(consumed);
            if (result == Result::request) outcome.note_request(parser.request(), end - rest.size());
            if (result == Result::need_more) promised(rest.empty(), "all is consumed when more is needed");
            if (result == Result::error) {
                outcome.error_status = parser.error().status;
                outcome.note(std::to_string(parser.error().status), std::string{parser.error().sentence});
                promised(parser.parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n", consumed) == Result::error,
                         "an error is for good");
                promised(!parser.mid_request(), "behind an error there is no request");
                return outcome;
            }
        }
        begin = end;
    }
    if (parser.mid_request()) outcome.note("...", "");
    return outcome;
}

// In pieces of one byte nothing can be taken for a repetition of the last request: each is parsed.
inline ParserOutcome parse_byte_by_byte(std::string_view bytes) {
    std::vector<std::size_t> everywhere;
    for (std::size_t i = 1; i < bytes.size(); ++i) everywhere.push_back(i);
    return parse_in_pieces(bytes, everywhere);
}

}  // namespace next_id
