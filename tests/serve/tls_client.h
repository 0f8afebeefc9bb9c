// A TLS client without a socket, as OpenSSL has it: bytes from the server in, bytes for the server out. It agrees to
// everything that OpenSSL still knows, unless told otherwise, so that what is refused the server has refused.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tests/support/certificates.h"

namespace next_id {

class TlsClient {
 public:
    struct Options {
        int version_min = TLS1_VERSION;
        int version_max = TLS1_3_VERSION;
        const char* ciphers = "ALL:@SECLEVEL=0";        // of TLS 1.2 and before
        const char* suites = TLS_DEFAULT_CIPHERSUITES;  // of TLS 1.3
        std::string alpn = {};                          // as sent: length, name, length, name
        bool tickets = true;
        const test::Certificate* authority = nullptr;  // to check the server against; none: anybody will do
        const test::Certificate* own = nullptr;
        SSL_SESSION* resume = nullptr;
    };

    explicit TlsClient(const Options& options) : context_{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free} {
        SSL_CTX* const context = context_.get();
        SSL_CTX_set_min_proto_version(context, options.version_min);
        SSL_CTX_set_max_proto_version(context, options.version_max);
        BOOST_TEST_REQUIRE(SSL_CTX_set_cipher_list(context, options.ciphers) == 1);
        BOOST_TEST_REQUIRE(SSL_CTX_set_ciphersuites(context, options.suites) == 1);
        SSL_CTX_set_keylog_callback(context, keep_secret);
        if (!options.tickets) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT);
        if (!options.alpn.empty())
            SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(options.alpn.data()),
                                    static_cast<unsigned>(options.alpn.size()));
        if (options.authority != nullptr) {
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), options.authority->get());
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
        }
        if (options.own != nullptr) {
            SSL_CTX_use_certificate(context, options.own->get());
            SSL_CTX_use_PrivateKey(context, options.own->key());
        }
        ssl_.reset(SSL_new(context));
        SSL_set_app_data(ssl_.get(), this);
        in_ = BIO_new(BIO_s_mem());
        out_ = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl_.get(), in_, out_);
        SSL_set_connect_state(ssl_.get());
        if (options.resume != nullptr) SSL_set_session(ssl_.get(), options.resume);
        go_on();
    }

    void receive(std::string_view bytes) {
        if (!bytes.empty()) BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
        go_on();
    }
    // What is for the server, since the last call.
    std::string take() {
        char* bytes = nullptr;
        const long size = BIO_get_mem_data(out_, &bytes);
        std::string taken{bytes, static_cast<std::size_t>(size)};
        BIO_reset(out_);
        return taken;
    }
    void write(std::string_view text) {
        BOOST_TEST_REQUIRE(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0);
    }
    void close() { SSL_shutdown(ssl_.get()); }
    // Asks the server to do the same. Of TLS 1.3.
    void update_keys() {
        BOOST_TEST_REQUIRE(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
        BOOST_TEST_REQUIRE(SSL_do_handshake(ssl_.get()) == 1);
    }

    bool connected() const { return SSL_is_init_finished(ssl_.get()) == 1; }
    bool resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
    // To be resumed by another client; of TLS 1.3 only once the server's tickets have come.
    std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session() const {
        return {SSL_get1_session(ssl_.get()), &SSL_SESSION_free};
    }
    std::string protocol() const {
        const unsigned char* name = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(ssl_.get(), &name, &size);
        return {reinterpret_cast<const char*>(name), size};
    }
    SSL* get() const { return ssl_.get(); }

    std::string received;
    bool ended = false;          // the server has said so
    std::string failure;         // in OpenSSL's words
    std::string traffic_secret;  // of TLS 1.3: from it follow the keys with which we write

 private:
    static void keep_secret(const SSL* ssl, const char* line) {
        const std::string_view text = line;
        if (!text.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) return;
        std::string& secret = static_cast<TlsClient*>(SSL_get_app_data(ssl))->traffic_secret;
        for (std::size_t at = text.rfind(' ') + 1; at < text.size(); at += 2)
            secret += static_cast<char>(std::stoi(std::string{text.substr(at, 2)}, nullptr, 16));
    }
    void go_on() {
        ERR_clear_error();
        char bytes[16384];
        int size;
        while ((size = SSL_read(ssl_.get(), bytes, sizeof bytes)) > 0)
            received.append(bytes, static_cast<std::size_t>(size));
        const int error = SSL_get_error(ssl_.get(), size);
        ended |= error == SSL_ERROR_ZERO_RETURN;
        if (error != SSL_ERROR_SSL || !failure.empty()) return;
        const char* const reason = ERR_reason_error_string(ERR_peek_error());
        failure = reason != nullptr ? reason : "unknown";
    }

    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
    BIO* in_ = nullptr;   // owned by ssl_
    BIO* out_ = nullptr;  // owned by ssl_
};

}  // namespace next_id
