// What the sidecar is doing, for operators (text) and their programs (JSON): the body of /status. Plain values; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace next_id {

struct SequenceStatus {
    std::string sequence;
    std::string state;    // verifying, reserving, refused, latched
    std::string problem;  // why refused or latched, and what to do; empty otherwise
    std::string trouble;  // why the last attempt to refill failed; empty when it did not
    std::uint64_t ids_left = 0;
    std::uint64_t ids_target = 0;  // what a refill fills up to
    std::uint64_t ids_issued = 0;  // since the process began
    std::uint64_t ids_discarded = 0;
    double demand_per_second = 0;
    std::optional<double> seconds_left;          // at that demand; none without any
    std::optional<double> seconds_since_refill;  // none before the first
    std::uint64_t requests_waiting = 0;
    // The lowest and the highest ID ever reserved by this sidecar, or in the sequence's direction seen taken by others;
    // none before the first.
    std::optional<std::int64_t> lowest_reserved, highest_reserved;
};

struct StatusReport {
    std::string version;
    std::string postgresql;  // state of the connection
    std::vector<SequenceStatus> sequences;
};

// JSON, with a newline at the end. IDs are exact: they may exceed 2^53.
std::string to_json(const StatusReport& report);
std::string to_text(const StatusReport& report);

}  // namespace next_id
