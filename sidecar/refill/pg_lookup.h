// One name looked up on libuv's pool, so that the loop never waits for DNS. Owned by the connection, on its loop's
// thread; a look-up that was given up ends unseen.
#pragma once

#include <uv.h>

#include <functional>
#include <string>
#include <vector>

#include "sidecar/base/expected.h"

namespace next_id {

class PgLookup {
 public:
    using Done = std::function<void(Expected<std::vector<std::string>>)>;

    explicit PgLookup(uv_loop_t* loop) : loop_{loop} {}
    ~PgLookup() { cancel(); }
    PgLookup(const PgLookup&) = delete;
    PgLookup& operator=(const PgLookup&) = delete;

    // Calls `done` once, later, with numeric addresses (at least one) or why there are none; unless cancelled before.
    // Returns 0 or libuv's error. REQUIRES: no look-up under way.
    int start(const std::string& name, Done done);
    void cancel();

 private:
    struct Request;
    static void finish(uv_getaddrinfo_t* raw, int status, addrinfo* found) noexcept;

    uv_loop_t* loop_;
    Request* request_ = nullptr;  // owns itself until libuv gives it back
};

}  // namespace next_id
