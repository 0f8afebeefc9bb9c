// The C++ client of next-id: unique 64-bit IDs from the sidecar beside this process, over its Unix socket or TCP. Needs
// C++17, the library (next_id::client, or pkg-config next_id), and nothing else.
//
//     next_id::Client client;                    // the socket /run/next-id/next-id.sock
//     std::int64_t id = client.next();
//     std::vector<std::int64_t> ids = client.next(100);
//
// A process that takes many, or in many threads, has an IdPool: <next_id/id_pool.h>.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NEXT_ID_API __attribute__((visibility("default")))

namespace next_id {
inline namespace v1 {

// What went wrong, for programs; what() says it to people: what was tried, where, and what to do.
enum class ErrorCode {
    invalid_argument = 1,  // options or a count that cannot work: mend the program
    unreachable,           // no sidecar was there until the deadline
    timed_out,             // it was there, and gave no answer until the deadline
    no_ids,                // it has none to give now (503): PostgreSQL is away, or too many connect. See retry_after()
    too_many_requests,     // the client's share is used up (429). See retry_after()
    not_allowed,           // no rights on the socket, or no valid token (401, 403)
    rejected,              // it does not know the sequence, or gives out no so many at once (400, 404, ...)
    not_understood,        // what answered is not a next-id that this client understands
    system,                // the operating system refused: out of descriptors or memory
};

class NEXT_ID_API Error : public std::runtime_error {
 public:
    Error(ErrorCode code, const std::string& what, std::chrono::seconds retry_after = {})
        : std::runtime_error{what}, code_{code}, retry_after_{retry_after} {}
    ~Error() override;

    ErrorCode code() const noexcept { return code_; }
    // When it makes sense to ask again, as the sidecar says; 0 if it did not say.
    std::chrono::seconds retry_after() const noexcept { return retry_after_; }

 private:
    ErrorCode code_;
    std::chrono::seconds retry_after_;
};

struct Options {
    // The path of the Unix socket, or address:port of HTTP over TCP. The address is a number ("127.0.0.1:8080",
    // "[::1]:8080") or localhost: a name would have to be looked up, for which there is no deadline.
    std::string address = "/run/next-id/next-id.sock";
    // One of those that the sidecar is configured with; empty: its first.
    std::string sequence;
    // Shown if not empty. From the file the first line that is not a comment; read anew when it is refused, so that
    // tokens can be replaced, and waited for while it is missing or empty. At most one of the two.
    std::string token;
    std::string token_file;
    // The directory of --window-share, if the sidecar shares its windows with this process. Then IDs are taken out of
    // its memory, without a system call; over the socket only when that is empty or cannot be used. Needs `sequence`.
    // Whoever truncates that file ends each process that maps it, by SIGBUS.
    std::string window;
    // For each call, with all its attempts. In this time a sidecar that restarts is tried again and an empty window is
    // waited for.
    std::chrono::milliseconds timeout{5000};
};

// first, first + step, ...: so many IDs.
struct IdRange {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::uint64_t count = 0;
};

// One connection, kept open between calls and made anew when it is lost. Used by one thread at a time. After fork()
// parent and child can both go on: the child makes a connection of its own.
class NEXT_ID_API Client {
 public:
    static constexpr std::size_t count_max = 1'000'000;

    // Does not connect yet. Throws an Error (invalid_argument) for options that cannot work.
    explicit Client(Options options = {});
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    // Each throws an Error, or std::bad_alloc, and has then taken no ID that anyone will see. The second and third
    // bring exactly n IDs, not always consecutive; 1 <= n <= count_max.
    std::int64_t next();
    std::vector<std::int64_t> next(std::size_t n);
    std::vector<IdRange> next_ranges(std::size_t n);

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace v1
}  // namespace next_id
