#include "tests/support/load.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/run_program.h"

namespace next_id::test {
namespace {

// Of a line of key=value.
std::uint64_t number_in(const std::string& line, const std::string& key) {
    const std::size_t at = line.find(" " + key + "=");
    if (at == std::string::npos) throw std::runtime_error{"no " + key + " in " + line};
    return std::stoull(line.substr(at + key.size() + 2));
}

}  // namespace

Load::Load(const std::string& address, int connections, double seconds, int rate) {
    char name[] = "/tmp/next-id-load.XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::runtime_error{"cannot make a directory in /tmp"};
    directory_ = name;
    const int output = open((directory_ + "/output").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    pid_ = start_program({NEXT_ID_LOAD, address, "--connections", std::to_string(connections), "--seconds",
                          std::to_string(seconds), "--rate", std::to_string(rate), "--ids", directory_ + "/ids"},
                         output);
    close(output);
}

Load::~Load() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    std::error_code none;
    std::filesystem::remove_all(directory_, none);
}

Load::Result Load::wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    std::ostringstream line;
    line << std::ifstream{directory_ + "/output"}.rdbuf();
    if (status != 0) throw std::runtime_error{"the load generator failed: " + line.str()};
    return {number_in(line.str(), "done"), number_in(line.str(), "non_200"), number_in(line.str(), "lost")};
}

std::vector<std::int64_t> Load::ids() const {
    std::vector<std::int64_t> ids;
    std::ifstream file{directory_ + "/ids"};
    for (std::int64_t id; file >> id;) ids.push_back(id);
    return ids;
}

std::size_t count_repeated(std::vector<std::int64_t> ids) {
    std::sort(ids.begin(), ids.end());
    return static_cast<std::size_t>(ids.end() - std::unique(ids.begin(), ids.end()));
}

}  // namespace next_id::test
