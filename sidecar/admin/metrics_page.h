// The body of /metrics: gathers what the threads have counted and what the refill knows. sidecar/metrics/README.md is
// the list of it for people. On the refill thread, whose parts it reads.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sidecar/metrics/exposition.h"
#include "sidecar/refill/refiller.h"
#include "sidecar/serve/admission.h"
#include "sidecar/serve/serve_thread.h"
#include "sidecar/serve/tls_server.h"

namespace next_id {

class MetricsPage {
 public:
    // All of them outlive the page.
    struct Sources {
        const Refiller& refiller;
        const std::vector<std::unique_ptr<ServeThread>>& threads;
        const Admission& admission;        // of the listeners that give out IDs
        const Admission& admin_admission;  // of the operators'
        const TlsServer* tls = nullptr;    // null: there is none
    };

    // `version` is the program's; `started`: when it began.
    MetricsPage(std::string version, std::chrono::system_clock::time_point started, const Sources& sources)
        : version_{std::move(version)}, started_{started}, sources_{sources} {}

    std::string text() const;

 private:
    using Sequences = std::vector<std::unique_ptr<SequenceRefill>>;

    const Sequences& sequences() const { return sources_.refiller.sequences(); }
    template <class Value>
    void add_each(Exposition& out, Value value) const;
    void add_requests(Exposition& out) const;
    void add_waits(Exposition& out) const;
    void add_connections(Exposition& out) const;
    void add_windows(Exposition& out) const;
    void add_refills(Exposition& out) const;
    void add_sequences(Exposition& out) const;
    void add_database(Exposition& out) const;

    const std::string version_;
    const std::chrono::system_clock::time_point started_;
    const Sources sources_;
};

}  // namespace next_id
