#include "protocol/http_response.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include "protocol/decimal.h"

namespace next_id {

namespace {

constexpr std::string_view json_200 =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: application/json; charset=utf-8\r\n"
    "Cache-Control: no-store\r\n"
    "Content-Length: ";
constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::string_view id_front = R"({"code":0,"msg":"success","data":{"id":)";
constexpr std::string_view id_back = "}}\n";

// Of the statuses that we answer with. HTTP/1.1 whatever the client speaks: it says what we can (RFC 9110, 6.2).
std::string_view status_line(int status) {
    switch (status) {
        case 200:
            return "HTTP/1.1 200 OK\r\n";
        case 400:
            return "HTTP/1.1 400 Bad Request\r\n";
        case 401:
            return "HTTP/1.1 401 Unauthorized\r\n";
        case 403:
            return "HTTP/1.1 403 Forbidden\r\n";
        case 404:
            return "HTTP/1.1 404 Not Found\r\n";
        case 405:
            return "HTTP/1.1 405 Method Not Allowed\r\n";
        case 413:
            return "HTTP/1.1 413 Content Too Large\r\n";
        case 414:
            return "HTTP/1.1 414 URI Too Long\r\n";
        case 429:
            return "HTTP/1.1 429 Too Many Requests\r\n";
        case 431:
            return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
        case 500:
            return "HTTP/1.1 500 Internal Server Error\r\n";
        case 503:
            return "HTTP/1.1 503 Service Unavailable\r\n";
        default:
            std::abort();  // a status that the contract does not know is a fault in the program
    }
}

void append_number(std::string& out, std::int64_t number) {
    char digits[int64_digits_max];
    const char* end = write_decimal(digits, number);
    out.append(digits, static_cast<std::size_t>(end - digits));
}

// Appends "Name: value CR LF".
void append_header(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

void append_response(std::string& out, const ResponseHead& head, std::string_view body) {
    const bool plain = head.status == 200 && !head.text && head.content_type.empty() && !head.close && !head.http_1_0 &&
                       !head.head_only && head.allow.empty() && head.retry_after_seconds == 0 &&
                       !head.www_authenticate && head.headers.empty();
    if (plain) {
        out.append(json_200);
        append_number(out, std::int64_t(body.size()));
        out.append(head_end).append(body);
        return;
    }
    out.append(status_line(head.status));
    const std::string_view usual = head.text ? "text/plain; charset=utf-8" : "application/json; charset=utf-8";
    append_header(out, "Content-Type", head.content_type.empty() ? usual : head.content_type);
    append_header(out, "Cache-Control", "no-store");
    if (head.close) append_header(out, "Connection", "close");
    if (!head.close && head.http_1_0) append_header(out, "Connection", "keep-alive");
    if (!head.allow.empty()) append_header(out, "Allow", head.allow);
    if (head.www_authenticate) append_header(out, "WWW-Authenticate", "Bearer");
    if (head.retry_after_seconds != 0) {
        out.append("Retry-After: ");
        append_number(out, head.retry_after_seconds);
        out.append("\r\n");
    }
    out.append(head.headers);
    if (!head.head_only) {
        out.append("Content-Length: ");
        append_number(out, std::int64_t(body.size()));
        out.append("\r\n");
    }
    out.append("\r\n");
    if (!head.head_only) out.append(body);
}

void append_id_response(std::string& out, std::int64_t id) {
    // The length of the body has two digits whatever the ID: from 43 to 62.
    constexpr std::size_t length_at = json_200.size();
    constexpr std::size_t body_at = length_at + 2 + head_end.size();
    constexpr std::size_t id_at = body_at + id_front.size();
    static_assert(id_front.size() + 1 + id_back.size() >= 10);
    static_assert(id_front.size() + int64_digits_max + id_back.size() <= 99);
    static constexpr auto front = [] {
        std::array<char, id_at> bytes{};
        std::size_t at = 0;
        for (const std::string_view part : {json_200, std::string_view{"00"}, head_end, id_front}) {
            for (const char c : part) bytes[at++] = c;
        }
        return bytes;
    }();

    char bytes[id_at + int64_digits_max + id_back.size()];
    std::memcpy(bytes, front.data(), front.size());
    char* end = write_decimal(bytes + id_at, id);
    std::memcpy(end, id_back.data(), id_back.size());
    end += id_back.size();
    const auto body_bytes = end - (bytes + body_at);
    bytes[length_at] = static_cast<char>('0' + body_bytes / 10);
    bytes[length_at + 1] = static_cast<char>('0' + body_bytes % 10);
    out.append(bytes, static_cast<std::size_t>(end - bytes));
}

}  // namespace next_id
