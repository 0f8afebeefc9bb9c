#include "tests/support/pgbouncer.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/run_program.h"
#include "tests/support/test_client.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

constexpr char program[] = "/usr/sbin/pgbouncer";  // where Debian keeps it, outside of many a user's PATH

}  // namespace

PgBouncer::PgBouncer(const PgCluster& cluster, int pool_size) : port_{free_port()} {
    if (access(program, X_OK) != 0)
        throw std::runtime_error{std::string{"there is no "} + program + ": install Debian's package pgbouncer"};
    char name[] = "/tmp/next-id-pgbouncer.XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::runtime_error{"cannot make a directory in /tmp"};
    directory_ = name;
    std::ofstream{directory_ + "/users"} << "\"postgres\" \"\"\n";
    std::ofstream{directory_ + "/settings"}
        << "[databases]\npostgres = host=127.0.0.1 port=" << cluster.port()
        << " dbname=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_
        << "\nunix_socket_dir =\nauth_type = trust\nauth_file = " << directory_
        << "/users\npool_mode = transaction\ndefault_pool_size = " << pool_size << "\nserver_login_retry = 1\n";
    if (const auto user = server_user())
        for (const std::string& file : {directory_, directory_ + "/users", directory_ + "/settings"})
            if (chown(file.c_str(), user->uid, user->gid) != 0) throw std::runtime_error{"chown"};
    start();
}

PgBouncer::~PgBouncer() {
    stop();
    std::error_code none;
    std::filesystem::remove_all(directory_, none);
}

void PgBouncer::start() {
    const int output = open((directory_ + "/log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    server_ = start_program({program, directory_ + "/settings"}, output, server_user());
    close(output);
    bool died = false;
    const bool up = wait_until([&] {
        died = waitpid(server_, nullptr, WNOHANG) == server_;
        return died || can_connect("127.0.0.1:" + port_);
    });
    if (died) server_ = -1;
    if (!up || died) throw std::runtime_error{"pgbouncer does not start:\n" + log()};
}

void PgBouncer::stop() {
    if (server_ < 0) return;
    kill(server_, SIGTERM);  // at once; SIGINT would wait for its clients
    waitpid(server_, nullptr, 0);
    server_ = -1;
}

std::string PgBouncer::log() const {
    std::ostringstream text;
    text << std::ifstream{directory_ + "/log"}.rdbuf();
    return text.str();
}

}  // namespace next_id::test
