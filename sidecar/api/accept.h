// The Accept header, as far as it chooses between JSON, plain text and, for browsers, HTML. Pure.
#pragma once

#include <string_view>

namespace next_id {

// True iff the client prefers text/plain strictly to application/json (RFC 9110, 12.5.1). Some clients name both: they
// get JSON.
bool prefers_text(std::string_view accept);

// True iff the client prefers text/html strictly to both: browsers do, programs that take anything do not.
bool prefers_html(std::string_view accept);

}  // namespace next_id
