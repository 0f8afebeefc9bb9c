// What is spoken on a connection: bytes to requests, requests to answers. Owned by the connection, on its thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/http_request.h"

namespace next_id {

class Session {
 public:
    enum class Outcome : std::uint8_t {
        need_more,  // the bytes hold no further whole request; all of them are consumed
        answered,
        parked,   // its answer comes later, by the connection's resume()
        refused,  // what came is no request, and is answered by an error; where the next one would begin is not known
    };

    virtual ~Session() = default;

    // Takes the first request off the front of `bytes` and appends its answer to `out`. `last`: the connection will be
    // closed behind this answer; the request may set it, too.
    virtual Outcome answer_one(std::string_view& bytes, bool& last, std::string& out) = 0;

    // Appends why the connection is not served.
    virtual void refuse(const HttpError& error, std::string& out) = 0;

    // True iff a request has begun to come, and not ended.
    virtual bool mid_request() const = 0;

    // Nobody waits any more for the answer to the parked request.
    virtual void forget() = 0;
};

}  // namespace next_id
