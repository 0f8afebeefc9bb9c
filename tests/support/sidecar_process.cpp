#include "tests/support/sidecar_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/framework.hpp>
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

// Short, since a socket lies in it; and on a tmpfs.
std::string make_directory() {
    char name[] = "/dev/shm/next-id.XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::system_error{errno, std::generic_category(), name};
    return name;
}

bool test_has_failed() {
    namespace unit_test = boost::unit_test;
    if (std::uncaught_exceptions() > 0) return true;
    return !unit_test::results_collector.results(unit_test::framework::current_test_case().p_id).passed();
}

std::vector<std::string> command_line(const std::vector<std::string>& arguments, const Environment& environment) {
    std::vector<std::string> command{"/usr/bin/env", "-i"};
    for (const auto& [name, value] : environment) command.push_back(name + "=" + value);
    command.push_back(NEXT_ID_PROGRAM);
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

}  // namespace

SidecarProcess::SidecarProcess(const PgCluster& postgres, const SidecarSettings& settings,
                               std::vector<std::string> flags)
    : directory_{make_directory()}, flags_{std::move(flags)} {
    environment_ = {{"PG_HOST", "127.0.0.1"},
                    {"PG_PORT", postgres.port()},
                    {"PG_DATABASE", "postgres"},
                    {"PG_USER", "postgres"},
                    {"PG_PASSWORD", ""},
                    {"NEXT_ID_HTTP", "127.0.0.1:0"},
                    {"NEXT_ID_ADMIN", "127.0.0.1:0"},
                    {"NEXT_ID_SOCKET", directory_ + "/next-id.sock"},
                    {"NEXT_ID_STATE_DIR", directory_ + "/state"},
                    {"NEXT_ID_WAIT_MAX", "20s"}};  // a slow machine is none of what the tests are about
    for (const auto& [name, value] : settings) {
        if (value)
            environment_[name] = *value;
        else
            environment_.erase(name);
    }
}

SidecarProcess::~SidecarProcess() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    if (test_has_failed()) BOOST_TEST_MESSAGE("the log of the sidecar:\n" << log());
    std::error_code none;
    std::filesystem::remove_all(directory_, none);
}

std::string SidecarProcess::write_file(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = std::filesystem::path{directory_} / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << content;
    return path;
}

void SidecarProcess::launch(std::optional<ProgramUser> user) {
    const std::string file = directory_ + "/log";
    std::error_code none;
    const auto size = std::filesystem::file_size(file, none);
    log_begin_ = none ? 0 : size;
    const int output = open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    std::vector<std::string> arguments{"serve"};
    arguments.insert(arguments.end(), flags_.begin(), flags_.end());
    pid_ = start_program(command_line(arguments, environment_), output, user);
    close(output);
}

void SidecarProcess::start() {
    launch();
    const auto bound = [&](const char* listener) { return !find_address(listener).empty(); };
    bool up = false;
    wait_until(
        [&] {
            up = (setting("NEXT_ID_HTTP") == "none" || bound("http") || bound("https")) &&
                 (setting("NEXT_ID_ADMIN") == "none" || bound("admin"));
            return up || ended();
        },
        patience);
    if (!up) throw std::runtime_error{"the sidecar does not start:\n" + log()};
}

void SidecarProcess::start_ready() {
    start();
    wait_until_ready();
}

void SidecarProcess::start_filled(int ids) {
    start_ready();
    if (!wait_until([&] { return status("ids_left") == std::to_string(ids); }, patience))
        throw std::runtime_error{"the window does not fill up: it holds " + status("ids_left")};
}

void SidecarProcess::wait_until_ready() {
    TestClient client{admin()};
    if (!wait_until([&] { return client.get("/readyz").status == 200; }, patience))
        throw std::runtime_error{"the sidecar does not become ready: " + client.get("/readyz").body};
}

int SidecarProcess::run_to_exit(std::optional<ProgramUser> user) {
    launch(user);
    return wait_for_exit();
}

void SidecarProcess::signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
}

bool SidecarProcess::ended() {
    int status = 0;
    if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        pid_ = -1;
    }
    return pid_ < 0;
}

int SidecarProcess::wait_for_exit(std::chrono::milliseconds deadline) {
    if (!wait_until([&] { return ended(); }, deadline)) throw std::runtime_error{"the sidecar does not end"};
    return exit_code_;
}

std::string SidecarProcess::setting(const std::string& name) const {
    const auto found = environment_.find(name);
    return found == environment_.end() ? "" : found->second;
}

std::string SidecarProcess::log() const {
    std::ifstream file{directory_ + "/log"};
    file.seekg(static_cast<std::streamoff>(log_begin_));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

bool SidecarProcess::wait_for_log(const std::string& text, std::chrono::milliseconds deadline) const {
    return wait_until([&] { return log().find(text) != std::string::npos; }, deadline);
}

// Port 0 asks for a free one; the log says which it is, as key=value or as "key":"value".
std::string SidecarProcess::address(const std::string& listener) const {
    std::string found = find_address(listener);
    if (found.empty()) throw std::logic_error{"the sidecar does not listen for " + listener};
    return found;
}

std::string SidecarProcess::find_address(const std::string& listener) const {
    std::istringstream lines{log()};
    for (std::string line; std::getline(lines, line);) {
        if (lines.eof() || line.find("listening") == std::string::npos) continue;  // half a line, or another
        for (const std::string& front : {" " + listener + "=", "\"" + listener + "\":\""})
            if (const auto at = line.find(front); at != std::string::npos)
                return line.substr(at + front.size(), line.find_last_of("0123456789") + 1 - at - front.size());
    }
    return {};
}

std::string SidecarProcess::status(const std::string& key) const {
    const std::string report = ask_admin("/status").body, front = "\"" + key + "\": ";
    const std::size_t at = report.find(front);
    if (at == std::string::npos) throw std::runtime_error{"no " + key + " in " + report};
    const std::string line = report.substr(at + front.size(), report.find('\n', at) - at - front.size());
    return line.ends_with(',') ? line.substr(0, line.size() - 1) : line;
}

ProgramResult run_next_id(const std::vector<std::string>& arguments, const Environment& environment) {
    return run_program(command_line(arguments, environment));
}

PgCluster& shared_postgres() {
    // Everybody is trusted but roles in this group, who must give a password.
    struct Shared : PgCluster {
        Shared() : PgCluster{{.hba = {"host all +guarded 127.0.0.1/32 scram-sha-256"}}} {
            psql("CREATE ROLE guarded NOLOGIN");
        }
    };
    static Shared cluster;
    return cluster;
}

std::string new_sequence(const std::string& clauses) {
    static int number = 0;
    const std::string name = "ids_" + std::to_string(++number);
    shared_postgres().psql("CREATE SEQUENCE " + name + " " + clauses);
    return name;
}

}  // namespace next_id::test
