// What the sidecar is doing, for operators (text) and their programs (JSON): the body of /status. Plain values; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace next_id {

// One second of a sequence.
struct HistoryPoint {
    std::uint64_t ids_left = 0;           // at its end
    std::uint64_t issued_per_second = 0;  // rounded
    std::uint64_t ids_reserved = 0;       // that refills brought
};
using HistoryPoints = std::vector<std::optional<HistoryPoint>>;  // second by second; none where nothing was recorded

struct SequenceStatus {
    std::string sequence;
    std::string state;    // verifying, reserving, refused, latched
    bool ready = false;   // an ID can be given out now
    std::string problem;  // why refused or latched, and what to do; empty otherwise
    std::string trouble;  // why the last attempt to refill failed; empty when it did not
    std::string advice;   // what to do about the trouble; empty without
    std::uint64_t ids_left = 0;
    std::uint64_t ids_target = 0;    // what a refill fills up to
    std::uint64_t refill_level = 0;  // at or below which it begins
    std::uint64_t ids_issued = 0;    // since the process began
    std::uint64_t ids_discarded = 0;
    double demand_per_second = 0;
    std::optional<double> seconds_left;          // at that demand; none without any
    std::optional<double> seconds_since_refill;  // none before the first
    std::uint64_t requests_waiting = 0;
    // The lowest and the highest ID ever reserved by this sidecar, or in the sequence's direction seen taken by others;
    // none before the first.
    std::optional<std::int64_t> lowest_reserved, highest_reserved;
    HistoryPoints history;
};

struct PostgresqlStatus {
    std::string state;   // connected, connecting, away, or closed: no refill is due
    double seconds = 0;  // in that state
    std::string host, port, database, user;
};

// A warning or an error of the log, and what to do about it.
struct PastTrouble {
    std::string time, level, message, fields;
    std::string advice;  // empty when there is nothing to do, or the message says it
};

struct StatusReport {
    std::string version;
    std::string host;     // the machine's or the pod's name
    std::string started;  // UTC
    double uptime_seconds = 0;
    bool strict_order = false;  // there is no window: each ID is asked for
    std::string health;         // ok, at risk, failing
    std::string summary;        // why, in a sentence
    PostgresqlStatus postgresql;
    std::vector<SequenceStatus> sequences;
    std::vector<PastTrouble> past_troubles;  // the newest first
    std::uint64_t history_first = 0;         // the number of the first point of each history
    std::uint64_t history_next = 0;          // of the one after the last
};

struct StatusJson {
    bool ids_as_strings = false;  // for clients whose numbers are doubles
    bool with_history = false;
};

// JSON, with a newline at the end. IDs are exact: they may exceed 2^53.
std::string to_json(const StatusReport& report, StatusJson options = {});
std::string to_text(const StatusReport& report);

}  // namespace next_id
