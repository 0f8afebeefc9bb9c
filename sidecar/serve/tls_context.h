// What a server brings to TLS and agrees to: its certificate and key, TLS 1.2 and 1.3, ephemeral keys and authenticated
// ciphers only, HTTP/1.1. Made from PEM texts; immutable, so sessions of any thread may begin from it. A new
// certificate is a new context: sessions go on with the one that they began with.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "sidecar/base/expected.h"

struct ssl_ctx_st;

namespace next_id {

struct PemFile {
    std::string name;  // for sentences
    std::string text;
};

class TlsContext {
 public:
    // `certificates`: the server's own first, then those that lead to its root. With `client_cas`, clients have to show
    // a certificate that one of these has issued. The error names the file, what is wrong with it, and what to do.
    static Expected<TlsContext> make(const PemFile& certificates, const PemFile& key,
                                     const std::optional<PemFile>& client_cas);

    using Time = std::chrono::sys_seconds;  // "no expiry" is the year 9999, beyond what holds nanoseconds

    const std::string& subject() const { return subject_; }
    Time valid_until() const { return valid_until_; }
    // Of the certificate's time: that it has not begun, will soon be over, or is over. Empty when all is well.
    std::string time_trouble(Time now) const;

    // For TlsSession.
    ssl_ctx_st* get() const { return context_.get(); }

 private:
    struct Free {
        void operator()(ssl_ctx_st* context) const noexcept;
    };

    TlsContext() = default;

    std::unique_ptr<ssl_ctx_st, Free> context_;
    std::string subject_;
    Time valid_from_, valid_until_;
};

// 2026-11-29T19:00:00Z
std::string utc(TlsContext::Time time);

}  // namespace next_id
