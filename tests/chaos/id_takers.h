// Clients that ask for IDs, one after the other, for as long as a test wants, and keep what they got.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/refill/pg_sessions.h"
#include "tests/support/load.h"
#include "tests/support/nextval_caller.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {

// NEXT_ID_LONG: as much more of everything.
inline int times_longer(int factor) {
    return std::getenv("NEXT_ID_LONG") != nullptr ? factor : 1;
}

class IdTakers {
 public:
    // So many at each address; `pause` after each answer, for a demand that is known.
    explicit IdTakers(const std::vector<std::string>& addresses, int each = 2,
                      std::chrono::microseconds pause = std::chrono::microseconds{0}) {
        for (std::size_t i = 0; i < addresses.size() * std::size_t(each); ++i)
            takers_.push_back(std::make_unique<Taker>());
        for (std::size_t i = 0; i < takers_.size(); ++i)
            takers_[i]->thread = std::thread{
                [this, address = addresses[i / std::size_t(each)], i, pause] { work(address, *takers_[i], pause); }};
    }
    ~IdTakers() { join(); }
    IdTakers(const IdTakers&) = delete;
    IdTakers& operator=(const IdTakers&) = delete;

    std::uint64_t given() const { return given_; }
    std::uint64_t refused() const { return refused_; }

    // Whether so many more IDs come in time.
    bool get_more(std::uint64_t ids = 2000, std::chrono::milliseconds deadline = std::chrono::seconds{20}) const {
        const std::uint64_t goal = given_ + ids;
        return wait_until([&] { return given_ >= goal; }, deadline);
    }

    // Everything that they got.
    Ids stop() {
        join();
        Ids all;
        for (const auto& taker : takers_) {
            if (taker->failure) std::rethrow_exception(taker->failure);
            all.insert(all.end(), taker->ids.begin(), taker->ids.end());
        }
        return all;
    }

 private:
    struct Taker {
        Ids ids;
        std::exception_ptr failure;
        std::thread thread;
    };

    void work(const std::string& address, Taker& taker, std::chrono::microseconds pause) {
        try {
            TestClient client{address};
            for (auto next = std::chrono::steady_clock::now(); !stop_;) {
                const TestAnswer answer = client.get("/next-id");
                if (answer.status == 200)
                    taker.ids.push_back(id_of(answer)), ++given_;
                else
                    ++refused_;
                if (pause.count() != 0) std::this_thread::sleep_until(next += pause);  // the pace that was asked for
            }
        } catch (...) {
            taker.failure = std::current_exception();
        }
    }
    void join() {
        stop_ = true;
        for (const auto& taker : takers_)
            if (taker->thread.joinable()) taker->thread.join();
    }

    std::atomic<bool> stop_ = false;
    std::atomic<std::uint64_t> given_ = 0, refused_ = 0;
    std::vector<std::unique_ptr<Taker>> takers_;
};

inline void append(Ids& all, const Ids& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// A sidecar whose window holds about a second of demand, so that it refills all the time.
inline std::unique_ptr<SidecarProcess> short_sidecar(const std::string& sequence, SidecarSettings settings = {}) {
    settings.emplace("PG_SEQUENCE", sequence);
    settings.emplace("NEXT_ID_RESERVE", "1s");
    settings.emplace("NEXT_ID_WAIT_MAX", "100ms");
    settings.emplace("NEXT_ID_DB_TIMEOUT", "1s");
    return std::make_unique<SidecarProcess>(shared_postgres(), settings);
}

inline std::int64_t last_value(const std::string& sequence) {
    return std::stoll(shared_postgres().psql("SELECT last_value FROM " + sequence));
}

}  // namespace next_id::test
