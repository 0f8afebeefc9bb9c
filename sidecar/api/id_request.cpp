#include "sidecar/api/id_request.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sidecar/api/accept.h"
#include "sidecar/api/browser.h"
#include "sidecar/api/target.h"

namespace next_id {

namespace {

constexpr std::string_view route = "/next-id";
constexpr std::size_t quoted_bytes_max = 60;  // of what a client sent, in an error

// What nearly all clients say who take JSON.
bool takes_json(std::string_view accept) {
    return accept.empty() || accept == "*/*" || accept == "application/json";
}

Refusal bad_request(std::string error) {
    return {400, std::move(error), {}};
}

Expected<std::size_t, Refusal> read_route(std::string_view path, const Catalog& catalog) {
    if (path == route) return std::size_t{0};
    const auto unknown = [&] {
        return Unexpected{
            Refusal{404, "no such path: " + quoted(path) + ". IDs are at /next-id and /next-id/{sequence}", {}}};
    };
    if (!path.starts_with("/next-id/")) return unknown();
    const auto name = percent_decode(path.substr(route.size() + 1), false);
    if (!name || name->empty()) return unknown();
    const auto found = find_sequence(*name, catalog);
    if (!found) return Unexpected{Refusal{404, found.error(), {}}};
    return *found;
}

// The words of the format parameter; false when one is unknown or they do not go together.
bool read_format(std::string_view value, Format& format) {
    if (value == "json") return true;
    if (value == "text") return format.text = true;
    bool ranges = false, strings = false;
    for (;;) {
        const std::string_view word = value.substr(0, value.find(','));
        bool& flag = word == "ranges" ? ranges : strings;
        if ((word != "ranges" && word != "string") || flag) return false;
        flag = true;
        if (word.size() == value.size()) break;
        value.remove_prefix(word.size() + 1);
    }
    format.strings = strings;
    if (ranges) format.layout = Layout::ranges;
    return true;
}

struct Parameters {
    std::optional<std::string> count, format;
};

Expected<Parameters, Refusal> read_parameters(std::string_view query) {
    const auto pairs = split_query(query);
    if (!pairs) return Unexpected{bad_request("the query has a % that is not followed by two hexadecimal digits")};
    Parameters parameters;
    for (const auto& [name, value] : *pairs) {
        if (name != "count" && name != "format")
            return Unexpected{bad_request("unknown parameter " + quoted(name) + ": there are count and format")};
        auto& slot = name == "count" ? parameters.count : parameters.format;
        if (slot) return Unexpected{bad_request("the parameter " + name + " is given twice")};
        slot = value;
    }
    return parameters;
}

Expected<std::uint64_t, Refusal> read_count(std::string_view text, std::uint64_t max) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count == 0 || count > max)
        return Unexpected{
            bad_request("count must be a whole number from 1 to " + std::to_string(max) + ", not " + quoted(text))};
    return count;
}

}  // namespace

std::string quoted(std::string_view text) {
    return "'" + std::string{text.substr(0, quoted_bytes_max)} + (text.size() > quoted_bytes_max ? "...'" : "'");
}

Expected<std::size_t> find_sequence(std::string_view name, const Catalog& catalog) {
    const auto found = std::ranges::find(catalog.sequences, name);
    if (found != catalog.sequences.end()) return static_cast<std::size_t>(found - catalog.sequences.begin());
    std::string names;
    for (const std::string& configured : catalog.sequences) names += (names.empty() ? "" : ", ") + configured;
    return Unexpected{"no such sequence: " + quoted(name) + ". Configured: " + names};
}

Expected<IdRequest, Refusal> read_id_request(const HttpRequest& request, const Catalog& catalog) {
    if (is_cross_site(request))
        return Unexpected{Refusal{403, "a page of another site may not take IDs through a browser", {}}};
    if (request.target == route && request.method == HttpRequest::Method::get && takes_json(request.accept))
        return IdRequest{};
    const Target target = split_target(request.target);
    const auto sequence = read_route(target.path, catalog);
    if (!sequence) return Unexpected{sequence.error()};
    if (request.method == HttpRequest::Method::other)
        return Unexpected{Refusal{405, "IDs are taken with GET or POST", "GET, HEAD, POST"}};

    IdRequest wanted{.sequence = *sequence};
    const auto parameters = read_parameters(target.query);
    if (!parameters) return Unexpected{parameters.error()};
    if (parameters->format) {
        if (!read_format(*parameters->format, wanted.format))
            return Unexpected{bad_request("unknown format " + quoted(*parameters->format) +
                                          ": there are json, string, text, ranges, and ranges,string")};
    } else if (!request.accept.empty()) {
        wanted.format.text = prefers_text(request.accept);
    }
    if (parameters->count) {
        const bool ranges = wanted.format.layout == Layout::ranges;
        const auto count =
            read_count(*parameters->count, std::min(ranges ? count_ranges_max : count_ids_max, catalog.count_max));
        if (!count) return Unexpected{count.error()};
        wanted.count = *count;
        if (!ranges) wanted.format.layout = Layout::ids;
    }
    return wanted;
}

}  // namespace next_id
