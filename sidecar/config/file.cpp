// The settings file. The flavour of INI that systemd's EnvironmentFile and pgbouncer share, without sections; a value
// goes to the end of its line as it is, so that a password may hold any character.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "sidecar/base/escape.h"
#include "sidecar/config/given.h"

namespace next_id {
namespace {

constexpr std::streamsize file_bytes_max = 64 * 1024;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Unexpected<ConfigError> refused(std::string sentence) {
    return Unexpected{ConfigError{ExitCode::cannot_work, std::move(sentence)}};
}

Expected<std::string, ConfigError> read_text(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text(file_bytes_max + 1, '\0');
    if (file) file.read(text.data(), std::streamsize(text.size()));
    if (!file.eof() && file.gcount() <= file_bytes_max)
        return refused("the settings file \"" + escape_text(path) + "\" cannot be read: " + std::strerror(errno));
    text.resize(std::size_t(file.gcount()));
    if (file.gcount() > file_bytes_max)
        return refused("the settings file \"" + escape_text(path) + "\" is longer than the " +
                       std::to_string(file_bytes_max) + " bytes that are allowed");
    return text;
}

}  // namespace

Expected<GivenSettings, ConfigError> read_settings_file(const std::string& path) {
    auto text = read_text(path);
    if (!text) return Unexpected{text.error()};
    GivenSettings given;
    std::istringstream lines{*text};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::string place = escape_text(path) + ":" + std::to_string(++number) + ": ";
        const std::string_view content = trimmed(line);
        if (content.empty() || content.front() == '#') continue;
        // A line that is not understood is not repeated: it may be half a password.
        const auto equals = content.find('=');
        if (equals == std::string_view::npos || content.find('\0') != std::string_view::npos)
            return refused(place + "a line is a comment that begins with #, or `name = value`; there are no sections");
        const std::string name{trimmed(content.substr(0, equals))};
        const Setting* setting = find_setting(name);
        if (!setting || name == "config")
            return refused(place + "\"" + escape_text(name) +
                           "\" is no setting of the file; names are those of the flags, without dashes before them");
        const auto [entry, is_new] =
            given.emplace(setting, Given{Layer::file, place + name, std::string{trimmed(content.substr(equals + 1))}});
        if (!is_new)
            return refused(entry->second.place + " is given a second time on line " + std::to_string(number) +
                           "; once is allowed");
    }
    return given;
}

}  // namespace next_id
