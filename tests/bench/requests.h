// The requests that the load generator sends: one text, which is sent over and over again and may be cut anywhere. The
// headers are what well-known clients send with a GET, so that a server has as much to read as in daily life.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace next_id::bench {

// Behind the request line and Host.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 5> client_headers{{
    {"none", ""},
    {"curl", "User-Agent: curl/7.88.1\r\nAccept: */*\r\n"},
    {"go", "User-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n"},
    {"java",  // java.net.http.HttpClient, which offers HTTP/2
     "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: "
     "h2c\r\n"
     "User-Agent: Java-http-client/17.0.13\r\n"},
    {"java-url",  // java.net.HttpURLConnection
     "User-Agent: Java/17.0.13\r\nAccept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2\r\n"
     "Connection: keep-alive\r\n"},
}};

inline std::string_view headers_of(std::string_view client) {
    for (const auto& [name, headers] : client_headers)
        if (name == client) return headers;
    throw std::invalid_argument("no such client: " + std::string{client});
}

class Requests {
 public:
    // The targets take turns; they are equally long. `traced` gives each request a traceparent header of its own, as
    // tracing does: then no request is the same as the one before it.
    static Requests over_http(const std::vector<std::string>& targets, std::string_view headers, bool traced,
                              std::size_t depth) {
        std::vector<std::string> requests(traced ? targets.size() * traced_rounds : targets.size());
        for (std::size_t i = 0; i < requests.size(); ++i) {
            requests[i] = "GET " + targets[i % targets.size()] + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
            requests[i] += headers;
            if (traced) requests[i] += traceparent(i);
            requests[i] += "\r\n";
        }
        return {requests, depth};
    }

    static Requests over_resp(const std::string& key, std::size_t depth) {
        return {{"*2\r\n$4\r\nINCR\r\n$" + std::to_string(key.size()) + "\r\n" + key + "\r\n"}, depth};
    }

    std::size_t size() const { return size_; }  // of one, in bytes

    // `bytes` of at most `depth` requests, from offset `at` on.
    std::string_view from(std::size_t at, std::size_t bytes) const { return {text_.data() + at, bytes}; }
    std::size_t advanced(std::size_t at, std::size_t bytes) const { return (at + bytes) % (different_ * size_); }

 private:
    Requests(const std::vector<std::string>& requests, std::size_t depth)
        : different_{requests.size()}, size_{requests.front().size()} {
        for (std::size_t i = 0; i < different_ + depth; ++i) {
            const std::string& request = requests[i % different_];
            if (request.size() != size_) throw std::invalid_argument("the targets are not equally long");
            text_ += request;
        }
    }

    static constexpr std::size_t traced_rounds = 1000;

    static std::string traceparent(std::size_t number) {
        char line[80];
        std::snprintf(line, sizeof line, "traceparent: 00-4bf92f3577b34da6%016zx-%016zx-01\r\n", number * 2654435761U,
                      number);
        return line;
    }

    std::size_t different_;  // then they repeat
    std::size_t size_;
    std::string text_;  // those, and `depth` more, so that as many can be sent in one piece from anywhere
};

}  // namespace next_id::bench
