// Another program that calls nextval() on a sequence of the shared cluster, as fast as it can, for as long as a test
// wants.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/refill/pg_sessions.h"
#include "tests/support/sidecar_process.h"

namespace next_id::test {

using Ids = std::vector<std::int64_t>;

// Another program: what nextval() returns to it is its own, and no more.
class NextvalCaller {
 public:
    explicit NextvalCaller(const std::string& sequence)
        : thread_{[this, sequence] {
              const Session session = connect(shared_postgres());
              while (!stop_) {
                  const Rows rows = run(session, "SELECT nextval('" + sequence + "')");
                  if (PQntuples(rows.get()) == 1) values_.push_back(std::stoll(PQgetvalue(rows.get(), 0, 0)));
              }
          }} {}
    ~NextvalCaller() { join(); }
    NextvalCaller(const NextvalCaller&) = delete;
    NextvalCaller& operator=(const NextvalCaller&) = delete;

    Ids stop() {
        join();
        return values_;
    }

 private:
    void join() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }

    Ids values_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

}  // namespace next_id::test
