#include "sidecar/metrics/serve_counters.h"

#include <algorithm>
#include <cstdlib>

namespace next_id {

void RequestCounters::answered(int code) {
    const auto* const found = std::ranges::find(answer_codes, code);
    if (found == answer_codes.end())
        std::abort();  // a status that the contract does not know is a fault in the program
    answered_[static_cast<std::size_t>(found - answer_codes.begin())].add();
    ++untimed_;
}

}  // namespace next_id
