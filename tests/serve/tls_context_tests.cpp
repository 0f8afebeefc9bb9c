#include "sidecar/serve/tls_context.h"

#include <boost/test/unit_test.hpp>

#include "tests/serve/tls_fixture.h"

namespace next_id {
namespace {

using namespace std::chrono_literals;

const std::string certificate_pem = test_certificate().pem(), key_pem = test_certificate().key_pem();

std::string error_of(const std::string& certificates, const std::string& key,
                     const std::optional<std::string>& client_ca = {}) {
    std::optional<PemFile> client_cas;
    if (client_ca) client_cas = {"ca.pem", *client_ca};
    const auto made = TlsContext::make({"cert.pem", certificates}, {"key.pem", key}, client_cas);
    return made ? "" : made.error();
}

void check_says(const std::string& error, const std::string& front, const std::string& part) {
    BOOST_TEST(error.starts_with(front + ": "), error);
    BOOST_TEST(error.find(part) != std::string::npos, error);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_context_tests)

BOOST_AUTO_TEST_CASE(a_certificate_with_its_key_is_taken_with_rsa_and_ecdsa) {
    BOOST_TEST(error_of(certificate_pem, key_pem) == "");
    const test::Certificate rsa = test_authority().issue("rsa", {.key = test::KeyKind::rsa_2048});
    BOOST_TEST(error_of(rsa.pem(), rsa.key_pem()) == "");
    BOOST_TEST(error_of(key_pem + certificate_pem, certificate_pem + key_pem) == "");  // all in one file
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_file_is_said_with_its_name) {
    const test::Certificate other = test_authority().issue("other");
    const test::Certificate weak = test_authority().issue("weak", {.key = test::KeyKind::rsa_1024});
    const std::string broken = certificate_pem.substr(0, certificate_pem.size() / 2);
    check_says(error_of("", key_pem), "cert.pem", "holds no certificate");
    check_says(error_of("rubbish", key_pem), "cert.pem", "holds no certificate");
    check_says(error_of(broken, key_pem), "cert.pem", "cannot be read");
    check_says(error_of(certificate_pem + broken, key_pem), "cert.pem", "cannot be read");
    check_says(error_of(certificate_pem, ""), "key.pem", "holds no private key");
    check_says(error_of(certificate_pem, certificate_pem), "key.pem", "holds no private key");
    check_says(error_of(certificate_pem, test_certificate().encrypted_key_pem("sesame")), "key.pem", "is encrypted");
    check_says(error_of(certificate_pem, other.key_pem()), "key.pem", "does not belong to the certificate in cert.pem");
    check_says(error_of(test_authority().pem() + certificate_pem, key_pem), "key.pem", "its first one");
    check_says(error_of(weak.pem(), weak.key_pem()), "cert.pem", "key too small");
    check_says(error_of(certificate_pem, key_pem, ""), "ca.pem", "holds no certificate");
    BOOST_TEST(error_of(certificate_pem, key_pem, test_authority().pem() + other.pem()) == "");
}

BOOST_AUTO_TEST_CASE(the_chain_is_sent_as_the_file_has_it) {
    const auto sent = [](const std::string& certificates, const std::optional<PemFile>& client_cas = {}) {
        const auto context = TlsContext::make({"cert.pem", certificates}, {"key.pem", key_pem}, client_cas);
        TlsPair pair{*context};
        pair.talk();
        return sk_X509_num(SSL_get_peer_cert_chain(pair.client.get()));
    };
    BOOST_TEST(sent(certificate_pem) == 1);
    BOOST_TEST(sent(certificate_pem + test_authority().pem()) == 2);
    BOOST_TEST(sent(certificate_pem, PemFile{"ca.pem", test_authority().pem()}) == 1);
}

BOOST_AUTO_TEST_CASE(it_tells_whose_it_is_and_when_its_time_is_over) {
    const test::Certificate year = test_authority().issue("Zoë, Ltd", {.valid_from = -365 * 24h, .valid_until = 100h});
    const test::Certificate day = test_authority().issue("day", {.valid_from = -1h, .valid_until = 23h});
    const TlsContext of_year = std::move(*make_context(year)), of_day = std::move(*make_context(day));
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    BOOST_TEST(of_year.subject() == "CN=Zo\\C3\\AB\\, Ltd");
    BOOST_TEST(of_year.time_trouble(now) == "expires at " + utc(of_year.valid_until()));
    BOOST_TEST(of_year.time_trouble(now - 100h) == "");
    BOOST_TEST(of_year.time_trouble(now + 101h) == "expired at " + utc(of_year.valid_until()));
    BOOST_TEST(of_year.time_trouble(now - 366 * 24h).starts_with("is not valid before "));
    BOOST_TEST(of_day.time_trouble(now) == "");  // a day is all that it has
    BOOST_TEST(of_day.time_trouble(now + 19h) == "expires at " + utc(of_day.valid_until()));
    BOOST_TEST(utc(TlsContext::Time{1'000'000'000s}) == "2001-09-09T01:46:40Z");
}

BOOST_AUTO_TEST_CASE(a_certificate_may_be_valid_for_longer_than_nanoseconds_count) {
    const test::Certificate forever = test_authority().issue("forever", {.valid_until = 24h * 365 * 1000});
    const TlsContext context = std::move(*make_context(forever));
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    BOOST_TEST(context.time_trouble(now) == "");
    BOOST_TEST((context.valid_until() > now + std::chrono::years{900}));
}

BOOST_AUTO_TEST_CASE(a_time_that_is_none_is_the_files_fault) {
    const test::Certificate odd = test_authority().issue("odd", {.valid_until = 24h * 365 * 30});
    ASN1_TIME* const until = X509_getm_notAfter(odd.get());
    BOOST_REQUIRE_EQUAL(ASN1_STRING_set(until, "20701301000000Z", -1), 1);  // of a thirteenth month
    BOOST_REQUIRE_GT(i2d_re_X509_tbs(odd.get(), nullptr), 0);
    check_says(error_of(odd.pem(), odd.key_pem()), "cert.pem", "cannot be read");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
