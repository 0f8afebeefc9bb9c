// How to log in to PostgreSQL, as far as it shows before connecting: to start, and then fail at every request, helps
// nobody.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sidecar/config/given.h"

namespace next_id {
namespace {

bool is_there(const Environment& environment, const std::string& name) {
    const char* value = environment(name);
    return value && *value;
}

const Given* find(const GivenSettings& given, std::string_view name) {
    const auto found = given.find(find_setting(name));
    return found == given.end() || found->second.layer == Layer::fallback ? nullptr : &found->second;
}

// Over a Unix socket, peer or trust is what PostgreSQL's packages set up; where the server wants a password after all,
// its own answer says so. Only a host that is nothing but sockets counts, since libpq takes several.
bool is_unix_socket(std::string_view hosts) {
    const auto names_socket = [](std::string_view host) { return host.starts_with('/') || host.starts_with('@'); };
    for (;;) {
        const auto comma = hosts.find(',');
        if (!names_socket(hosts.substr(0, comma))) return false;
        if (comma == std::string_view::npos) return true;
        hosts.remove_prefix(comma + 1);
    }
}

// libpq finds these two by itself. (It asks the password database when HOME is not set; a container has neither.)
bool has_login_files(const Environment& environment) {
    if (!is_there(environment, "HOME")) return false;
    const std::filesystem::path home{environment("HOME")};
    std::error_code unreadable;  // as good as not there
    return std::filesystem::exists(home / ".pgpass", unreadable) ||
           std::filesystem::exists(home / ".postgresql/postgresql.crt", unreadable);
}

// Whether something other than PG_PASSWORD and PG_PASSWORD_FILE names a way to log in.
bool other_way_named(const Config& config, const Environment& environment) {
    if (!config.pg_conninfo.empty()) return true;
    for (const char* variable : {"PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSSLCERT"})
        if (is_there(environment, variable)) return true;
    const auto host = std::find_if(config.pg_keywords.begin(), config.pg_keywords.end(),
                                   [](const PgKeyword& one) { return one.keyword == "host"; });
    if (host != config.pg_keywords.end() && is_unix_socket(host->value)) return true;
    if (host == config.pg_keywords.end() && is_there(environment, "PGHOST") && is_unix_socket(environment("PGHOST")))
        return true;
    return has_login_files(environment);
}

Expected<PgPassword, ConfigError> from_file(const Given& file) {
    std::error_code problem;
    const bool is_directory = std::filesystem::is_directory(file.text, problem);
    if (!is_directory && access(file.text.c_str(), R_OK) == 0) return PgPassword{PgPassword::Source::file, file.text};
    const std::string why = std::strerror(is_directory ? EISDIR : errno);
    return Unexpected{wrong_value(*find_setting("pg-password-file"), file, "a file that can be read (" + why + ")")};
}

}  // namespace

bool left_to_libpq(const Setting& setting, const Environment& environment) {
    if (setting.traits.libpq_variable.empty()) return false;
    // A service names hosts, users and databases in a file that libpq reads; and with an address, libpq needs no host.
    return is_there(environment, std::string{setting.traits.libpq_variable}) || is_there(environment, "PGSERVICE") ||
           (setting.traits.libpq_variable == "PGHOST" && is_there(environment, "PGHOSTADDR"));
}

Expected<PgPassword, ConfigError> find_password(const Config& config, const GivenSettings& given,
                                                const Environment& environment) {
    using Source = PgPassword::Source;
    const Given* password = find(given, "pg-password");
    const Given* file = find(given, "pg-password-file");
    if (password && file && password->layer == file->layer)
        return Unexpected{ConfigError{ExitCode::cannot_work,
                                      password->place + " and " + file->place + " are both set; one is allowed"}};
    if (file && (!password || file->layer > password->layer)) return from_file(*file);
    if (password) return PgPassword{password->text.empty() ? Source::none_needed : Source::literal, password->text};
    if (other_way_named(config, environment)) return PgPassword{};
    return Unexpected{
        ConfigError{ExitCode::cannot_work,
                    "PG_PASSWORD not set: set it to the password, or PG_PASSWORD_FILE to a file that holds it, or set "
                    "PG_PASSWORD= (empty) when none is needed (peer, a certificate, .pgpass)"}};
}

}  // namespace next_id
