#include "sidecar/serve/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <string_view>
#include <vector>

#include "sidecar/base/require.h"

namespace next_id {
namespace {

// What clients of the last ten years speak, and nothing that was ever broken.
constexpr const char* tls_1_2_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* groups = "X25519:P-256:P-384";
constexpr std::string_view protocol = "\x08http/1.1";  // as ALPN has it: length, name
constexpr long sessions_kept_max = 4096;               // of clients without tickets
constexpr long resumable_s = 3600;
constexpr std::string_view session_id_context = "next-id";
constexpr std::chrono::hours expiry_notice_max{7 * 24};
constexpr int expiry_notice_part = 5;  // of a lifetime, for certificates that live a day

template <auto free_it>
struct FreeWith {
    template <class T>
    void operator()(T* object) const noexcept {
        free_it(object);
    }
};
using Bio = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using Certificate = std::unique_ptr<X509, FreeWith<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;

Bio reader(const std::string& text) {
    return Bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

// OpenSSL keeps its errors in a queue of the thread.
std::string openssl_reason() {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return reason != nullptr ? reason : "OpenSSL gives no reason";
}

Unexpected<std::string> wrong(const PemFile& file, const std::string& what) {
    ERR_clear_error();
    return Unexpected{file.name + ": " + what};
}

// All of the file's certificates, or why they cannot be read.
Expected<std::vector<Certificate>> read_certificates(const PemFile& file) {
    ERR_clear_error();
    const Bio bio = reader(file.text);
    std::vector<Certificate> found;
    while (Certificate one{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) found.push_back(std::move(one));
    // The end of the file is told by an error, too.
    if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        return wrong(file, "a certificate cannot be read: " + openssl_reason());
    if (found.empty()) return wrong(file, "holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)");
    ERR_clear_error();
    return found;
}

Expected<Key> read_key(const PemFile& file) {
    ERR_clear_error();
    bool encrypted = false;
    const auto refuse_to_decrypt = [](char*, int, int, void* asked) {
        *static_cast<bool*>(asked) = true;
        return -1;
    };
    Key key{PEM_read_bio_PrivateKey(reader(file.text).get(), nullptr, refuse_to_decrypt, &encrypted)};
    if (encrypted)
        return wrong(file,
                     "the private key is encrypted, and nobody is there to give its passphrase: decrypt it "
                     "(openssl pkey -in FILE -out FILE.plain) and guard it by the file's mode");
    if (!key) return wrong(file, "holds no private key in PEM form (-----BEGIN PRIVATE KEY-----): " + openssl_reason());
    return key;
}

// Nothing for what is no time, which OpenSSL reads without complaint.
std::optional<TlsContext::Time> to_time(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
    return TlsContext::Time{std::chrono::seconds{timegm(&parts)}};
}

std::string subject_of(X509* certificate) {
    const Bio bio{BIO_new(BIO_s_mem())};
    X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    return {text, static_cast<std::size_t>(std::max(size, 0L))};
}

// A client that offers protocols and HTTP/1.1 not among them would misunderstand the answers.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    unsigned char* out = nullptr;
    const auto* const ours = reinterpret_cast<const unsigned char*>(protocol.data());
    if (SSL_select_next_proto(&out, chosen_size, ours, protocol.size(), offered, offered_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = out;
    return SSL_TLSEXT_ERR_OK;
}

void agree_to_the_sane(SSL_CTX* context) {
    require(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
    require(SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1);
    require(SSL_CTX_set_cipher_list(context, tls_1_2_ciphers) == 1);
    require(SSL_CTX_set1_groups_list(context, groups) == 1);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_PRIORITIZE_CHACHA);
    // An idle connection costs little; and what is sent as our chain is the file's, not one made up from client_cas.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
    // By tickets, whose keys the context makes up; and by ids, for clients that know no tickets.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER);
    SSL_CTX_sess_set_cache_size(context, sessions_kept_max);
    SSL_CTX_set_timeout(context, resumable_s);
    require(SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(session_id_context.data()),
                                           session_id_context.size()) == 1);
}

Expected<Nothing> demand_client_certificates(SSL_CTX* context, const PemFile& file) {
    auto authorities = read_certificates(file);
    if (!authorities) return Unexpected{authorities.error()};
    for (const Certificate& authority : *authorities)
        if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
            SSL_CTX_add_client_CA(context, authority.get()) != 1)
            return wrong(file, "a certificate is refused: " + openssl_reason());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    return Nothing{};
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept {
    SSL_CTX_free(context);
}

Expected<TlsContext> TlsContext::make(const PemFile& certificates, const PemFile& key,
                                      const std::optional<PemFile>& client_cas) {
    TlsContext made;
    made.context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* const context = made.get();
    require(context != nullptr);
    agree_to_the_sane(context);

    auto chain = read_certificates(certificates);
    if (!chain) return Unexpected{chain.error()};
    const auto private_key = read_key(key);
    if (!private_key) return Unexpected{private_key.error()};
    X509* const own = chain->front().get();
    if (X509_check_private_key(own, private_key->get()) != 1)
        return wrong(key, "does not belong to the certificate in " + certificates.name +
                              " (its first one, if there are several)");
    // This is where a key that is too short for today is refused.
    if (SSL_CTX_use_certificate(context, own) != 1)
        return wrong(certificates, "the certificate is refused: " + openssl_reason());
    if (SSL_CTX_use_PrivateKey(context, private_key->get()) != 1)
        return wrong(key, "the key is refused: " + openssl_reason());
    for (auto next = chain->begin() + 1; next != chain->end(); ++next)
        if (SSL_CTX_add1_chain_cert(context, next->get()) != 1)
            return wrong(certificates, "a certificate of the chain is refused: " + openssl_reason());
    if (client_cas)
        if (auto demanded = demand_client_certificates(context, *client_cas); !demanded)
            return Unexpected{demanded.error()};

    made.subject_ = subject_of(own);
    const auto valid_from = to_time(X509_get0_notBefore(own)), valid_until = to_time(X509_get0_notAfter(own));
    if (!valid_from || !valid_until) return wrong(certificates, "the time for which it is valid cannot be read");
    made.valid_from_ = *valid_from;
    made.valid_until_ = *valid_until;
    return made;
}

std::string TlsContext::time_trouble(Time now) const {
    if (now < valid_from_) return "is not valid before " + utc(valid_from_);
    if (now >= valid_until_) return "expired at " + utc(valid_until_);
    const auto notice = std::min<Time::duration>(expiry_notice_max, (valid_until_ - valid_from_) / expiry_notice_part);
    if (valid_until_ - now < notice) return "expires at " + utc(valid_until_);
    return {};
}

std::string utc(TlsContext::Time time) {
    const std::time_t seconds = time.time_since_epoch().count();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[sizeof "2026-11-29T19:00:00Z"];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace next_id
