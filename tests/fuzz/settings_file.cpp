// A settings file of any bytes is refused in one printable sentence without a secret, or gives a configuration that
// keeps to all that its types allow. And the values by themselves.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "sidecar/config/load.h"
#include "sidecar/config/values.h"
#include "tests/fuzz/targets.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view secret = "hunter2";

class SettingsFile {
 public:
    SettingsFile() {
        std::string pattern = "/dev/shm/next-id-fuzz-XXXXXX";
        promised(::mkdtemp(pattern.data()) != nullptr, "there is a tmpfs");
        directory_ = pattern;
    }
    ~SettingsFile() { std::filesystem::remove_all(directory_); }
    SettingsFile(const SettingsFile&) = delete;

    Expected<Config, ConfigError> load(std::string_view text) const {
        const std::string path = directory_ + "/next-id.conf";
        std::ofstream{path, std::ios::binary} << text;
        return load_config(Command::serve, {{"config", path}}, [](const std::string&) { return nullptr; });
    }

 private:
    std::string directory_;
};

// True iff the secret stands nowhere but in the values of the settings that may hold one.
bool keeps_its_secret(std::string_view text) {
    for (std::size_t at = 0; (at = text.find(secret, at)) != text.npos; at += secret.size()) {
        const std::size_t line_at = text.rfind('\n', at) + 1;
        std::string_view name = text.substr(line_at, text.find('=', line_at) - line_at);
        name = name.substr(0, name.find_last_not_of(" \t") + 1);
        if (name != "pg-password" && name != "pg-conninfo") return false;
    }
    return true;
}

bool is_within(std::chrono::milliseconds value, std::chrono::milliseconds least, std::chrono::milliseconds most) {
    return value >= least && value <= most;
}

void check(const Config& config) {
    promised(config.http || config.socket_path, "somebody can reach it");
    promised(!config.socket_path ||
                 (config.socket_path->front() == '/' && config.socket_path->size() <= socket_path_bytes_max),
             "a socket has a path that fits");
    promised(config.socket_mode <= 0777 && config.threads >= 1 && config.threads <= 64,
             "modes and threads are in bounds");
    promised(config.state_dir.starts_with('/'), "the state has an absolute path");
    promised(config.window_ids_min >= 1 && config.window_ids_min <= config.window_ids_max, "the window has a size");
    promised(is_within(config.reserve, 1s, 1h) && is_within(config.wait_max, 0s, 1min) &&
                 is_within(config.db_timeout, 100ms, 10min) && is_within(config.db_idle_close, 0s, 1h) &&
                 is_within(config.drain_max, 0s, 10min),
             "every duration is in its bounds");
    promised(!config.pg_sequences.empty() && config.pg_sequences.size() <= sequences_max, "there are sequences");
    const std::set<std::string> different(config.pg_sequences.begin(), config.pg_sequences.end());
    promised(different.size() == config.pg_sequences.size(), "each sequence is named once");
    for (const std::string& name : config.pg_sequences)
        promised(!name.empty() && name.find('\0') == name.npos, "a sequence has a name");
}

void check_value(std::string_view text) {
    if (const auto duration = parse_duration(text, 1s, 10min)) {
        promised(is_within(*duration, 1s, 10min), "a duration is in its bounds");
        const auto again = parse_duration(format_duration(*duration), 1s, 10min);
        promised(again && *again == *duration, "a duration that is written out means the same");
    }
    if (const auto address = parse_address(text); address && *address)
        promised(!(*address)->host.empty() && (*address)->host.find('\0') == std::string::npos,
                 "an address has a host");
    if (const auto number = parse_whole(text, -5, 1000))
        promised(*number >= -5 && *number <= 1000, "a number is in its bounds");
    if (const auto mode = parse_mode(text)) promised(*mode <= 0777, "a mode is one of permissions");
    if (const auto port = parse_pg_port(text))
        promised(parse_pg_port(*port).has_value(), "a port is one when written out");
    if (const auto names = parse_sequences(text)) {
        std::string again;
        for (const std::string& name : *names) again += (again.empty() ? "" : " , ") + name;
        const auto reread = parse_sequences(again);
        promised(reread && *reread == *names, "sequences that are written out are the same");
    }
}

}  // namespace

void fuzz_settings_file(std::string_view bytes) {
    static const SettingsFile file;
    check_value(bytes.substr(0, bytes.find('\n')));
    const auto config = file.load(bytes);
    if (config) {
        check(*config);
        promised(file.load(std::string{bytes} + "\n\n # and a comment\n").has_value(), "a comment changes nothing");
        return;
    }
    const std::string& sentence = config.error().sentence;
    promised(!sentence.empty() && sentence.size() < 70'000, "a refusal says why");
    for (const char c : sentence)
        promised(static_cast<unsigned char>(c) >= ' ' && c != 0x7f, "a refusal is one line: ", sentence);
    promised(!keeps_its_secret(bytes) || sentence.find(secret) == sentence.npos, "no secret is told: ", sentence);
}

}  // namespace next_id::test
