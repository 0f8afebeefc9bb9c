// An authority, a server's certificate, and a TlsSession that talks with a TlsClient through no network.
#pragma once

#include "sidecar/serve/tls_session.h"
#include "tests/serve/tls_client.h"

namespace next_id {

// Making keys takes a moment.
inline const test::Certificate& test_authority() {
    static const test::Certificate made = test::Certificate::authority("Test Authority");
    return made;
}
inline const test::Certificate& test_certificate() {
    static const test::Certificate made = test_authority().issue("localhost");
    return made;
}

inline Expected<TlsContext> make_context(const test::Certificate& certificate,
                                         const test::Certificate* client_ca = nullptr) {
    std::optional<PemFile> client_cas;
    if (client_ca != nullptr) client_cas = {"client_ca.pem", client_ca->pem()};
    return TlsContext::make({"cert.pem", certificate.pem()}, {"key.pem", certificate.key_pem()}, client_cas);
}

// Both sides, and what has passed between them.
class TlsPair {
 public:
    explicit TlsPair(const TlsContext& context, const TlsClient::Options& options = {})
        : server{context}, client{options} {}

    // Until nobody has more to say. The bytes for the server come in pieces of this size.
    void talk(std::size_t piece = std::string::npos) {
        for (std::string bytes = client.take(); !bytes.empty(); bytes = client.take()) {
            for (std::size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size() - at))
                server.receive(std::string_view{bytes}.substr(at, piece), received, out);
            flush();
        }
    }
    void answer(std::string_view text) {
        server.write(text, out);
        flush();
    }
    void flush() {
        client.receive(out);
        out.clear();
    }

    TlsSession server;
    TlsClient client;
    std::string received;  // by the server
    std::string out;       // from the server, not yet with the client
};

}  // namespace next_id
