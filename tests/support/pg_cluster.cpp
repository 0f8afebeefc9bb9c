#include "tests/support/pg_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tests/support/run_program.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

namespace fs = std::filesystem;

// Short, for the path of a Unix socket has 107 bytes.
std::string make_directory() {
    char name[] = "/tmp/next-id-pg.XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::runtime_error{"cannot make a directory in /tmp"};
    const auto user = server_user();
    if (user && chown(name, user->uid, user->gid) != 0) throw std::runtime_error{"chown"};
    return name;
}

void run(const std::vector<std::string>& command) {
    const ProgramResult result = run_program(command, server_user());
    if (result.exit_code != 0) throw std::runtime_error{command[0] + " failed: " + result.output};
}

// initdb takes a second, a copy of its work a tenth.
const std::string& template_data() {
    struct Template {
        std::string directory = make_directory();
        std::string data = directory + "/data";
        Template() {
            run({pg_program("initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
                 "--no-sync"});
        }
        ~Template() { fs::remove_all(directory); }
    };
    static const Template made;
    return made.data;
}

std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
}

std::string join_rows(const PGresult* result) {
    std::string text;
    for (int row = 0; row < PQntuples(result); ++row)
        for (int column = 0; column < PQnfields(result); ++column)
            text += std::string{column != 0 ? "|" : row != 0 ? "\n" : ""} + PQgetvalue(result, row, column);
    return text;
}

}  // namespace

std::optional<ProgramUser> server_user() {
    if (geteuid() != 0) return {};
    const passwd* entry = getpwnam("postgres");
    if (entry == nullptr) entry = getpwnam("nobody");
    if (entry == nullptr) throw std::runtime_error{"no user postgres or nobody to run PostgreSQL as"};
    return ProgramUser{entry->pw_uid, entry->pw_gid};
}

std::string free_port() {
    const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool found = bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    close(socket_fd);
    if (!found) throw std::runtime_error{"no free port"};
    return std::to_string(ntohs(address.sin_port));
}

std::string pg_program(const std::string& name) {
    if (const char* chosen = std::getenv("NEXT_ID_PG_BIN")) return std::string{chosen} + "/" + name;
    int newest = 0;
    std::error_code none;
    for (const auto& version : fs::directory_iterator{"/usr/lib/postgresql", none})  // where Debian keeps them
        if (fs::exists(version.path() / "bin" / "initdb"))
            newest = std::max(newest, std::atoi(version.path().filename().c_str()));
    return newest == 0 ? name : "/usr/lib/postgresql/" + std::to_string(newest) + "/bin/" + name;
}

PgCluster::PgCluster(const Options& options) : directory_{make_directory()}, environment_{options.environment} {
    run({"cp", "-a", template_data(), data_dir()});
    std::ofstream settings{data_dir() + "/postgresql.conf", std::ios::app};
    settings << "listen_addresses = '127.0.0.1'\nunix_socket_directories = '" << directory_
             << "'\nshared_buffers = 16MB\nmax_connections = 60\nmax_wal_size = 64MB\nmin_wal_size = 32MB\n"
             << "log_line_prefix = '%p '\nfsync = " << (options.durable ? "on" : "off") << "\n";
    for (const std::string& line : options.settings) settings << line << "\n";
    settings.close();
    if (!options.hba.empty()) {
        const std::string trusting = content(data_dir() + "/pg_hba.conf");
        std::ofstream hba{data_dir() + "/pg_hba.conf"};
        for (const std::string& line : options.hba) hba << line << "\n";
        hba << trusting;
    }
    start();
}

PgCluster::PgCluster(const Standby& standby)
    : directory_{make_directory()}, port_{standby.port}, environment_{standby.primary.environment_} {
    const PgCluster& primary = standby.primary;
    run({pg_program("pg_basebackup"), "-D", data_dir(), "-R", "-c", "fast", "--no-sync", "-d",
         "host=" + primary.socket_dir() + " port=" + primary.port() +
             " user=postgres application_name=" + standby.name});
    std::ofstream{data_dir() + "/postgresql.conf", std::ios::app} << "unix_socket_directories = '" << directory_
                                                                  << "'\n";
    start();
}

PgCluster::~PgCluster() {
    if (server_ > 0) stop(PgStop::immediate);
    std::error_code none;
    fs::remove_all(directory_, none);
}

void PgCluster::start() {
    const std::string log_file = directory_ + "/log";
    for (int attempt = 0; attempt < 5; ++attempt) {
        if (port_.empty()) port_ = free_port();
        const int output = open(log_file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
        std::vector<std::string> command{"/usr/bin/env", pg_program("postgres"), "-D", data_dir(), "-p", port_};
        command.insert(command.begin() + 1, environment_.begin(), environment_.end());
        server_ = start_program(command, output, server_user(), SIGQUIT);
        close(output);
        const std::string conninfo = "host=" + directory_ + " port=" + port_ + " dbname=postgres user=postgres";
        bool died = false;
        const bool up = wait_until([&] {
            died = waitpid(server_, nullptr, WNOHANG) == server_;
            return died || PQping(conninfo.c_str()) == PQPING_OK;
        });
        if (up && !died) return;
        if (!died) stop(PgStop::immediate);
        server_ = -1;
        if (log().find("Address already in use") == std::string::npos) break;
        port_.clear();  // somebody was faster
    }
    throw std::runtime_error{"PostgreSQL does not start:\n" + log()};
}

void PgCluster::stop(PgStop how) {
    kill(server_, how == PgStop::fast ? SIGINT : SIGQUIT);
    waitpid(server_, nullptr, 0);
    server_ = -1;
}

void PgCluster::promote() {
    if (psql("SELECT pg_promote(true, 20)") != "t") throw std::runtime_error{"the standby is not promoted:\n" + log()};
}

std::string PgCluster::psql(const std::string& user, const std::string& sql) const {
    const std::string conninfo = "host=" + directory_ + " port=" + port_ + " dbname=postgres user=" + user;
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection{PQconnectdb(conninfo.c_str()), &PQfinish};
    PQsetNoticeReceiver(
        connection.get(), [](void*, const PGresult*) {}, nullptr);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection.get(), sql.c_str()), &PQclear};
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        throw std::runtime_error{sql + "\n" + PQerrorMessage(connection.get())};
    return join_rows(result.get());
}

std::pair<int, std::string> PgCluster::script(const std::string& name, const std::vector<std::string>& variables,
                                              const std::string& user) const {
    std::vector<std::string> command{pg_program("psql"), "-X", "-h", directory_, "-p", port_, "-U", user, "-d",
                                     "postgres"};
    for (const std::string& variable : variables) command.insert(command.end(), {"-v", variable});
    command.insert(command.end(), {"-f", std::string{NEXT_ID_SOURCE_DIR} + "/sql/" + name});
    const ProgramResult result = run_program(command);
    return {result.exit_code, result.output};
}

std::string PgCluster::log() const {
    return content(directory_ + "/log");
}

}  // namespace next_id::test
