// The names in PG_SEQUENCE, read as PostgreSQL's regclass will read them: an unquoted part is folded to lower case, a
// quoted one is not.
#include <algorithm>

#include "sidecar/base/escape.h"
#include "sidecar/config/values.h"

namespace next_id {
namespace {

constexpr std::string_view space = " \t";

void skip_space(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(space), rest.size()));
}

bool take(std::string_view& rest, char wanted) {
    const bool there = rest.starts_with(wanted);
    if (there) rest.remove_prefix(1);
    return there;
}

std::string take_unquoted(std::string_view& rest) {
    std::string part{rest.substr(0, rest.find_first_of(".,\" \t"))};
    rest.remove_prefix(part.size());
    for (char& byte : part)
        if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
    return part;
}

// Behind the opening quote. Empty when the closing one is missing; a quote is written twice.
std::string take_quoted(std::string_view& rest) {
    std::string part;
    for (;;) {
        const std::size_t quote = rest.find('"');
        if (quote == std::string_view::npos) return {};
        part += rest.substr(0, quote);
        rest.remove_prefix(quote + 1);
        if (!take(rest, '"')) return part;
        part += '"';
    }
}

// name or schema.name, as PostgreSQL will know it; empty when that cannot be.
std::vector<std::string> take_name(std::string_view& rest) {
    std::vector<std::string> parts;
    do {
        parts.push_back(take(rest, '"') ? take_quoted(rest) : take_unquoted(rest));
        if (parts.back().empty() || parts.back().size() > pg_identifier_bytes_max || parts.size() > 2) return {};
    } while (take(rest, '.'));
    return parts;
}

}  // namespace

Expected<std::vector<std::string>> parse_sequences(std::string_view text) {
    const Unexpected refused{"at most " + std::to_string(sequences_max) +
                             " comma-separated names, each a name, schema.name or \"Quoted Name\" with parts of 1 to " +
                             std::to_string(pg_identifier_bytes_max) + " bytes"};
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> known;
    std::string_view rest = text;
    do {
        skip_space(rest);
        const std::string_view from_here = rest;
        auto name = take_name(rest);
        if (name.empty()) return refused;
        std::string as_given{from_here.substr(0, from_here.size() - rest.size())};
        if (std::find(known.begin(), known.end(), name) != known.end())
            return Unexpected{"each name once, and " + escape_text(as_given) + " is there twice"};
        known.push_back(std::move(name));
        names.push_back(std::move(as_given));
        skip_space(rest);
    } while (take(rest, ','));
    if (!rest.empty() || names.size() > sequences_max) return refused;
    return names;
}

}  // namespace next_id
