#include "sidecar/config/values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace next_id {
namespace {

using std::chrono::milliseconds;

// The whole of `text` as a number, nothing before, after or between.
std::optional<std::int64_t> to_number(std::string_view text, int base = 10) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number, base);
    if (text.empty() || problem != std::errc{} || stop != end) return std::nullopt;
    return number;
}

bool is_ip(const std::string& host, int family) {
    in6_addr address;
    return inet_pton(family, host.c_str(), &address) == 1;
}

struct Unit {
    std::string_view name;
    std::int64_t ms;
};
constexpr std::array units{Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1000}, Unit{"ms", 1}};

}  // namespace

Expected<std::int64_t> parse_whole(std::string_view text, std::int64_t least, std::int64_t most) {
    const auto number = to_number(text);
    if (!number || *number < least || *number > most)
        return Unexpected{"a whole number from " + std::to_string(least) + " to " + std::to_string(most)};
    return *number;
}

Expected<milliseconds> parse_duration(std::string_view text, milliseconds least, milliseconds most) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = to_number(text.substr(0, digits));
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.name == text.substr(digits); });
    // Compared by division: the product could overflow.
    if (number && unit != units.end() && *number <= most.count() / unit->ms && *number * unit->ms >= least.count())
        return milliseconds{*number * unit->ms};
    return Unexpected{"a duration from " + format_duration(least) + " to " + format_duration(most) +
                      ", such as 500ms, 5s or 2m"};
}

std::string format_duration(milliseconds duration) {
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const Unit& one) { return duration.count() % one.ms == 0; });
    return duration.count() == 0 ? "0s" : std::to_string(duration.count() / unit->ms) + std::string{unit->name};
}

Expected<std::optional<Rate>> parse_rate(std::string_view text) {
    if (text == "none") return std::optional<Rate>{};
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto count = parse_whole(text.substr(0, slash), 1, rate_most);
    const std::string_view period = text.substr(slash);
    if (count)
        for (const Unit& unit : units)
            if (period.starts_with('/') && period.substr(1) == unit.name && unit.ms >= 1000)
                return std::optional{Rate{static_cast<std::uint64_t>(*count), milliseconds{unit.ms}}};
    return Unexpected{std::string{"a whole number and a time, such as 100/s, 600/m or 1000/h, or none"}};
}

Expected<std::int64_t> parse_whole_or_none(std::string_view text, std::int64_t least, std::int64_t most) {
    if (text == "none") return std::int64_t{0};
    auto number = parse_whole(text, least, most);
    return number ? number : Unexpected{number.error() + ", or none"};
}

Expected<std::vector<std::uint32_t>> parse_uids(std::string_view text) {
    std::vector<std::uint32_t> uids;
    for (;;) {
        const std::string_view part = text.substr(0, text.find(','));
        const auto uid = parse_whole(part, 0, std::numeric_limits<std::uint32_t>::max() - 1);
        if (!uid) return Unexpected{std::string{"numbers of users, comma-separated, such as 1000 or 0,1000"}};
        uids.push_back(static_cast<std::uint32_t>(*uid));
        if (part.size() == text.size()) return uids;
        text.remove_prefix(part.size() + 1);
    }
}

Expected<std::optional<HostPort>> parse_address(std::string_view text) {
    if (text == "none") return std::optional<HostPort>{};
    const Unexpected refused{
        std::string{"an IP address and a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080, or none"}};
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return refused;
    std::string host{text.substr(0, colon)};
    const auto port = parse_whole(text.substr(colon + 1), 0, 65535);
    if (!port) return refused;
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host.find('\0') != std::string::npos || !is_ip(host, bracketed ? AF_INET6 : AF_INET)) return refused;
    return std::optional{HostPort{host, static_cast<std::uint16_t>(*port)}};
}

Expected<std::optional<std::string>> parse_socket_path(std::string_view text) {
    if (text == "none") return std::optional<std::string>{};
    if (text.empty() || text.front() != '/' || text.back() == '/' || text.size() > socket_path_bytes_max)
        return Unexpected{"an absolute path of at most " + std::to_string(socket_path_bytes_max) +
                          " bytes (the system has room for no longer name of a socket), or none"};
    return std::optional{std::string{text}};
}

Expected<std::string> parse_directory(std::string_view text) {
    if (text.empty() || text.front() != '/') return Unexpected{std::string{"the absolute path of a directory"}};
    return std::string{text};
}

Expected<unsigned> parse_mode(std::string_view text) {
    const auto mode = to_number(text, 8);
    if (!mode || *mode < 0 || *mode > 0777)
        return Unexpected{std::string{"an octal number from 0000 to 0777, such as 0660"}};
    return static_cast<unsigned>(*mode);
}

Expected<std::string> parse_pg_port(std::string_view text) {
    if (auto port = parse_whole(text, 1, 65535)) return std::to_string(*port);
    std::string allowed = "a port from 1 to 65535";
    if (text.starts_with("tcp://"))
        allowed +=
            "; this value was set by Kubernetes, for a Service that is named pg: set PG_PORT in the container "
            "yourself, "
            "or enableServiceLinks: false in the pod, or give the Service another name";
    return Unexpected{allowed};
}

}  // namespace next_id
