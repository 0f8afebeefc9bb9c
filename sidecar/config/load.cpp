#include "sidecar/config/load.h"

#include <algorithm>
#include <cstdlib>

#include "sidecar/base/escape.h"
#include "sidecar/config/given.h"

namespace next_id {
namespace {

// The path of the settings file, empty when there is none.
std::string settings_file(const Flags& flags, const Environment& environment) {
    const Setting& setting = *find_setting("config");
    if (const auto flag = flags.find(setting.name); flag != flags.end()) return flag->second;
    const char* variable = environment(std::string{setting.environment});
    return variable ? variable : "";
}

// Every setting that `command` takes, from the highest layer that has it. Those with neither value nor default are left
// out.
Expected<GivenSettings, ConfigError> collect(Command command, const Flags& flags, const Environment& environment) {
    GivenSettings in_file;
    if (const std::string path = settings_file(flags, environment); !path.empty()) {
        auto read = read_settings_file(path);
        if (!read) return Unexpected{read.error()};
        in_file = std::move(*read);
    }
    GivenSettings given;
    for (const Setting& setting : settings()) {
        if (!setting.is_for(command)) continue;
        const std::string variable{setting.environment};
        if (const auto flag = flags.find(setting.name); flag != flags.end())
            given[&setting] = {Layer::flag, setting.flag(), flag->second};
        else if (const char* value = environment(variable))
            given[&setting] = {Layer::environment, variable, value};
        else if (const auto line = in_file.find(&setting); line != in_file.end())
            given[&setting] = line->second;
        else if (setting.fallback && !left_to_libpq(setting, environment))
            given[&setting] = {Layer::fallback, setting.flag() + " (the default)", setting.fallback};
    }
    return given;
}

Expected<Config, ConfigError> store_all(const GivenSettings& given) {
    Config config;
    for (const Setting& setting : settings()) {  // in the table's order
        const auto entry = given.find(&setting);
        if (entry == given.end()) continue;
        const std::size_t keywords_before = config.pg_keywords.size();
        const auto stored = setting.store(entry->second.text, config);
        if (!stored) return Unexpected{wrong_value(setting, entry->second, stored.error())};
        if (entry->second.text.empty() && !setting.traits.may_be_empty)
            return Unexpected{
                wrong_value(setting, entry->second, "a value that is not empty (leave it out for the default)")};
        if (config.pg_keywords.size() > keywords_before)
            config.pg_keywords.back().by_default = entry->second.layer == Layer::fallback;
    }
    return config;
}

std::string said(const GivenSettings& given, std::string_view name) {
    const Given& one = given.at(find_setting(name));
    return one.place + " is " + escape_text(one.text);
}

// What each setting allows by itself, but not together. Empty when all is well.
std::string contradiction(const Config& config, const GivenSettings& given) {
    if (!config.http && !config.resp && !config.socket_path)
        return said(given, "http") + ", " + said(given, "resp") + " and " + said(given, "socket") +
               ", but one of them must be on";
    if (config.tls_cert.empty() != config.tls_key.empty())
        return said(given, config.tls_cert.empty() ? "tls-key" : "tls-cert") + ", but " +
               (config.tls_cert.empty() ? "--tls-cert" : "--tls-key") + " is not given: TLS needs both";
    if (!config.tls_client_ca.empty() && config.tls_cert.empty())
        return said(given, "tls-client-ca") + ", but --tls-cert and --tls-key are not given: TLS needs them too";
    if (!config.tls_cert.empty() && !config.http && !config.resp)
        return said(given, "tls-cert") + ", " + said(given, "http") + " and " + said(given, "resp") +
               ", but TLS is for HTTP and RESP over TCP";
    if (config.window_ids_min > config.window_ids_max)
        return said(given, "window-min") + " and " + said(given, "window-max") +
               ", but the least must not be above the most";
    if (!config.window_share.empty() && config.order == Order::strict)
        return said(given, "window-share") + " and " + said(given, "order") +
               ", but strict order reserves nothing ahead, so there is no window to share";
    if (config.http && config.http == config.admin && config.http->port != 0)
        return said(given, "http") + " and " + said(given, "admin") + ", but each needs an address of its own";
    if (config.socket_auth && config.token_file.empty())
        return said(given, "socket-auth") + ", but no --token-file says which tokens there are";
    if (!config.rate && (config.burst != 0 || config.rate_ids))
        return said(given, config.rate_ids ? "rate-ids" : "burst") + ", but there is no --rate to go with it";
    using Years = std::chrono::duration<double, std::chrono::years::period>;
    if (config.rate && Years{config.rate->period} * double(config.burst) / double(config.rate->count) > Years{1})
        return said(given, "burst") + " and " + said(given, "rate") + ", but a burst for more than a year is no limit";
    return {};
}

// get goes over the socket, where it needs no port and no token. Over TCP only when told so: by --http on its own
// command line, or by http given anywhere while the socket is off. (NEXT_ID_HTTP alone configures the sidecar in the
// same container, it is no such wish.)
void choose_way(Config& config, const GivenSettings& given) {
    const Layer http = given.at(find_setting("http")).layer;
    if (http == Layer::flag && config.http && given.at(find_setting("socket")).layer != Layer::flag)
        config.socket_path.reset();
    if (config.socket_path || http == Layer::fallback) config.http.reset();
}

}  // namespace

ConfigError wrong_value(const Setting& setting, const Given& given, const std::string& allowed) {
    const std::string what = setting.traits.secret ? " is wrong, it" : " is \"" + escape_text(given.text) + "\", but";
    return {given.layer == Layer::flag ? ExitCode::wrong_usage : ExitCode::cannot_work,
            given.place + what + " takes " + allowed};
}

Environment process_environment() {
    return [](const std::string& name) { return std::getenv(name.c_str()); };
}

std::vector<std::string> unknown_variables(const char* const* environment) {
    std::vector<std::string> unknown;
    for (; *environment != nullptr; ++environment) {
        const std::string_view variable = *environment, name = variable.substr(0, variable.find('='));
        const auto holds = [&](std::string_view part) { return name.find(part) != name.npos; };
        if (!name.starts_with("NEXT_ID_") || holds("_SERVICE_") || holds("_PORT_") || name.ends_with("_PORT")) continue;
        if (std::ranges::find(settings(), name, &Setting::environment) == settings().end()) unknown.emplace_back(name);
    }
    return unknown;
}

Expected<Config, ConfigError> load_config(Command command, const Flags& flags, const Environment& environment) {
    const auto given = collect(command, flags, environment);
    if (!given) return Unexpected{given.error()};
    auto config = store_all(*given);
    if (!config) return config;
    if (command == Command::get) {
        choose_way(*config, *given);
        if (!config->http && !config->socket_path)
            return Unexpected{ConfigError{ExitCode::cannot_work,
                                          said(*given, "socket") + ", so --http must say where to ask instead"}};
    }
    if (command != Command::serve) return config;
    if (std::string sentence = contradiction(*config, *given); !sentence.empty())
        return Unexpected{ConfigError{ExitCode::cannot_work, std::move(sentence)}};
    auto password = find_password(*config, *given, environment);
    if (!password) return Unexpected{password.error()};
    config->pg_password = std::move(*password);
    return config;
}

Config default_config() {
    auto config =
        load_config(Command::serve, {}, [](const std::string& name) { return name == "PG_PASSWORD" ? "" : nullptr; });
    return *config;
}

}  // namespace next_id
