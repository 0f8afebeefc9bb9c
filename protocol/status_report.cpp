#include "protocol/status_report.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

namespace next_id {

namespace {

// Bytes that are not UTF-8 come out as U+FFFD, so the document is valid whatever PostgreSQL says.
using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void write_text(Writer& writer, const char* key, const std::string& text) {
    writer.Key(key);
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

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
    write_text(writer, "sequence", status.sequence);
    write_text(writer, "state", status.state);
    write_text(writer, "problem", status.problem);
    write_text(writer, "trouble", status.trouble);
    write_count(writer, "ids_left", status.ids_left);
    write_count(writer, "ids_target", status.ids_target);
    write_count(writer, "ids_issued", status.ids_issued);
    write_count(writer, "ids_discarded", status.ids_discarded);
    writer.Key("demand_per_second");
    writer.Double(status.demand_per_second);
    writer.Key("seconds_left");
    status.seconds_left ? writer.Double(*status.seconds_left) : writer.Null();
    write_count(writer, "requests_waiting", status.requests_waiting);
    write_id(writer, "lowest_reserved", status.lowest_reserved);
    write_id(writer, "highest_reserved", status.highest_reserved);
    writer.EndObject();
}

}  // namespace

std::string to_json(const StatusReport& report) {
    rapidjson::StringBuffer buffer;
    Writer writer{buffer};
    writer.SetMaxDecimalPlaces(3);
    writer.StartObject();
    write_text(writer, "version", report.version);
    write_text(writer, "postgresql", report.postgresql);
    writer.Key("sequences");
    writer.StartArray();
    for (const SequenceStatus& status : report.sequences) write_sequence(writer, status);
    writer.EndArray();
    writer.EndObject();
    return std::string{buffer.GetString(), buffer.GetSize()} + "\n";
}

}  // namespace next_id
