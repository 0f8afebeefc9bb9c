// Certificates of a test's own: authorities, and what they issue. Made in the process, written where a program wants
// files.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

struct evp_pkey_st;
struct x509_st;

namespace next_id::test {

enum class KeyKind { ecdsa, rsa_2048, rsa_1024 };

struct CertificateOptions {
    KeyKind key = KeyKind::ecdsa;
    std::vector<std::string> alt_names = {"DNS:localhost", "IP:127.0.0.1"};
    std::chrono::seconds valid_from = -std::chrono::hours{1};  // from now on
    std::chrono::seconds valid_until = std::chrono::hours{24} * 365;
};

// A certificate and its key.
class Certificate {
 public:
    // Signs itself, and may sign others.
    static Certificate authority(const std::string& common_name);
    // Signed by this one.
    Certificate issue(const std::string& common_name, const CertificateOptions& options = {}) const;

    std::string pem() const;
    std::string key_pem() const;
    std::string encrypted_key_pem(const std::string& passphrase) const;

    x509_st* get() const { return certificate_.get(); }
    evp_pkey_st* key() const { return key_.get(); }

 private:
    struct Free {
        void operator()(evp_pkey_st* key) const noexcept;
        void operator()(x509_st* certificate) const noexcept;
    };

    Certificate() = default;
    static Certificate make(const std::string& common_name, const CertificateOptions& options,
                            const Certificate* issuer);

    std::unique_ptr<evp_pkey_st, Free> key_;
    std::unique_ptr<x509_st, Free> certificate_;
};

}  // namespace next_id::test
