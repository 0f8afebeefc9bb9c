#include "sidecar/api/accept.h"

#include <array>
#include <charconv>

#include "protocol/ascii.h"

namespace next_id {

namespace {

std::string_view trim(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

// Cuts off and returns what stands before the separator.
std::string_view next_part(std::string_view& rest, char separator) {
    const std::string_view part = rest.substr(0, rest.find(separator));
    rest.remove_prefix(part.size() == rest.size() ? part.size() : part.size() + 1);
    return trim(part);
}

double quality_of(std::string_view parameters) {
    while (!parameters.empty()) {
        std::string_view value = next_part(parameters, ';');
        if (!equals_ignoring_case(next_part(value, '='), "q")) continue;
        double quality = 0;
        std::from_chars(value.data(), value.data() + value.size(), quality);
        return quality >= 0 && quality <= 1 ? quality : 0;
    }
    return 1;
}

// The quality of a media type: that of the most specific range that names it, 0 when none does.
class Preference {
 public:
    constexpr Preference(std::string_view exact, std::string_view family) : names_{"*/*", family, exact} {}

    void consider(std::string_view range, double quality) {
        for (std::size_t specific = names_.size(); specific-- > 0;)
            if (equals_ignoring_case(range, names_[specific]) && specific >= level_) {
                level_ = specific;
                quality_ = quality;
                return;
            }
    }
    double quality() const { return quality_; }

 private:
    std::array<std::string_view, 3> names_;
    std::size_t level_ = 0;
    double quality_ = 0;
};

constexpr Preference any_json{"application/json", "application/*"};
constexpr Preference any_text{"text/plain", "text/*"};
constexpr Preference any_html{"text/html", "text/*"};
constexpr Preference any_xhtml{"application/xhtml+xml", "application/*"};

double quality_in(std::string_view accept, Preference preference) {
    while (!accept.empty()) {
        std::string_view parameters = next_part(accept, ',');
        const std::string_view range = next_part(parameters, ';');
        preference.consider(range, quality_of(parameters));
    }
    return preference.quality();
}

}  // namespace

bool prefers_text(std::string_view accept) {
    return quality_in(accept, any_text) > quality_in(accept, any_json);
}

// Java's HttpURLConnection prefers HTML, too, but unlike a browser it names no XHTML, and takes anything else.
bool prefers_html(std::string_view accept) {
    const double html = quality_in(accept, any_html), json = quality_in(accept, any_json);
    return html > json && html > quality_in(accept, any_text) && (json == 0 || quality_in(accept, any_xhtml) > json);
}

}  // namespace next_id
