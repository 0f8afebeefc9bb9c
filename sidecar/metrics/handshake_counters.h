// What became of the TLS handshakes of a listener. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sidecar/metrics/counter.h"

namespace next_id {

class HandshakeCounters {
 public:
    enum class Result : std::uint8_t {
        ok,
        failed,     // the two do not agree, or the client's certificate will not do
        plain,      // the client speaks something else: HTTP without TLS
        abandoned,  // the connection ended before the handshake did
    };
    static constexpr std::array result_names{"ok", "failed", "plain", "abandoned"};

    void ended(Result result) { counters_[static_cast<std::size_t>(result)].add(); }
    std::uint64_t count(std::size_t result) const { return counters_[result].value(); }

 private:
    std::array<SharedCounter, result_names.size()> counters_;
};

}  // namespace next_id
