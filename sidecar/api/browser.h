// Keeps web pages of other sites from burning IDs through a visitor's browser. Pure.
#pragma once

#include "protocol/http_request.h"

namespace next_id {

// True iff a browser says that another site's page sent the request: Sec-Fetch-Site, or an Origin that is not the Host
// asked.
bool is_cross_site(const HttpRequest& request);

}  // namespace next_id
