// Sessions for the tests of the statements: plain, blocking libpq, and reserve.sql run as the program runs it.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/range.h"
#include "sidecar/base/require.h"
#include "sidecar/window/window_source.h"
#include "sql/statements.h"
#include "tests/support/pg_cluster.h"

namespace next_id::test {

using Session = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

inline Session connect(const PgCluster& cluster, const std::string& user = "postgres") {
    const std::string conninfo =
        "host=" + cluster.socket_dir() + " port=" + cluster.port() + " dbname=postgres user=" + user;
    Session session{PQconnectdb(conninfo.c_str()), &PQfinish};
    PQsetNoticeReceiver(
        session.get(), [](void*, const PGresult*) {}, nullptr);
    return session;
}

inline Rows run(const Session& session, const std::string& sql, const std::vector<std::string>& parameters = {}) {
    std::vector<const char*> values;
    for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
    return Rows{
        PQexecParams(session.get(), sql.c_str(), int(values.size()), nullptr, values.data(), nullptr, nullptr, 0),
        &PQclear};
}

// As a sidecar with this mark sends it.
inline std::vector<std::string> reserve_parameters(const std::string& sequence, int values,
                                                   const std::string& lock = "2000ms", const Mark& mark = {}) {
    return {sequence, std::to_string(values), lock, std::to_string(mark.last_value), std::to_string(mark.direction)};
}

inline Rows reserve(const Session& session, const std::string& sequence, int values, const std::string& lock = "2000ms",
                    const Mark& mark = {}) {
    return run(session, std::string{sql::reserve}, reserve_parameters(sequence, values, lock, mark));
}

inline std::string column(const Rows& rows, const char* name) {
    const int number = PQfnumber(rows.get(), name);
    if (PQntuples(rows.get()) != 1 || number < 0)
        throw std::runtime_error{std::string{"no column "} + name + ": " + PQresultErrorMessage(rows.get())};
    return PQgetvalue(rows.get(), 0, number);
}

inline std::string sqlstate(const Rows& rows) {
    const char* code = PQresultErrorField(rows.get(), PG_DIAG_SQLSTATE);
    return code != nullptr ? code : "";
}

inline std::vector<std::int64_t> integers(const std::string& array) {
    std::vector<std::int64_t> values;
    for (std::size_t at = 1; at < array.size(); at = array.find_first_of(",}", at) + 1)
        values.push_back(std::stoll(array.substr(at)));
    return values;
}

// The values of an answer, in ranges, each well-formed.
inline std::vector<Range> ranges(const Rows& rows) {
    const auto values = integers(column(rows, "values"));
    const auto count = std::stoull(column(rows, "count"));
    const std::int64_t increment = std::stoll(column(rows, "increment"));
    std::vector<Range> found;
    if (values.size() == count)
        for (const std::int64_t value : values) found.push_back({value, increment, 1});
    else
        found.push_back({values.at(0), increment, count});
    for (const Range& range : found) require(well_formed(range));
    return found;
}

}  // namespace next_id::test
