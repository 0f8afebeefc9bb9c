#include "sidecar/refill/pg_answer.h"

#include <libpq-fe.h>

namespace next_id {
namespace {

constexpr std::size_t line_bytes_max = 1000;

std::string field(const PGresult& result, int which) {
    const char* text = PQresultErrorField(&result, which);
    return text != nullptr ? text : "";
}

}  // namespace

void add_result(PgAnswer& answer, const PGresult& result) {
    if (PQresultStatus(&result) != PGRES_TUPLES_OK) {
        if (!answer.error.empty()) return;
        answer.sqlstate = field(result, PG_DIAG_SQLSTATE);
        answer.error = describe(result);
        if (answer.error.empty()) answer.error = "the statement returned no rows";
        return;
    }
    for (int row = 0; row < PQntuples(&result); ++row) {
        auto& values = answer.rows.emplace_back();
        for (int column = 0; column < PQnfields(&result); ++column) {
            if (PQgetisnull(&result, row, column) != 0)
                values.emplace_back();
            else
                values.emplace_back(std::in_place, PQgetvalue(&result, row, column),
                                    std::size_t(PQgetlength(&result, row, column)));
        }
    }
}

std::string describe(const PGresult& result) {
    std::string text = field(result, PG_DIAG_MESSAGE_PRIMARY);
    if (text.empty()) return one_line(PQresultErrorMessage(&result));
    text = field(result, PG_DIAG_SEVERITY) + ": " + text;
    for (const int more : {PG_DIAG_MESSAGE_DETAIL, PG_DIAG_MESSAGE_HINT})
        if (const std::string added = field(result, more); !added.empty()) text += "; " + added;
    return one_line(text);
}

std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        if (line.size() == line_bytes_max) {
            while ((line.back() & 0xC0) == 0x80) line.pop_back();  // of a character of UTF-8, all or nothing
            line.back() = ' ';
            return line + "...";
        }
        const bool space = (c >= 0 && c <= ' ') || c == 0x7F;
        if (!space)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

}  // namespace next_id
