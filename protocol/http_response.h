// Answers -> bytes, appended to the output of a connection. One shape of head for all of them; the answer that is given
// nearly always, one ID to a client that keeps its HTTP/1.1 connection, is written in one go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace next_id {

struct ResponseHead {
    int status = 200;                    // one of 200 400 401 403 404 405 413 414 429 431 500 503
    bool text = false;                   // the body is text/plain, and else JSON
    std::string_view content_type = {};  // if not empty, instead of those two
    bool close = false;                  // the connection is closed behind this answer
    bool http_1_0 = false;               // the client spoke HTTP/1.0: it must be told that the connection stays open
    bool head_only = false;       // the answer to HEAD: no body, and no Content-Length, for HEAD takes no ID to measure
    std::string_view allow = {};  // the Allow header, if not empty: "GET, HEAD, POST"
    std::uint32_t retry_after_seconds = 0;  // the Retry-After header, if not 0
    bool www_authenticate = false;          // WWW-Authenticate: Bearer
    std::string_view headers = {};          // more of them, each with its CR LF
};

void append_response(std::string& out, const ResponseHead& head, std::string_view body);

// 200 with {"code":0,"msg":"success","data":{"id":N}} and a newline, on an HTTP/1.1 connection that stays open.
void append_id_response(std::string& out, std::int64_t id);

}  // namespace next_id
