// The server's side of one TLS connection: bytes of the network in and out, plaintext out and in. Knows no socket and
// no clock, and keeps nothing but an unfinished record. Owned by the stream that it secures, on its loop's thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sidecar/serve/tls_context.h"

struct ssl_st;

namespace next_id {

class TlsSession {
 public:
    enum class State {
        handshaking,
        open,
        ended,    // the peer has said that it sends no more; it may still read
        not_tls,  // the peer's first byte cannot begin TLS
        failed,   // the peer broke off, or broke the rules; error() tells
    };

    explicit TlsSession(const TlsContext& context);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    // Takes what came from the network. Appends what it holds for the application to `plain`, and to `out` what has to
    // go to the network: steps of the handshake, an alert.
    State receive(std::string_view bytes, std::string& plain, std::string& out);

    // Appends the records that carry `plain` to `out`. Nothing unless the session is open, or ended by the peer.
    void write(std::string_view plain, std::string& out);

    // Appends the notice that no more will be written; once.
    void close(std::string& out);

    State state() const { return state_; }
    bool begun() const { return begun_; }                // the peer has sent something
    const std::string& error() const { return error_; }  // why it is not_tls or failed; for people

 private:
    // What OpenSSL reads from and writes to, during a call.
    struct Wire {
        std::string_view in;
        std::string* out = nullptr;
    };
    struct Free {
        void operator()(ssl_st* session) const noexcept;
    };
    friend struct WireMethod;

    void fail();

    Wire wire_;
    State state_ = State::handshaking;
    bool begun_ = false;
    std::string error_;
    std::unique_ptr<ssl_st, Free> session_;
};

}  // namespace next_id
