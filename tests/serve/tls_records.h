// Records of TLS 1.3 such as no library sends, from a client that has shaken hands with TLS_AES_128_GCM_SHA256 and has
// written nothing since.
#pragma once

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/serve/tls_client.h"

namespace next_id {

class TlsRecords {
 public:
    enum Type : char { change_cipher_spec = 20, alert = 21, handshake = 22, application_data = 23 };

    explicit TlsRecords(const TlsClient& client)
        : key_{expand(client.traffic_secret, "key", 16)}, iv_{expand(client.traffic_secret, "iv", 12)} {}

    // Encrypted: RFC 8446, section 5.2.
    std::string record(Type type, std::string_view content) {
        std::string text = std::string{content} + static_cast<char>(type);
        const std::size_t length = text.size() + tag_bytes;
        std::string record{"\x17\x03\x03"};
        record += {static_cast<char>(length >> 8U), static_cast<char>(length & 0xFFU)};
        std::string nonce = iv_;
        for (std::size_t i = 0; i < 8; ++i)
            nonce[11 - i] = static_cast<char>(nonce[11 - i] ^ (number_ >> 8 * i & 0xFFU));
        ++number_;

        const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> cipher{EVP_CIPHER_CTX_new(),
                                                                                     &EVP_CIPHER_CTX_free};
        std::string sealed(length, '\0');
        int size = 0;
        EVP_EncryptInit_ex(cipher.get(), EVP_aes_128_gcm(), nullptr, bytes(key_), bytes(nonce));
        EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes(record), static_cast<int>(record.size()));
        EVP_EncryptUpdate(cipher.get(), bytes(sealed), &size, bytes(text), static_cast<int>(text.size()));
        EVP_EncryptFinal_ex(cipher.get(), bytes(sealed) + size, &size);
        BOOST_TEST_REQUIRE(
            EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, tag_bytes, bytes(sealed) + text.size()) == 1);
        return record + sealed;
    }

 private:
    static constexpr int tag_bytes = 16;

    static unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

    // HKDF-Expand-Label: RFC 8446, section 7.1.
    static std::string expand(std::string secret, std::string label, std::size_t size) {
        std::string prefix = "tls13 ", digest = "SHA256", key(size, '\0');
        int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
        const std::array parameters{
            OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
            OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix.data(), prefix.size()),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, label.data(), label.size()),
            OSSL_PARAM_construct_end(),
        };
        const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf{EVP_KDF_fetch(nullptr, "TLS13-KDF", nullptr),
                                                                    &EVP_KDF_free};
        const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context{EVP_KDF_CTX_new(kdf.get()),
                                                                                &EVP_KDF_CTX_free};
        BOOST_TEST_REQUIRE(EVP_KDF_derive(context.get(), bytes(key), size, parameters.data()) == 1);
        return key;
    }

    std::string key_, iv_;
    std::uint64_t number_ = 0;
};

}  // namespace next_id
