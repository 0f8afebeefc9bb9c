#include "sidecar/base/repeated_failure.h"

#include <algorithm>

namespace next_id {
namespace {

std::string in_seconds(Duration duration) {
    return std::to_string(std::chrono::floor<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

std::optional<std::string> RepeatedFailure::failed(std::string_view sentence, Instant now) {
    if (failures_++ == 0) began_ = now;
    const auto seen =
        std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) { return one.sentence == sentence; });
    if (seen == seen_.end()) {
        if (seen_.size() == sentences_max) seen_.erase(seen_.begin());
        seen_.push_back({std::string{sentence}, now});
        return std::string{sentence};
    }
    ++seen->untold;
    if (now - seen->told < line_every) return std::nullopt;
    std::string line =
        seen->sentence + " (" + std::to_string(seen->untold) + " times more in " + in_seconds(now - seen->told) + ")";
    seen->untold = 0;
    seen->told = now;
    return line;
}

std::optional<std::string> RepeatedFailure::recovered(Instant now) {
    if (failures_ == 0) return std::nullopt;
    std::string line = "works again after " + std::to_string(failures_) +
                       (failures_ == 1 ? " failure in " : " failures in ") + in_seconds(now - began_);
    *this = RepeatedFailure{};
    return line;
}

}  // namespace next_id
