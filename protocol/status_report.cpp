#include "protocol/status_report.h"

#include <rapidjson/prettywriter.h>

#include "protocol/json_text.h"

namespace next_id {

namespace {

using Writer = rapidjson::PrettyWriter<AppendTo>;

void write_count(Writer& writer, const char* key, std::uint64_t count) {
    writer.Key(key);
    writer.Uint64(count);
}

void write_id(Writer& writer, const char* key, const std::optional<std::int64_t>& id, bool as_string) {
    if (id && as_string) return write_member(writer, key, std::to_string(*id));
    writer.Key(key);
    id ? writer.Int64(*id) : writer.Null();
}

void write_number(Writer& writer, const char* key, const std::optional<double>& number) {
    writer.Key(key);
    number ? writer.Double(*number) : writer.Null();
}

void write_points(Writer& writer, const char* key, const HistoryPoints& points, std::uint64_t HistoryPoint::*member) {
    writer.Key(key);
    writer.SetFormatOptions(rapidjson::kFormatSingleLineArray);
    writer.StartArray();
    for (const auto& point : points) point ? writer.Uint64(*point.*member) : writer.Null();
    writer.EndArray();
    writer.SetFormatOptions(rapidjson::kFormatDefault);
}

void write_history(Writer& writer, const HistoryPoints& points) {
    writer.Key("history");
    writer.StartObject();
    write_points(writer, "ids_left", points, &HistoryPoint::ids_left);
    write_points(writer, "issued_per_second", points, &HistoryPoint::issued_per_second);
    write_points(writer, "ids_reserved", points, &HistoryPoint::ids_reserved);
    writer.EndObject();
}

void write_sequence(Writer& writer, const SequenceStatus& status, StatusJson options) {
    writer.StartObject();
    write_member(writer, "sequence", status.sequence);
    write_member(writer, "state", status.state);
    writer.Key("ready");
    writer.Bool(status.ready);
    write_member(writer, "problem", status.problem);
    write_member(writer, "trouble", status.trouble);
    write_member(writer, "advice", status.advice);
    write_count(writer, "ids_left", status.ids_left);
    write_count(writer, "ids_target", status.ids_target);
    write_count(writer, "refill_level", status.refill_level);
    write_count(writer, "ids_issued", status.ids_issued);
    write_count(writer, "ids_discarded", status.ids_discarded);
    write_number(writer, "demand_per_second", status.demand_per_second);
    write_number(writer, "seconds_left", status.seconds_left);
    write_number(writer, "seconds_since_refill", status.seconds_since_refill);
    write_count(writer, "requests_waiting", status.requests_waiting);
    write_id(writer, "lowest_reserved", status.lowest_reserved, options.ids_as_strings);
    write_id(writer, "highest_reserved", status.highest_reserved, options.ids_as_strings);
    if (options.with_history) write_history(writer, status.history);
    writer.EndObject();
}

void write_connection(Writer& writer, const PostgresqlStatus& postgresql) {
    writer.Key("postgresql_connection");
    writer.StartObject();
    write_number(writer, "seconds", postgresql.seconds);
    write_member(writer, "host", postgresql.host);
    write_member(writer, "port", postgresql.port);
    write_member(writer, "database", postgresql.database);
    write_member(writer, "user", postgresql.user);
    writer.EndObject();
}

void write_past(Writer& writer, const PastTrouble& past) {
    writer.StartObject();
    write_member(writer, "time", past.time);
    write_member(writer, "level", past.level);
    write_member(writer, "message", past.message);
    write_member(writer, "fields", past.fields);
    write_member(writer, "advice", past.advice);
    writer.EndObject();
}

template <class Items, class Write>
void write_array(Writer& writer, const char* key, const Items& items, Write write) {
    writer.Key(key);
    writer.StartArray();
    for (const auto& item : items) write(item);
    writer.EndArray();
}

}  // namespace

std::string to_json(const StatusReport& report, StatusJson options) {
    std::string json;
    AppendTo out{json};
    Writer writer{out};
    writer.SetMaxDecimalPlaces(3);
    writer.StartObject();
    write_member(writer, "version", report.version);
    write_member(writer, "host", report.host);
    write_member(writer, "started", report.started);
    write_number(writer, "uptime_seconds", report.uptime_seconds);
    write_member(writer, "order", report.strict_order ? "strict" : "window");
    write_member(writer, "health", report.health);
    write_member(writer, "summary", report.summary);
    write_member(writer, "postgresql", report.postgresql.state);
    write_connection(writer, report.postgresql);
    if (options.with_history) {
        write_count(writer, "history_first", report.history_first);
        write_count(writer, "history_next", report.history_next);
    }
    write_array(writer, "sequences", report.sequences,
                [&](const SequenceStatus& status) { write_sequence(writer, status, options); });
    write_array(writer, "past_troubles", report.past_troubles,
                [&](const PastTrouble& past) { write_past(writer, past); });
    writer.EndObject();
    return json + "\n";
}

}  // namespace next_id
