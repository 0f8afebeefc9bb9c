#include "protocol/status_report.h"

#include <rapidjson/prettywriter.h>

#include <cstdio>

#include "protocol/json_text.h"

namespace next_id {

namespace {

using Writer = rapidjson::PrettyWriter<AppendTo>;

void write_count(Writer& writer, const char* key, std::uint64_t count) {
    writer.Key(key);
    writer.Uint64(count);
}

void write_id(Writer& writer, const char* key, const std::optional<std::int64_t>& id) {
    writer.Key(key);
    id ? writer.Int64(*id) : writer.Null();
}

void write_sequence(Writer& writer, const SequenceStatus& status) {
    writer.StartObject();
    write_member(writer, "sequence", status.sequence);
    write_member(writer, "state", status.state);
    write_member(writer, "problem", status.problem);
    write_member(writer, "trouble", status.trouble);
    write_count(writer, "ids_left", status.ids_left);
    write_count(writer, "ids_target", status.ids_target);
    write_count(writer, "ids_issued", status.ids_issued);
    write_count(writer, "ids_discarded", status.ids_discarded);
    writer.Key("demand_per_second");
    writer.Double(status.demand_per_second);
    writer.Key("seconds_left");
    status.seconds_left ? writer.Double(*status.seconds_left) : writer.Null();
    writer.Key("seconds_since_refill");
    status.seconds_since_refill ? writer.Double(*status.seconds_since_refill) : writer.Null();
    write_count(writer, "requests_waiting", status.requests_waiting);
    write_id(writer, "lowest_reserved", status.lowest_reserved);
    write_id(writer, "highest_reserved", status.highest_reserved);
    writer.EndObject();
}

std::string rounded(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", number);
    return text;
}

std::string line(const char* name, const std::string& value) {
    char head[16];
    std::snprintf(head, sizeof head, "  %-10s", name);
    return value.empty() ? "" : head + value + "\n";
}

std::string reserve_text(const SequenceStatus& status) {
    std::string text = std::to_string(status.ids_left) + " IDs, refilled up to " + std::to_string(status.ids_target);
    if (status.seconds_left)
        text += "; lasts " + rounded(*status.seconds_left) + " s at " + rounded(status.demand_per_second) + " IDs/s";
    return text;
}

std::string sequence_text(const SequenceStatus& status) {
    const std::string refilled =
        status.seconds_since_refill ? rounded(*status.seconds_since_refill) + " s ago" : "not yet";
    const std::string mark =
        status.lowest_reserved && status.highest_reserved
            ? std::to_string(*status.lowest_reserved) + " to " + std::to_string(*status.highest_reserved)
            : "none yet";
    return status.sequence + ": " + status.state + "\n" + line("window", reserve_text(status)) +
           line("issued", std::to_string(status.ids_issued)) + line("discarded", std::to_string(status.ids_discarded)) +
           line("reserved", mark) + line("refilled", refilled) +
           line("waiting", std::to_string(status.requests_waiting) + " requests") + line("problem", status.problem) +
           line("trouble", status.trouble);
}

}  // namespace

std::string to_text(const StatusReport& report) {
    std::string text = "next-id " + report.version + "; PostgreSQL: " + report.postgresql + "\n";
    for (const SequenceStatus& status : report.sequences) text += sequence_text(status);
    return text;
}

std::string to_json(const StatusReport& report) {
    std::string json;
    AppendTo out{json};
    Writer writer{out};
    writer.SetMaxDecimalPlaces(3);
    writer.StartObject();
    write_member(writer, "version", report.version);
    write_member(writer, "postgresql", report.postgresql);
    writer.Key("sequences");
    writer.StartArray();
    for (const SequenceStatus& status : report.sequences) write_sequence(writer, status);
    writer.EndArray();
    writer.EndObject();
    return json + "\n";
}

}  // namespace next_id
