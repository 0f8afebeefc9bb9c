#include "sidecar/refill/pg_target.h"

#include <arpa/inet.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace next_id {
namespace {

using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

const std::string* find(const PgParameters& parameters, std::string_view keyword) {
    const std::string* found = nullptr;
    for (const auto& [key, value] : parameters)
        if (key == keyword && !value.empty()) found = &value;  // the last one counts, as in libpq
    return found;
}

const PQconninfoOption* find(const Options& options, std::string_view keyword) {
    for (const PQconninfoOption* option = options.get(); option != nullptr && option->keyword != nullptr; ++option)
        if (option->keyword == keyword) return option;
    return nullptr;
}

std::string value_or_default(const PgParameters& parameters, const Options& defaults, std::string_view keyword) {
    if (const std::string* value = find(parameters, keyword)) return *value;
    const PQconninfoOption* option = find(defaults, keyword);
    return option != nullptr && option->val != nullptr ? option->val : "";
}

std::vector<std::string> split(const std::string& list) {
    if (list.empty()) return {};
    std::vector<std::string> parts{""};
    for (const char c : list) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

bool is_socket(const std::string& name) {
    return name.empty() || name[0] == '/' || name[0] == '@';
}

bool is_address(const std::string& name) {
    in6_addr scratch{};
    return inet_pton(AF_INET, name.c_str(), &scratch) == 1 || inet_pton(AF_INET6, name.c_str(), &scratch) == 1;
}

std::string counted(std::size_t number, const char* what) {
    return std::to_string(number) + " " + what;
}

}  // namespace

Expected<PgParameters> parse_conninfo(const std::string& conninfo) {
    char* libpq_error = nullptr;
    const Options options{PQconninfoParse(conninfo.c_str(), &libpq_error), &PQconninfoFree};
    PQfreemem(libpq_error);  // can quote a piece of the password, so it is not repeated
    if (options == nullptr)
        return Unexpected{std::string{
            "not a libpq connection string: write key=value pairs (host=db.example dbname=test_db; quote values that "
            "hold "
            "spaces: 'a b') or a URI (postgresql://user@db.example:5432/test_db; special characters as %40). "
            "It is not shown here, since it may hold a password"}};

    PgParameters parameters;
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option)
        if (option->val != nullptr) parameters.emplace_back(option->keyword, option->val);
    return parameters;
}

Expected<std::vector<PgHost>> hosts_of(const PgParameters& parameters) {
    const Options defaults{PQconndefaults(), &PQconninfoFree};
    const bool host_given = find(parameters, "host") != nullptr || find(parameters, "hostaddr") != nullptr;
    const auto list = [&](const char* keyword) {
        // A PGHOSTADDR in the environment belongs to PGHOST, not to a host that was configured.
        const std::string* given = find(parameters, keyword);
        return split(given != nullptr ? *given : host_given ? "" : value_or_default(parameters, defaults, keyword));
    };
    const std::vector<std::string> names = list("host"), addresses = list("hostaddr");
    const std::vector<std::string> ports = split(value_or_default(parameters, defaults, "port"));

    const std::size_t count = std::max<std::size_t>({names.size(), addresses.size(), 1});
    if (!names.empty() && !addresses.empty() && names.size() != addresses.size())
        return Unexpected{"the lists of hosts do not match: " + counted(names.size(), "in host, ") +
                          counted(addresses.size(), "in hostaddr")};
    if (ports.size() > 1 && ports.size() != count)
        return Unexpected{"the lists of hosts and ports do not match: " + counted(count, "hosts, ") +
                          counted(ports.size(), "ports; give one port, or one for each host")};

    std::vector<PgHost> hosts(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (i < names.size()) hosts[i].name = names[i];
        if (i < addresses.size()) hosts[i].address = addresses[i];
        // A numeric host is named as the address too: nothing is left for libpq to look up.
        if (hosts[i].address.empty() && is_address(hosts[i].name)) hosts[i].address = hosts[i].name;
        if (!ports.empty()) hosts[i].port = ports[ports.size() == 1 ? 0 : i];
    }
    return hosts;
}

PgEndpoint endpoint_of(const PgParameters& parameters) {
    const Options defaults{PQconndefaults(), &PQconninfoFree};
    const auto value = [&](std::string_view keyword) { return value_or_default(parameters, defaults, keyword); };
    const bool by_address = find(parameters, "host") == nullptr && find(parameters, "hostaddr") != nullptr;
    return {value(by_address ? "hostaddr" : "host"), value("port"), value("dbname"), value("user")};
}

bool needs_lookup(const PgHost& host) {
    return host.address.empty() && !is_socket(host.name);
}

PgParameters parameters_for(const PgTarget& target, const PgHost& host, const std::string& address,
                            const std::optional<std::string>& password) {
    const Options defaults{PQconndefaults(), &PQconninfoFree};
    const auto chosen = [&](const char* keyword) {
        if (find(target.parameters, keyword) != nullptr) return true;
        const PQconninfoOption* option = find(defaults, keyword);
        const char* value = option != nullptr && option->envvar != nullptr ? std::getenv(option->envvar) : nullptr;
        return value != nullptr && *value != '\0';
    };

    PgParameters parameters;
    for (const auto& [key, value] : target.parameters)
        if (key != "host" && key != "hostaddr" && key != "port" && !(key == "password" && password))
            parameters.emplace_back(key, value);
    // The name goes along with the address: TLS checks the certificate against it, and .pgpass is searched by it.
    if (!host.name.empty()) parameters.emplace_back("host", host.name);
    if (!address.empty()) parameters.emplace_back("hostaddr", address);
    if (!host.port.empty()) parameters.emplace_back("port", host.port);
    if (password) parameters.emplace_back("password", *password);

    static constexpr std::pair<const char*, const char*> ours[] = {
        {"gssencmode", "disable"},               // else libpq reads Kerberos files and asks the server first
        {"target_session_attrs", "read-write"},  // a standby cannot run nextval()
        {"fallback_application_name", "next-id"},
        {"client_encoding", "UTF8"},
        // A peer that vanished is noticed after 30 s, also while an answer is awaited past its deadline.
        {"keepalives_idle", "15"},
        {"keepalives_interval", "5"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "30000"},
    };
    for (const auto& [key, value] : ours)
        if (!chosen(key)) parameters.emplace_back(key, value);
    return parameters;
}

}  // namespace next_id
