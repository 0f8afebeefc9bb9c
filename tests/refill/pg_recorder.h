// A connection on a loop of its own, and what it told.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sidecar/refill/pg_connection.h"
#include "tests/support/loop_fixture.h"
#include "tests/support/pg_cluster.h"

namespace next_id::test {

struct Recorder : PgConnection::Listener {
    int connected = 0, late = 0;
    std::vector<std::string> reasons;
    std::vector<PgAnswer> answers;
    std::function<void()> then = [] {};  // called last in each callback

    void on_connected() override { ++connected, again(); }
    void on_disconnected(const std::string& reason) override { reasons.push_back(reason), again(); }
    void on_answer(PgAnswer answer) override { answers.push_back(std::move(answer)), again(); }
    void on_late() override { ++late, again(); }
    void again() {
        const auto next = then;
        next();
    }
};

struct ConnectionFixture : LoopFixture {
    Recorder told;
    std::unique_ptr<PgConnection> connection;

    void make(PgTarget target) { connection = std::make_unique<PgConnection>(loop(), std::move(target), told); }

    // Connects and waits for the outcome: true iff connected.
    bool connects(PgTarget target) {
        make(std::move(target));
        const std::size_t outcomes = std::size_t(told.connected) + told.reasons.size();
        connection->connect();
        BOOST_REQUIRE(run_until([&] { return std::size_t(told.connected) + told.reasons.size() > outcomes; }));
        return connection->state() == PgState::idle;
    }

    PgAnswer ask(const std::string& sql, const std::vector<std::string>& parameters = {}) {
        const std::size_t answered = told.answers.size();
        connection->query(sql, parameters);
        BOOST_REQUIRE(run_until([&] { return told.answers.size() > answered; }));
        return told.answers.back();
    }

    ~ConnectionFixture() { connection.reset(); }
};

inline PgTarget target(PgParameters parameters, Duration timeout = std::chrono::seconds{5}) {
    if (std::none_of(parameters.begin(), parameters.end(), [](const auto& pair) { return pair.first == "user"; }))
        parameters.emplace_back("user", "postgres");
    parameters.emplace_back("dbname", "postgres");
    return {
        .parameters = std::move(parameters), .read_password = {}, .connect_timeout = timeout, .query_timeout = timeout};
}

}  // namespace next_id::test
