// The load generator of the benchmark, run beside a test, and the IDs that it got.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace next_id::test {

class Load {
 public:
    struct Result {
        std::uint64_t done = 0;     // answers with an ID
        std::uint64_t refused = 0;  // other answers
        std::uint64_t lost = 0;     // requests whose connection was dropped
    };

    // Starts at once: so many connections to 127.0.0.1:PORT or a Unix socket, for so many seconds. Dropped connections
    // are dialled again. `rate`: requests a second; 0: as fast as answers come.
    Load(const std::string& address, int connections, double seconds, int rate = 0);
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    // Throws when the generator met what is no answer.
    Result wait();
    // Every ID that it received. After wait().
    std::vector<std::int64_t> ids() const;

 private:
    std::string directory_;
    pid_t pid_ = -1;
};

// How many of these are not the first of their value.
std::size_t count_repeated(std::vector<std::int64_t> ids);

}  // namespace next_id::test
