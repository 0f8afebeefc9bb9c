// A PostgreSQL of a test's own: its data, port and Unix socket in a directory that goes away with it, its server killed
// when the test process dies, however that dies. fsync is off unless asked for.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_program.h"

namespace next_id::test {

enum class PgStop { fast, immediate };  // immediate: as a crash

class PgCluster {
 public:
    struct Options {
        bool durable = false;
        std::vector<std::string> settings = {};     // lines of postgresql.conf
        std::vector<std::string> hba = {};          // lines of pg_hba.conf, before "trust all"
        std::vector<std::string> environment = {};  // of the server: NAME=value
    };

    // A hot standby: it streams from `primary` under this name, and has its settings and environment.
    struct Standby {
        const PgCluster& primary;
        std::string name;
        std::string port = {};  // a free one unless given
    };

    PgCluster() : PgCluster{Options{}} {}
    explicit PgCluster(const Options& options);
    explicit PgCluster(const Standby& standby);
    ~PgCluster();
    PgCluster(const PgCluster&) = delete;
    PgCluster& operator=(const PgCluster&) = delete;

    // Returns when the server takes connections; throws with its log when it does not.
    void start();
    void stop(PgStop how = PgStop::fast);
    void restart(PgStop how = PgStop::fast) { stop(how), start(); }

    // Returns when the server, a standby, takes writes.
    void promote();

    // Runs statements in one message; the last one's rows: columns parted by '|', rows by newlines, null empty.
    // Throws with the server's message when one fails.
    std::string psql(const std::string& sql) const { return psql("postgres", sql); }
    std::string psql(const std::string& user, const std::string& sql) const;

    // Runs one of the scripts of sql/ with the real psql, as a user would: `variables` as name=value. Output and exit
    // code.
    std::pair<int, std::string> script(const std::string& name, const std::vector<std::string>& variables,
                                       const std::string& user = "postgres") const;

    const std::string& socket_dir() const { return directory_; }
    const std::string& port() const { return port_; }
    std::string data_dir() const { return directory_ + "/data"; }
    pid_t server() const { return server_; }
    std::string log() const;

 private:
    std::string directory_, port_;
    std::vector<std::string> environment_;
    pid_t server_ = -1;
};

// A TCP port of 127.0.0.1 that nobody listens on now.
std::string free_port();

// As whom a server may run that refuses to be root; nothing: as who we are.
std::optional<ProgramUser> server_user();

// Where initdb, postgres and the other programs are.
std::string pg_program(const std::string& name);

}  // namespace next_id::test
