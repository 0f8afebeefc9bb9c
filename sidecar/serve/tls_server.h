// What a listener needs to speak TLS: its certificate, key and perhaps the authorities of its clients, from files that
// are read again when they change. Connections go on with what they began with. A new pair that cannot work leaves the
// old one in place, and the log says so.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sidecar/base/clock.h"
#include "sidecar/base/watched_file.h"
#include "sidecar/metrics/handshake_counters.h"
#include "sidecar/serve/tls_context.h"

namespace next_id {

class TlsServer {
 public:
    struct Paths {
        std::string certificates, key;
        std::string client_cas;  // empty: clients show no certificate
    };

    // The error is a sentence about the first file that cannot be used.
    static Expected<std::unique_ptr<TlsServer>> open(const Paths& paths);

    // Looks whether the files have changed; about once a second, from one thread.
    void refresh(Instant now);

    // For a new connection. Any thread.
    std::shared_ptr<const TlsContext> context() const;

    // Of those who connect. Any thread.
    HandshakeCounters& handshakes() const { return handshakes_; }

 private:
    explicit TlsServer(const Paths& paths);
    bool look();
    Expected<TlsContext> make_context() const;
    void use(TlsContext context, Instant now);

    WatchedFile certificates_, key_;
    std::optional<WatchedFile> client_cas_;
    bool changed_ = false;  // and not yet acted upon
    Instant renew_at_{};

    mutable HandshakeCounters handshakes_;
    mutable std::mutex mutex_;
    std::shared_ptr<const TlsContext> context_;
};

}  // namespace next_id
