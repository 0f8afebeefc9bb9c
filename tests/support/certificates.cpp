#include "tests/support/certificates.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace next_id::test {
namespace {

void must(bool done, const char* what) {
    if (!done) throw std::runtime_error{std::string{"OpenSSL: "} + what};
}

EVP_PKEY* new_key(KeyKind kind) {
    switch (kind) {
        case KeyKind::rsa_1024:
            return EVP_RSA_gen(1024);
        case KeyKind::rsa_2048:
            return EVP_RSA_gen(2048);
        default:
            return EVP_EC_gen("P-256");
    }
}

void extend(X509* certificate, X509* issuer, int what, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension{
        X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()), &X509_EXTENSION_free};
    must(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, "X509_add_ext");
}

template <class Write>
std::string written(Write write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio{BIO_new(BIO_s_mem()), &BIO_free};
    must(write(bio.get()) == 1, "PEM_write");
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

}  // namespace

void Certificate::Free::operator()(evp_pkey_st* key) const noexcept {
    EVP_PKEY_free(key);
}
void Certificate::Free::operator()(x509_st* certificate) const noexcept {
    X509_free(certificate);
}

Certificate Certificate::authority(const std::string& common_name) {
    return make(common_name, {.alt_names = {}}, nullptr);
}

Certificate Certificate::issue(const std::string& common_name, const CertificateOptions& options) const {
    return make(common_name, options, this);
}

Certificate Certificate::make(const std::string& common_name, const CertificateOptions& options,
                              const Certificate* issuer) {
    Certificate made;
    made.key_.reset(new_key(options.key));
    made.certificate_.reset(X509_new());
    X509* const certificate = made.certificate_.get();
    X509* const signer = issuer != nullptr ? issuer->certificate_.get() : certificate;
    must(made.key_ != nullptr && certificate != nullptr, "a new certificate");
    X509_set_version(certificate, X509_VERSION_3);
    std::int64_t serial = 0;
    RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
    ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), serial & 0x7fff'ffff'ffff'ffff);
    X509_gmtime_adj(X509_getm_notBefore(certificate), options.valid_from.count());
    X509_gmtime_adj(X509_getm_notAfter(certificate), options.valid_until.count());
    X509_set_pubkey(certificate, made.key_.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(signer));
    extend(certificate, signer, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
    std::string names;
    for (const std::string& name : options.alt_names) names += (names.empty() ? "" : ",") + name;
    if (!names.empty()) extend(certificate, signer, NID_subject_alt_name, names);
    must(X509_sign(certificate, (issuer != nullptr ? *issuer : made).key_.get(), EVP_sha256()) > 0, "X509_sign");
    return made;
}

std::string Certificate::pem() const {
    return written([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate_.get()); });
}

std::string Certificate::key_pem() const {
    return written(
        [&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string Certificate::encrypted_key_pem(const std::string& passphrase) const {
    return written([&](BIO* bio) {
        return PEM_write_bio_PKCS8PrivateKey(bio, key_.get(), EVP_aes_256_cbc(), passphrase.data(),
                                             static_cast<int>(passphrase.size()), nullptr, nullptr);
    });
}

}  // namespace next_id::test
