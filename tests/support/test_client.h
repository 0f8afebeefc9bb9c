// A blocking HTTP client for tests: one connection, kept open, over which they send exactly the bytes they want and
// read answer by answer. Every wait has a deadline; what does not come in time is an exception.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace next_id::test {

struct TestAnswer {
    int status = 0;
    std::string head;  // with its last CR LF
    std::string body;

    // The value of a header, empty when there is none.
    std::string header(const std::string& name) const;
};

class TestClient {
 public:
    static constexpr std::chrono::milliseconds patience = std::chrono::seconds{20};

    // To 127.0.0.1:PORT, or to the path of a Unix socket. Throws when nobody listens.
    explicit TestClient(const std::string& address);
    ~TestClient();
    TestClient(const TestClient&) = delete;
    TestClient& operator=(const TestClient&) = delete;

    void send(std::string_view bytes);
    TestAnswer receive(std::chrono::milliseconds deadline = patience, bool head_only = false);
    TestAnswer get(const std::string& target, std::chrono::milliseconds deadline = patience);

    // Ends its own half, and reads until the other side has ended too: all that came.
    std::string end(std::chrono::milliseconds deadline = patience);

    // True iff the other side has closed the connection before the deadline, and sent nothing more.
    bool is_closed(std::chrono::milliseconds deadline = patience);

 private:
    // False when the connection has ended.
    bool read_more(std::chrono::steady_clock::time_point deadline);

    int socket_ = -1;
    std::string received_;
};

// Whether anybody listens there.
bool can_connect(const std::string& address);

// The one ID of an answer with status 200; throws with the answer when it is none.
std::int64_t id_of(const TestAnswer& answer);

}  // namespace next_id::test
