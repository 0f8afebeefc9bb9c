#include "sidecar/admin/metrics_page.h"

#include <optional>

#include "sidecar/metrics/process_figures.h"
#include "sidecar/refill/guard.h"

namespace next_id {

namespace {

using std::chrono::system_clock;

constexpr std::array start_names{"fresh", "adopted", "discarded"};  // in the order of WindowFile::Start

const char* name_of(ListenerName listener) {
    return listener_names[static_cast<std::size_t>(listener)];
}

template <class Precision>
double unix_time(std::chrono::time_point<system_clock, Precision> time) {
    return std::chrono::duration<double>(std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()))
        .count();
}

// The number that was raised, summed up over the threads.
template <class Threads, class Number>
std::uint64_t sum(const Threads& threads, Number number) {
    std::uint64_t all = 0;
    for (const auto& thread : threads) all += number(thread->counters());
    return all;
}

std::string name_of(SequenceRefill& sequence) {
    return sequence.supply().sequence();
}

// One sample for each name: 1 for the one that holds, 0 for the others.
template <class Names>
void add_states(Exposition& out, SequenceRefill& sequence, const char* label, const Names& names, std::size_t holds) {
    for (std::size_t i = 0; i < names.size(); ++i)
        out.add({{"sequence", name_of(sequence)}, {label, names[i]}}, std::uint64_t{i == holds});
}

template <class Names, class Counts>
void add_counts(Exposition& out, SequenceRefill& sequence, const char* label, const Names& names,
                const Counts& counts) {
    for (std::size_t i = 0; i < names.size(); ++i)
        out.add({{"sequence", name_of(sequence)}, {label, names[i]}}, counts[i]);
}

// 0: not yet.
double refilled_at(const SequenceRefill& sequence) {
    const auto at = sequence.refilled_at();
    if (!at) return 0;
    return unix_time(system_clock::now() - std::chrono::duration_cast<system_clock::duration>(Clock::now() - *at));
}

}  // namespace

// A sample for each sequence, where there is a value.
template <class Value>
void MetricsPage::add_each(Exposition& out, Value value) const {
    for (const auto& sequence : sequences())
        if (const std::optional number{value(*sequence)}) out.add({{"sequence", name_of(*sequence)}}, *number);
}

std::string MetricsPage::text() const {
    Exposition out;
    out.gauge("next_id_build_info", "The program that runs; always 1.");
    out.add({{"version", version_}, {"compiler", __VERSION__}}, std::uint64_t{1});
    add_requests(out);
    add_waits(out);
    add_connections(out);
    add_windows(out);
    add_refills(out);
    add_sequences(out);
    add_database(out);
    add_process_figures(out, started_);
    return out.text();
}

void MetricsPage::add_requests(Exposition& out) const {
    const auto& threads = sources_.threads;
    out.counter("next_id_ids_issued_total", "IDs given out.");
    for (const ListenerName listener : serving)
        for (std::size_t i = 0; i < sequences().size(); ++i)
            out.add({{"listener", name_of(listener)}, {"sequence", name_of(*sequences()[i])}},
                    sum(threads, [&](const ServeCounters& counters) { return counters.requests(listener).ids(i); }));
    out.counter("next_id_requests_total", "Requests answered, by the status of the answer.");
    for (const ListenerName listener : serving)
        for (std::size_t i = 0; i < answer_codes.size(); ++i)
            out.add(
                {{"listener", name_of(listener)}, {"code", std::to_string(answer_codes[i])}},
                sum(threads, [&](const ServeCounters& counters) { return counters.requests(listener).answers(i); }));
    out.histogram("next_id_request_duration_seconds", "From the bytes of a request to its answer.");
    for (const ListenerName listener : serving) {
        Histogram::Reading reading;
        for (const auto& thread : threads) thread->counters().requests(listener).durations().add_to(reading);
        out.add({{"listener", name_of(listener)}}, reading);
    }
}

void MetricsPage::add_waits(Exposition& out) const {
    const auto& threads = sources_.threads;
    out.counter("next_id_requests_waited_total", "Requests that found the window dry, and waited for a refill.");
    for (std::size_t i = 0; i < sequences().size(); ++i)
        out.add({{"sequence", name_of(*sequences()[i])}},
                sum(threads, [&](const ServeCounters& counters) { return counters.waits(i).waited.value(); }));
    out.counter("next_id_requests_dry_total",
                "Requests answered 503 because the window was dry and no refill came in time.");
    for (std::size_t i = 0; i < sequences().size(); ++i)
        out.add({{"sequence", name_of(*sequences()[i])}},
                sum(threads, [&](const ServeCounters& counters) { return counters.waits(i).dry.value(); }));
    out.gauge("next_id_requests_waiting", "Requests that wait for a refill now.");
    add_each(out, [](SequenceRefill& sequence) { return std::uint64_t{sequence.supply().waiting().size()}; });
}

void MetricsPage::add_connections(Exposition& out) const {
    std::array<Admission::Tally, listener_names.size()> tallies;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        const auto listener = static_cast<ListenerName>(i);
        tallies[i] = (listener == ListenerName::admin ? sources_.admin_admission : sources_.admission).tally(listener);
    }
    out.gauge("next_id_connections", "Open connections.");
    for (std::size_t i = 0; i < tallies.size(); ++i) out.add({{"listener", listener_names[i]}}, tallies[i].open);
    out.counter("next_id_connections_accepted_total", "Connections that were let in.");
    for (std::size_t i = 0; i < tallies.size(); ++i) out.add({{"listener", listener_names[i]}}, tallies[i].let_in);
    out.counter("next_id_connections_refused_total", "Connections that were refused, by the limit that they met.");
    for (std::size_t i = 0; i < tallies.size(); ++i)
        for (std::size_t reason = 0; reason < Admission::reason_names.size(); ++reason)
            out.add({{"listener", listener_names[i]}, {"reason", Admission::reason_names[reason]}},
                    tallies[i].refused[reason]);
    out.counter("next_id_tls_handshakes_total", "TLS handshakes, by how they ended.");
    for (std::size_t i = 0; i < HandshakeCounters::result_names.size(); ++i)
        out.add({{"result", HandshakeCounters::result_names[i]}},
                sources_.tls != nullptr ? sources_.tls->handshakes().count(i) : 0);
    if (sources_.tls == nullptr) return;
    out.gauge("next_id_tls_certificate_expiry_timestamp_seconds", "When the certificate in use ends, in Unix time.");
    out.add({}, unix_time(sources_.tls->context()->valid_until()));
}

void MetricsPage::add_windows(Exposition& out) const {
    out.gauge("next_id_window_left_ids", "IDs reserved and not yet given out.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.left(); });
    out.gauge("next_id_window_target_ids", "IDs that a refill fills up to.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.is_strict() ? 0 : sequence.policy().target(); });
    out.gauge("next_id_window_refill_level_ids", "IDs left at which a refill begins.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.is_strict() ? 0 : sequence.policy().refill_level(); });
    out.gauge("next_id_window_left_seconds", "How long what is left will last at the present demand.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.seconds_left(); });
    out.gauge("next_id_demand_ids_per_second", "IDs given out a second, as the refill reckons with.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.policy().demand_per_second(); });
    out.gauge("next_id_window_start",
              "What became of the window of an earlier process at the start: 1 for what holds.");
    for (const auto& sequence : sequences())
        add_states(out, *sequence, "result", start_names,
                   static_cast<std::size_t>(sequence->supply().window().start()));
}

void MetricsPage::add_refills(Exposition& out) const {
    out.counter("next_id_refills_total", "Statements that reserve IDs, by what became of them.");
    for (const auto& sequence : sequences())
        add_counts(out, *sequence, "result", RefillTally::result_names, sequence->tally().results);
    out.histogram("next_id_refill_duration_seconds", "From the statement to PostgreSQL's answer.");
    for (const auto& sequence : sequences())
        out.add({{"sequence", name_of(*sequence)}}, sequence->tally().durations.read());
    out.gauge("next_id_refill_last_success_timestamp_seconds",
              "When a refill last brought IDs, in Unix time; 0: not yet.");
    add_each(out, refilled_at);
    out.counter("next_id_ids_reserved_total", "IDs that refills brought.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.tally().reserved_ids; });
    out.counter("next_id_ids_discarded_total", "Reserved IDs that were thrown away: a gap.");
    for (const auto& sequence : sequences())
        add_counts(out, *sequence, "reason", RefillTally::reason_names, sequence->tally().discarded);
}

void MetricsPage::add_sequences(Exposition& out) const {
    out.gauge("next_id_sequence_state", "What the refill does with the sequence: 1 for what holds.");
    for (const auto& sequence : sequences())
        add_states(out, *sequence, "state", refill_state_names, static_cast<std::size_t>(sequence->state()));
    out.counter("next_id_guard_refusals_total", "How often the sequence was seen to have gone back, and was latched.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.tally().latched; });
    out.gauge("next_id_sequence_used_ratio", "The part of the sequence's values that is used up, from 0 to 1.");
    add_each(out, [](SequenceRefill& sequence) { return sequence.used_share(); });
    const auto reserved = [](SequenceRefill& sequence, bool highest) -> std::optional<double> {
        const auto ids = reach_of(sequence.supply().window().mark());
        if (!ids) return std::nullopt;
        return outward(highest ? ids->highest : ids->lowest);
    };
    out.gauge("next_id_lowest_reserved_id", "The lowest ID ever reserved, or seen taken by others.");
    add_each(out, [&](SequenceRefill& sequence) { return reserved(sequence, false); });
    out.gauge("next_id_highest_reserved_id", "The highest ID ever reserved, or seen taken by others.");
    add_each(out, [&](SequenceRefill& sequence) { return reserved(sequence, true); });
}

void MetricsPage::add_database(Exposition& out) const {
    const PgState state = sources_.refiller.connection_state();
    out.gauge("next_id_database_connected",
              "1 while there is a connection to PostgreSQL; there is none when none is needed.");
    out.add({}, std::uint64_t{state == PgState::idle || state == PgState::busy});
    const Refill::Connects& connects = sources_.refiller.connects();
    out.counter("next_id_database_connects_total", "Tries to connect to PostgreSQL, over all of its hosts.");
    out.add({{"result", "ok"}}, connects.ok);
    out.add({{"result", "failed"}}, connects.failed);
    out.counter("next_id_database_connections_lost_total", "Connections to PostgreSQL that broke.");
    out.add({}, connects.lost);
}

}  // namespace next_id
