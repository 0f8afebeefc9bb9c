#include "sidecar/admin/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace next_id {

namespace {

struct Advice {
    std::string_view words[2];  // that the error has, both of them
    std::string_view text;
};

constexpr std::string_view read_only =
    "That server is a standby, or default_transaction_read_only is on: name the primary, or all hosts, in PG_HOST.";

// The first that fits counts.
constexpr std::array advices{
    Advice{{"password authentication failed"},
           "Check PG_USER and the password. A file (PG_PASSWORD_FILE) is read anew at each try."},
    Advice{{"no password supplied"}, "The server asks for a password: set PG_PASSWORD_FILE or PG_PASSWORD."},
    Advice{{"PG_PASSWORD_FILE"}, "Check that the file exists and that the user of next-id may read it."},
    Advice{{"no pg_hba.conf entry"}, "Add a line for this host, database and user to the server's pg_hba.conf."},
    Advice{{"role \"", "does not exist"}, "Create the role with sql/role.sql, or check PG_USER."},
    Advice{{"database \"", "does not exist"}, "Check PG_DATABASE, or create the database."},
    Advice{{"relation \"", "does not exist"},
           "Create the sequence with sql/sequence.sql, or check PG_SEQUENCE and the role's search_path."},
    Advice{{"permission denied"}, "Let the role use the sequence, with sql/role.sql."},
    Advice{{"Connection refused"},
           "Is PostgreSQL running, and does it listen at this host and port? next-id goes on trying."},
    Advice{{"No such file or directory"},
           "Is PostgreSQL running, and is its Unix socket in this directory? next-id goes on trying."},
    Advice{{"look up the name"}, "Check PG_HOST and the machine's resolver. next-id goes on trying."},
    Advice{{"name was not looked up"}, "The resolver does not answer: check it. next-id goes on trying."},
    Advice{{"not connected within"}, "Check PG_HOST and PG_PORT, routes and firewalls. next-id goes on trying."},
    Advice{{"No route to host"}, "Check PG_HOST, routes and firewalls. next-id goes on trying."},
    Advice{{"imed out"}, "Check the network and the load of the server. next-id goes on trying."},
    Advice{{"too many clients"}, "Free connections, or raise max_connections. next-id needs one for each sidecar."},
    Advice{{"connection slots"}, "Free connections, or raise max_connections. next-id needs one for each sidecar."},
    Advice{{"too many connections"}, "Raise the role's or the database's CONNECTION LIMIT."},
    Advice{{"the database system is"}, "PostgreSQL is starting or stopping: wait. next-id goes on trying."},
    Advice{{"terminating connection"}, "PostgreSQL was stopped, or ended the connection. next-id connects again."},
    Advice{{"server closed the connection"}, "Look into PostgreSQL's log for why. next-id connects again."},
    Advice{{"session is read-only"}, read_only},
    Advice{{"read-only transaction"}, read_only},
    Advice{{"certificate"}, "Check the certificate, PGSSLMODE and PGSSLROOTCERT."},
    Advice{{"SSL"}, "Check PGSSLMODE, and whether the server speaks TLS (ssl = on)."},
    Advice{{"has not answered for"},
           "Look for locks on the sequence (pg_locks), and for a synchronous standby that is away."},
    Advice{{"lock timeout"}, "Somebody holds a lock on the sequence: look into pg_locks."},
    Advice{{"nextval: reached"}, "The sequence is used up: raise its MAXVALUE, or go over to another one."},
    Advice{{"nears its end"}, "Raise the sequence's MAXVALUE, or go over to another one, before it is used up."},
    Advice{{"No space left on device"}, "Make room on the disk that is full."},
};

bool has(std::string_view error, std::string_view words) {
    return error.find(words) != std::string_view::npos;
}

std::string in_seconds(double seconds) {
    if (seconds >= 120) return std::to_string(std::llround(seconds / 60)) + " minutes";
    if (seconds < 1.5) return "a second at most";
    return std::to_string(std::llround(seconds)) + " seconds";
}

// "app.ids", or "app.ids and 3 others".
std::string named(const std::vector<const SequenceStatus*>& sequences) {
    const std::size_t others = sequences.size() - 1;
    return sequences.front()->sequence +
           (others == 0 ? "" : " and " + std::to_string(others) + (others == 1 ? " other" : " others"));
}

// How long IDs last if no refill comes, in words that follow a sentence.
std::string reserve_text(const StatusReport& report) {
    std::optional<double> shortest;
    for (const SequenceStatus& status : report.sequences)
        if (status.seconds_left) shortest = std::min(*status.seconds_left, shortest.value_or(*status.seconds_left));
    if (report.strict_order) return {};
    return shortest ? " At this demand the reserved IDs last " + in_seconds(*shortest) + "."
                    : " Nobody takes IDs at the moment; all that are reserved are left.";
}

}  // namespace

std::string_view advice_for(std::string_view error) {
    const auto fits = [&](const Advice& advice) { return has(error, advice.words[0]) && has(error, advice.words[1]); };
    const auto found = std::ranges::find_if(advices, fits);
    return found == advices.end() ? std::string_view{} : found->text;
}

void judge(StatusReport& report) {
    std::vector<const SequenceStatus*> dry, stopped, troubled;
    for (const SequenceStatus& status : report.sequences) {
        if (!status.ready) dry.push_back(&status);
        if (!status.problem.empty()) stopped.push_back(&status);
        if (!status.trouble.empty()) troubled.push_back(&status);
    }
    if (!dry.empty()) {
        report.health = "failing";
        report.summary = "There are no IDs from " + named(dry) + ".";
    } else if (!stopped.empty()) {
        report.health = "at risk";
        report.summary = named(stopped) + " is not refilled any more." + reserve_text(report);
    } else if (report.postgresql.state == "away") {
        report.health = "at risk";
        report.summary = "PostgreSQL is away." + reserve_text(report);
    } else if (!troubled.empty()) {
        report.health = "at risk";
        report.summary = "Refilling " + named(troubled) + " fails." + reserve_text(report);
    } else {
        report.health = "ok";
        report.summary = report.sequences.size() == 1 ? "IDs are at hand." : "IDs of all sequences are at hand.";
    }
}

}  // namespace next_id
