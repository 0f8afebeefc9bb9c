#include "sidecar/serve/tls_session.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/serve/tls_fixture.h"
#include "tests/serve/tls_records.h"

namespace next_id {
namespace {

using State = TlsSession::State;

struct SessionFixture {
    const TlsContext context = std::move(*make_context(test_certificate()));
};

std::string random_text(std::size_t size) {
    static std::minstd_rand random{1};
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

struct Version {
    int number;
    const char* name;
};
constexpr Version both_versions[] = {{TLS1_2_VERSION, "TLSv1.2"}, {TLS1_3_VERSION, "TLSv1.3"}};

TlsClient::Options only(int version) {
    return {.version_min = version, .version_max = version};
}
const TlsClient::Options one_suite{.version_min = TLS1_3_VERSION, .suites = "TLS_AES_128_GCM_SHA256"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_session_tests, SessionFixture)

BOOST_AUTO_TEST_CASE(tls_1_2_and_1_3_carry_bytes_both_ways_however_they_are_cut) {
    for (const Version& version : both_versions) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
            TlsClient::Options options = only(version.number);
            options.authority = &test_authority();
            TlsPair pair{context, options};
            pair.talk(piece);
            BOOST_TEST((pair.server.state() == State::open));
            BOOST_TEST_REQUIRE(pair.client.connected());
            BOOST_TEST(SSL_get_version(pair.client.get()) == version.name);
            pair.client.write("hello");
            pair.talk(piece);
            BOOST_TEST(pair.received == "hello");
            pair.answer("world");
            BOOST_TEST(pair.client.received == "world");
        }
    }
}

BOOST_AUTO_TEST_CASE(what_takes_many_records_arrives_whole) {
    TlsPair pair{context};
    pair.talk();
    const std::string question = random_text(300'000), answer = random_text(1'000'000);
    pair.client.write(question);
    pair.talk(65'536);
    BOOST_TEST((pair.received == question));
    pair.answer(answer);
    BOOST_TEST((pair.client.received == answer));
}

BOOST_AUTO_TEST_CASE(older_versions_are_refused) {
    for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
        TlsPair pair{context, only(version)};
        pair.talk();
        BOOST_TEST((pair.server.state() == State::failed));
        BOOST_TEST(pair.server.error() == "unsupported protocol");
        BOOST_TEST(pair.client.failure == "tlsv1 alert protocol version");
    }
}

BOOST_AUTO_TEST_CASE(weak_ciphers_are_refused_and_the_good_ones_taken) {
    const test::Certificate rsa = test_authority().issue("localhost", {.key = test::KeyKind::rsa_2048});
    const TlsContext rsa_context = std::move(*make_context(rsa));
    const auto agreed = [&](const TlsContext& server, const std::string& cipher) {
        const std::string ciphers = cipher + ":@SECLEVEL=0";
        TlsClient::Options options = only(TLS1_2_VERSION);
        options.ciphers = ciphers.c_str();
        TlsPair pair{server, options};
        pair.talk();
        BOOST_TEST(pair.client.connected() == (pair.server.state() == State::open));
        return pair.client.connected();
    };
    for (const char* weak :
         {"AES128-SHA", "AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384",
          "DHE-RSA-AES256-GCM-SHA384", "AECDH-AES256-SHA", "ADH-AES256-GCM-SHA384", "ECDHE-RSA-NULL-SHA", "NULL-SHA256",
          "ECDHE-RSA-CAMELLIA128-SHA256", "DHE-RSA-AES128-CCM", "ECDHE-ARIA128-GCM-SHA256"})
        BOOST_TEST(!agreed(rsa_context, weak), weak);
    for (const char* weak : {"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES128-CCM8", "ECDHE-ECDSA-NULL-SHA"})
        BOOST_TEST(!agreed(context, weak), weak);
    for (const char* good :
         {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"})
        BOOST_TEST(agreed(rsa_context, good), good);
    for (const char* good : {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"})
        BOOST_TEST(agreed(context, good), good);
}

BOOST_AUTO_TEST_CASE(http_1_1_is_what_is_spoken_whoever_asks) {
    for (const auto& [offered, chosen] :
         {std::pair{"", ""}, std::pair{"\x08http/1.1", "http/1.1"}, std::pair{"\x02h2\x08http/1.1", "http/1.1"}}) {
        TlsPair pair{context, {.alpn = offered}};
        pair.talk();
        BOOST_TEST(pair.client.connected());
        BOOST_TEST(pair.client.protocol() == chosen);
    }
    TlsPair pair{context, {.alpn = "\x02h2"}};
    pair.talk();
    BOOST_TEST((pair.server.state() == State::failed));
    BOOST_TEST(pair.client.failure == "tlsv1 alert no application protocol");
}

BOOST_AUTO_TEST_CASE(a_session_is_resumed_by_ticket_and_by_id) {
    const TlsContext demanding = std::move(*make_context(test_certificate(), &test_authority()));
    const test::Certificate own = test_authority().issue("client");
    for (const TlsContext* server : {&context, &demanding}) {
        for (const bool tickets : {true, false}) {
            for (const Version& version : both_versions) {
                TlsClient::Options options = only(version.number);
                options.tickets = tickets;
                options.own = &own;
                TlsPair first{*server, options};
                first.talk();
                first.answer("x");
                BOOST_TEST_REQUIRE(first.client.connected());
                BOOST_TEST(!first.client.resumed());
                const auto session = first.client.session();
                options.resume = session.get();
                TlsPair second{*server, options};
                second.talk();
                BOOST_TEST(second.client.connected());
                BOOST_TEST(second.client.resumed(), version.name << (tickets ? " by ticket" : " by id"));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_session_of_another_certificate_is_not_resumed) {
    TlsPair first{context};
    first.talk();
    first.answer("x");
    const auto session = first.client.session();
    const TlsContext renewed = std::move(*make_context(test_certificate()));
    TlsPair second{renewed, {.resume = session.get()}};
    second.talk();
    BOOST_TEST(second.client.connected());
    BOOST_TEST(!second.client.resumed());
}

BOOST_AUTO_TEST_CASE(a_client_certificate_is_demanded_and_checked_when_asked_for) {
    const TlsContext demanding = std::move(*make_context(test_certificate(), &test_authority()));
    const test::Certificate good = test_authority().issue("client");
    const test::Certificate strange = test::Certificate::authority("Somebody").issue("client");
    const test::Certificate old = test_authority().issue("client", {.valid_until = -std::chrono::minutes{1}});
    const auto error_with = [&](const test::Certificate* own, int version) {
        TlsClient::Options options = only(version);
        options.own = own;
        TlsPair pair{demanding, options};
        pair.talk();
        BOOST_TEST((pair.server.state() == (pair.server.error().empty() ? State::open : State::failed)));
        return pair.server.error();
    };
    for (const Version& version : both_versions) {
        BOOST_TEST(error_with(&good, version.number) == "");
        BOOST_TEST(error_with(nullptr, version.number) == "peer did not return a certificate");
        BOOST_TEST(error_with(&strange, version.number) == "certificate verify failed");
        BOOST_TEST(error_with(&old, version.number) == "certificate verify failed");
    }
}

BOOST_AUTO_TEST_CASE(a_client_may_not_negotiate_anew) {
    TlsPair pair{context, only(TLS1_2_VERSION)};
    pair.talk();
    SSL_renegotiate(pair.client.get());
    SSL_do_handshake(pair.client.get());
    pair.talk();
    BOOST_TEST(pair.client.failure == "no renegotiation");
    BOOST_TEST(pair.received == "");
}

BOOST_AUTO_TEST_CASE(what_is_no_tls_is_told_at_the_first_byte) {
    for (const char* bytes : {"G", "GET / HTTP/1.1\r\n\r\n", "\x80\x2e\x01", " ", "\x15\x03\x01"}) {
        TlsSession session{context};
        std::string plain, out;
        BOOST_TEST((session.receive(bytes, plain, out) == State::not_tls));
        BOOST_TEST(plain + out == "");
    }
}

BOOST_AUTO_TEST_CASE(garbage_for_a_handshake_fails_and_half_of_one_waits) {
    TlsClient client{{}};
    const std::string hello = client.take();
    std::minstd_rand random{7};
    unsigned failed = 0;
    for (int i = 0; i < 500; ++i) {
        std::string bytes = hello;
        for (int k = 0; k < 3; ++k) bytes[1 + random() % (bytes.size() - 1)] = static_cast<char>(random());
        TlsSession session{context};
        std::string plain, out;
        failed += session.receive(bytes, plain, out) == State::failed;
        BOOST_TEST(plain == "");
    }
    BOOST_TEST(failed > 100u);
    for (std::size_t size = 1; size < hello.size(); ++size) {
        TlsSession session{context};
        std::string plain, out;
        BOOST_TEST((session.receive(hello.substr(0, size), plain, out) == State::handshaking));
        BOOST_TEST(plain + out == "");
    }
    TlsSession session{context};
    std::string plain, out;
    BOOST_TEST((session.receive("\x16\x03\x01\xff\xff" + std::string(70'000, 'x'), plain, out) == State::failed));
}

BOOST_AUTO_TEST_CASE(a_record_that_was_tampered_with_fails_and_nothing_of_it_is_read) {
    for (const Version& version : both_versions) {
        TlsPair pair{context, only(version.number)};
        pair.talk();
        pair.client.write("good");
        pair.talk();
        pair.client.write("tampered with");
        std::string bytes = pair.client.take();
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        BOOST_TEST((pair.server.receive(bytes, pair.received, pair.out) == State::failed));
        BOOST_TEST(pair.received == "good");
        pair.flush();
        BOOST_TEST(pair.client.failure.find("alert bad record mac") != std::string::npos, pair.client.failure);
        pair.answer("never said");
        BOOST_TEST(pair.client.received == "");
    }
}

// OpenSSL would want the rest of it before it writes another byte.
BOOST_AUTO_TEST_CASE(a_message_of_the_handshake_in_pieces_fails) {
    TlsPair pair{context, one_suite};
    pair.talk();
    TlsRecords records{pair.client};
    const std::string request = records.record(TlsRecords::application_data, "a"),
                      four_of_five = records.record(TlsRecords::handshake, {"\x18\0\0\1", 4});
    pair.server.receive(request + four_of_five, pair.received, pair.out);
    BOOST_TEST(pair.received == "a");
    BOOST_TEST((pair.server.state() == State::failed));
    pair.answer("b");
    BOOST_TEST(pair.client.received.empty());
}

BOOST_AUTO_TEST_CASE(whatever_records_come_the_session_goes_on_or_fails) {
    const unsigned seed = std::random_device{}();
    BOOST_TEST_MESSAGE("seed " << seed);
    std::minstd_rand random{seed};
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    const std::string_view contents[] = {
        "",          "a",           {"\x18\0\0\1\0", 5}, {"\x18\0\0\1\1", 5}, {"\x18\0\0\1", 4},
        {"\1\0", 2}, {"\1\x5A", 2}, {"\2\x28", 2},       {"\1\0\0\0", 4},     {"\x14\0\0\x20", 4}};
    const TlsRecords::Type types[] = {TlsRecords::change_cipher_spec, TlsRecords::alert, TlsRecords::handshake,
                                      TlsRecords::application_data};
    for (int round = 0; round < 300; ++round) {
        TlsPair pair{context, one_suite};
        pair.talk();
        TlsRecords records{pair.client};
        while (pair.server.state() == State::open && below(20) != 0) {
            std::string bytes;
            for (unsigned i = 0; i <= below(3); ++i)
                bytes += records.record(types[below(4)], contents[below(std::size(contents))]);
            if (below(10) == 0) bytes[below(static_cast<unsigned>(bytes.size()))] ^= 1;
            const std::size_t cut = below(static_cast<unsigned>(bytes.size()));
            for (const std::string_view part :
                 {std::string_view{bytes}.substr(0, cut), std::string_view{bytes}.substr(cut)}) {
                pair.server.receive(part, pair.received, pair.out);
                pair.server.write("answer", pair.out);
            }
        }
        pair.server.close(pair.out);
    }
}

BOOST_AUTO_TEST_CASE(either_side_may_end_and_still_hear_the_other) {
    for (const Version& version : both_versions) {
        TlsPair pair{context, only(version.number)};
        pair.talk();
        pair.client.write("last words");
        pair.client.close();
        pair.talk();
        BOOST_TEST(pair.received == "last words");
        BOOST_TEST((pair.server.state() == State::ended));
        pair.answer("answer");
        pair.server.close(pair.out);
        pair.flush();
        BOOST_TEST(pair.client.received == "answer");
        BOOST_TEST(pair.client.ended);
        pair.server.close(pair.out);
        BOOST_TEST(pair.out == "");

        TlsPair other{context, only(version.number)};
        other.talk();
        other.client.write("on its way");
        other.server.close(other.out);
        other.talk();
        BOOST_TEST(other.received == "on its way");
        BOOST_TEST(other.client.ended);
    }
}

BOOST_AUTO_TEST_CASE(a_handshake_that_is_ended_in_the_middle_has_failed) {
    TlsPair pair{context};
    const std::string hello = pair.client.take(), close_notify{"\x15\3\3\0\2\1\0", 7};
    pair.server.receive(hello, pair.received, pair.out);
    BOOST_TEST((pair.server.state() == State::handshaking));
    pair.server.receive(close_notify, pair.received, pair.out);
    BOOST_TEST((pair.server.state() == State::failed));
}

BOOST_AUTO_TEST_CASE(before_the_handshake_is_done_nothing_is_written) {
    TlsSession session{context};
    std::string out;
    session.write("secret", out);
    session.close(out);
    BOOST_TEST(out == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
