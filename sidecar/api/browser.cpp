#include "sidecar/api/browser.h"

namespace next_id {

bool is_cross_site(const HttpRequest& request) {
    if (request.sec_fetch_site == "cross-site") return true;
    if (request.origin.empty()) return false;
    const std::size_t scheme_end = request.origin.find("://");  // "null" has none, and is foreign
    return scheme_end == std::string_view::npos || request.origin.substr(scheme_end + 3) != request.host;
}

}  // namespace next_id
