#include "sidecar/app/pg_source.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "sidecar/base/regular_file.h"

namespace next_id {

namespace {

constexpr std::size_t password_bytes_max = 4096;

bool names(const PgParameters& parameters, std::string_view keyword) {
    return std::ranges::any_of(parameters, [&](const auto& parameter) { return parameter.first == keyword; });
}

Expected<std::optional<std::string>> password_from_file(const std::string& path) {
    auto password = read_regular_file(path, password_bytes_max);
    if (!password) return Unexpected{"cannot read the password from PG_PASSWORD_FILE " + password.error()};
    while (password->ends_with('\n') || password->ends_with('\r')) password->pop_back();
    return std::optional{std::move(*password)};
}

std::function<Expected<std::optional<std::string>>()> password_reader(const PgPassword& password) {
    switch (password.source) {
        case PgPassword::Source::literal:
            return [text = password.text] { return Expected<std::optional<std::string>>{std::optional{text}}; };
        case PgPassword::Source::file:
            return [path = password.text] { return password_from_file(path); };
        case PgPassword::Source::none_needed:
        case PgPassword::Source::left_to_libpq:
            break;
    }
    return {};
}

// FNV-1a, 128 bits: no two configurations that differ share a window by chance.
std::string fnv1a(std::string_view text) {
    using Hash = unsigned __int128;
    Hash hash = (Hash{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
    constexpr Hash prime = (Hash{0x0000000001000000} << 64) | 0x000000000000013b;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    char digits[33];
    std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash >> 64),
                  static_cast<unsigned long long>(hash));
    return digits;
}

}  // namespace

Expected<PgTarget> pg_target_of(const Config& config) {
    PgTarget target;
    if (!config.pg_conninfo.empty()) {
        auto parsed = parse_conninfo(config.pg_conninfo);
        if (!parsed) return Unexpected{"PG_CONNINFO is " + parsed.error()};
        target.parameters = std::move(*parsed);
    }
    // What a service says shows in libpq's defaults, where hosts and ports are looked for, only if it is named there.
    for (const auto& [keyword, value] : target.parameters)
        if (keyword == "service") setenv("PGSERVICE", value.c_str(), 1);
    const bool service = names(target.parameters, "service");
    const bool password = names(target.parameters, "password");
    const bool address = names(target.parameters, "hostaddr");
    for (const PgKeyword& keyword : config.pg_keywords) {
        if (names(target.parameters, keyword.keyword) || (keyword.by_default && service)) continue;
        if (keyword.keyword == "host" && address) continue;
        target.parameters.emplace_back(keyword.keyword, keyword.value);
    }
    if (!password) target.read_password = password_reader(config.pg_password);
    target.connect_timeout = config.db_timeout;
    target.query_timeout = config.db_timeout;
    return target;
}

std::string source_digest(const PgTarget& target, const std::string& sequence) {
    std::string text = "sequence=" + sequence;
    for (const char* keyword : {"host", "hostaddr", "port", "dbname", "user", "service", "options"})
        for (const auto& [name, value] : target.parameters)
            if (name == keyword) text += '\n' + name + '=' + value;
    for (const char* variable : {"PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGOPTIONS"})
        if (const char* value = std::getenv(variable)) text += std::string{'\n'} + variable + '=' + value;
    return fnv1a(text);
}

}  // namespace next_id
