// The real program, run as a user would run it: `next-id serve` with ports, socket, state directory and log of its own.
// Killed when its owner goes, or when the test process dies; tells its log when the test has failed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/pg_cluster.h"
#include "tests/support/run_program.h"
#include "tests/support/test_client.h"

namespace next_id::test {

using Environment = std::map<std::string, std::string>;
using SidecarSettings = std::map<std::string, std::optional<std::string>>;  // environment; nothing unsets a variable

class SidecarProcess {
 public:
    static constexpr std::chrono::milliseconds patience = std::chrono::seconds{20};

    // Not started yet. `settings` go over those that make it a sidecar of `postgres`.
    explicit SidecarProcess(const PgCluster& postgres, const SidecarSettings& settings = {},
                            std::vector<std::string> flags = {});
    ~SidecarProcess();
    SidecarProcess(const SidecarProcess&) = delete;
    SidecarProcess& operator=(const SidecarProcess&) = delete;

    // Returns when the listeners are bound; throws with the log when it ends instead.
    void start();
    // Returns when an ID can be given out, of every sequence.
    void start_ready();
    void wait_until_ready();
    // The same, and when the first sequence's window holds so many IDs.
    void start_filled(int ids);
    // Runs it where it is to end by itself: the exit code.
    int run_to_exit(std::optional<ProgramUser> user = {});

    void signal(int number) const;
    // 128 + the signal, when one ended it; throws when it does not end.
    int wait_for_exit(std::chrono::milliseconds deadline = patience);
    int stop(int number = SIGTERM) { return signal(number), wait_for_exit(); }

    pid_t pid() const { return pid_; }
    const std::string& directory() const { return directory_; }  // on a tmpfs, so that windows are adopted
    std::string socket() const { return setting("NEXT_ID_SOCKET"); }
    std::string state_dir() const { return setting("NEXT_ID_STATE_DIR"); }
    std::string http() const { return address("http"); }    // 127.0.0.1:PORT
    std::string https() const { return address("https"); }  // with --tls-cert, instead
    std::string resp() const { return address(environment_.contains("NEXT_ID_TLS_CERT") ? "rediss" : "redis"); }
    std::string admin() const { return address("admin"); }  // 127.0.0.1:PORT
    std::string setting(const std::string& name) const;
    // Writes a file into its directory, and returns the path: the value of a setting that names one.
    std::string write_file(const std::string& name, const std::string& content) const;
    void set(const std::string& name, const std::string& value) { environment_[name] = value; }

    // What it has said since the last start.
    std::string log() const;
    bool wait_for_log(const std::string& text, std::chrono::milliseconds deadline = patience) const;

    // Of the admin listener.
    TestAnswer ask_admin(const std::string& target) const { return TestClient{admin()}.get(target); }
    // A number of the first sequence in /status, in its own digits.
    std::string status(const std::string& key) const;

 private:
    void launch(std::optional<ProgramUser> user = {});
    bool ended();
    // Where it listens, as its log says. The first throws when it does not; the second is empty then.
    std::string address(const std::string& listener) const;
    std::string find_address(const std::string& listener) const;

    std::string directory_;
    Environment environment_;
    std::vector<std::string> flags_;
    pid_t pid_ = -1;  // -1 while it does not run
    int exit_code_ = -1;
    std::size_t log_begin_ = 0;
};

// Runs the program with nothing in its environment but this.
ProgramResult run_next_id(const std::vector<std::string>& arguments, const Environment& environment = {});

// The cluster of the suites of this process, made at its first use.
PgCluster& shared_postgres();

// It is stopped while this lives, or until end().
class Outage {
 public:
    Outage() { shared_postgres().stop(); }
    ~Outage() { end(); }
    Outage(const Outage&) = delete;
    Outage& operator=(const Outage&) = delete;
    void end() {
        if (!over_) shared_postgres().start();
        over_ = true;
    }

 private:
    bool over_ = false;
};

// A sequence of this test's own in it, made with these clauses of CREATE SEQUENCE: its name.
std::string new_sequence(const std::string& clauses = "");

}  // namespace next_id::test
