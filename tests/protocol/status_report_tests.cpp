#include "protocol/status_report.h"

#include <rapidjson/document.h>

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

StatusReport example() {
    SequenceStatus status{.sequence = "app.ids",
                          .state = "reserving",
                          .ready = true,
                          .ids_left = 1430,
                          .ids_target = 2860,
                          .refill_level = 1430,
                          .ids_issued = 570,
                          .demand_per_second = 24.5,
                          .seconds_left = 58.367,
                          .seconds_since_refill = 3.2,
                          .lowest_reserved = 9'007'199'254'740'993,
                          .highest_reserved = 9'007'199'254'742'992};
    status.history = {HistoryPoint{1500, 0, 2000}, std::nullopt, HistoryPoint{1430, 70, 0}};
    return {.version = "1.2.3",
            .host = "pod-7",
            .started = "2026-11-29T19:00:00.123Z",
            .uptime_seconds = 11'520,
            .health = "ok",
            .summary = "IDs are at hand.",
            .postgresql = {.state = "connected",
                           .seconds = 12.34,
                           .host = "db.example",
                           .port = "5432",
                           .database = "shop",
                           .user = "next_id"},
            .sequences = {status},
            .history_first = 4,
            .history_next = 7};
}

rapidjson::Document parsed(const StatusReport& report, StatusJson options = {}) {
    const std::string body = to_json(report, options);
    BOOST_TEST(body.ends_with("}\n"));
    rapidjson::Document document;
    document.Parse<rapidjson::kParseValidateEncodingFlag>(body.data(), body.size());
    BOOST_TEST_REQUIRE(!document.HasParseError(), body);
    return document;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(status_report_tests)

BOOST_AUTO_TEST_CASE(json_has_the_whole_report) {
    const rapidjson::Document json = parsed(example());
    BOOST_TEST(json["health"].GetString() == std::string{"ok"});
    BOOST_TEST(json["order"].GetString() == std::string{"window"});
    BOOST_TEST(json["postgresql"].GetString() == std::string{"connected"});
    const auto& connection = json["postgresql_connection"];
    BOOST_TEST(connection["host"].GetString() == std::string{"db.example"});
    BOOST_TEST(connection["port"].GetString() == std::string{"5432"});
    BOOST_TEST(connection["database"].GetString() == std::string{"shop"});
    BOOST_TEST(connection["user"].GetString() == std::string{"next_id"});
    BOOST_TEST(connection["seconds"].GetDouble() == 12.34);
    const auto& sequence = json["sequences"][0];
    BOOST_TEST(sequence["lowest_reserved"].GetInt64() == 9'007'199'254'740'993);
    BOOST_TEST(sequence["seconds_left"].GetDouble() == 58.367);
    BOOST_TEST(!sequence.HasMember("history"));
    BOOST_TEST(!json.HasMember("history_next"));
}

BOOST_AUTO_TEST_CASE(json_has_the_history_if_asked_with_null_where_there_is_none) {
    const rapidjson::Document json = parsed(example(), {.ids_as_strings = true, .with_history = true});
    BOOST_TEST(json["history_first"].GetUint64() == 4U);
    BOOST_TEST(json["history_next"].GetUint64() == 7U);
    const auto& sequence = json["sequences"][0];
    BOOST_TEST(sequence["highest_reserved"].GetString() == std::string{"9007199254742992"});
    BOOST_TEST(sequence["history"]["ids_left"].Size() == 3U);
    BOOST_TEST(sequence["history"]["issued_per_second"][2].GetUint64() == 70U);
    BOOST_TEST(sequence["history"]["ids_reserved"][0].GetUint64() == 2000U);
    BOOST_TEST(sequence["history"]["ids_reserved"][1].IsNull());
}

BOOST_AUTO_TEST_CASE(text_is_for_people) {
    BOOST_TEST(to_text(example()) ==
               "next-id 1.2.3 on pod-7: ok\n"
               "  summary    IDs are at hand.\n"
               "  up         3 h 12 min\n"
               "  PostgreSQL connected for 12 s; db.example port 5432, database shop, user next_id\n"
               "app.ids: reserving\n"
               "  window     [##########----------] 1430 of 2860 IDs; lasts 58 s\n"
               "  demand     24.5 IDs/s  ▁ █ in 3.0 s\n"
               "  issued     570\n"
               "  discarded  0\n"
               "  reserved   9007199254740993 to 9007199254742992\n"
               "  refilled   3.2 s ago\n"
               "  waiting    0 requests\n");
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_not_needed_is_told_as_such) {
    StatusReport report = example();
    report.postgresql.state = "closed: no refill is due";
    BOOST_TEST(to_text(report).find("  PostgreSQL closed for 12 s: no refill is due; db.example port 5432") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(text_says_what_is_wrong_and_what_to_do) {
    StatusReport report = example();
    report.sequences[0].trouble = "connect postgresql failed: Connection refused";
    report.sequences[0].advice = "Is it running?";
    report.past_troubles.assign(
        7,
        {.time = "T", .level = "warning", .message = "it broke", .fields = "sequence=app.ids", .advice = "Mend it."});
    const std::string text = to_text(report);
    BOOST_TEST(text.find("  trouble    connect postgresql failed: Connection refused\n"
                         "  to do      Is it running?\n"
                         "went wrong lately, the newest first:\n"
                         "  T warning it broke sequence=app.ids\n"
                         "    to do    Mend it.\n") != std::string::npos,
               text);
}

BOOST_AUTO_TEST_CASE(a_long_history_is_thirty_columns_wide) {
    StatusReport report = example();
    report.sequences[0].history.assign(300, HistoryPoint{0, 10, 0});
    report.sequences[0].history.back() = HistoryPoint{0, 0, 0};
    std::string flat;
    for (int i = 0; i < 29; ++i) flat += "█";
    BOOST_TEST(to_text(report).find("  " + flat + "▇ in 5 min\n") != std::string::npos, to_text(report));
}

BOOST_AUTO_TEST_CASE(strict_order_has_no_window) {
    StatusReport report = example();
    report.strict_order = true;
    BOOST_TEST(to_text(report).find("  window     none, by --order strict\n") != std::string::npos);
    BOOST_TEST(parsed(report)["order"].GetString() == std::string{"strict"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
