// HTTPS as curl, openssl s_client and a client that is no friend see it.
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <random>
#include <regex>
#include <thread>

#include "tests/support/certificates.h"
#include "tests/support/load.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

const std::string get_one = "GET /next-id HTTP/1.1\r\nHost: localhost\r\n\r\n";

// A blocking client that checks the server's certificate and stays connected.
class TlsTestClient {
 public:
    TlsTestClient(const std::string& address, const std::string& ca_file, SSL_SESSION* resume = nullptr) {
        SSL_CTX_load_verify_locations(context_.get(), ca_file.c_str(), nullptr);
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
        connection_.reset(BIO_new_ssl_connect(context_.get()));
        BIO_set_conn_hostname(connection_.get(), address.c_str());
        BIO_get_ssl(connection_.get(), &ssl_);
        if (resume != nullptr) SSL_set_session(ssl_, resume);
        if (BIO_do_connect(connection_.get()) != 1) throw std::runtime_error{"no TLS with " + address};
        int socket = -1;
        BIO_get_fd(connection_.get(), &socket);
        const timeval patience{.tv_sec = 20};
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }

    bool resumed() const { return SSL_session_reused(ssl_) == 1; }
    SSL_SESSION* session() const { return SSL_get_session(ssl_); }

    // The IDs of so many answers, asked for in one go.
    std::vector<std::int64_t> ids(int requests) {
        std::string bytes;
        for (int i = 0; i < requests; ++i) bytes += get_one;
        if (BIO_write(connection_.get(), bytes.data(), int(bytes.size())) != int(bytes.size()))
            throw std::runtime_error{"TLS: cannot write"};
        std::vector<std::int64_t> found;
        const std::string key = "\"id\":";
        while (found.size() < std::size_t(requests)) {
            char piece[16384];
            const int size = BIO_read(connection_.get(), piece, sizeof piece);
            if (size <= 0) throw std::runtime_error{"TLS: the answers ended with " + received_};
            received_.append(piece, std::size_t(size));
            for (std::size_t end; (end = received_.find("}}\n")) != std::string::npos; received_.erase(0, end + 3))
                found.push_back(std::stoll(received_.substr(received_.find(key) + key.size())));
        }
        return found;
    }

 private:
    struct Free {
        void operator()(BIO* bio) const { BIO_free_all(bio); }
        void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    };
    std::unique_ptr<SSL_CTX, Free> context_{SSL_CTX_new(TLS_client_method())};
    std::unique_ptr<BIO, Free> connection_;
    SSL* ssl_ = nullptr;  // connection_ has it
    std::string received_;
};

struct TlsFixture {
    TlsFixture() {
        write(authority.issue("localhost"));
        dir.write("ca.pem", authority.pem());
    }
    std::string path(const std::string& name) const { return dir.path / name; }
    void write(const Certificate& certificate, const std::string& name = "cert") const {
        dir.write(name + ".pem", certificate.pem());
        dir.write(name + ".key", certificate.key_pem());
    }

    std::string url(const std::string& target = "/next-id") const {
        return "https://localhost" + sidecar.https().substr(sidecar.https().find(':')) + target;
    }
    ProgramResult curl(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"curl", "-sS", "--ipv4", "--max-time", "20", "--cacert", path("ca.pem")});
        return run_program(arguments);
    }
    // Its input is at its end, so it only shakes hands.
    std::string s_client(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"openssl", "s_client", "-connect", sidecar.https(), "-CAfile",
                                             path("ca.pem"), "-servername", "localhost"});
        return run_program(arguments).output;
    }
    bool shakes_hands(const std::vector<std::string>& arguments) const {
        return s_client(arguments).find("Verify return code: 0 (ok)") != std::string::npos;
    }

    TempDir dir;
    const Certificate authority = Certificate::authority("Test Authority");
    SidecarProcess sidecar{shared_postgres(),
                           {{"PG_SEQUENCE", new_sequence()},
                            {"NEXT_ID_TLS_CERT", path("cert.pem")},
                            {"NEXT_ID_TLS_KEY", path("cert.key")}}};
};

void check_has(const std::string& text, const std::string& part) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " is not in " << text);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_e2etests, TlsFixture)

BOOST_AUTO_TEST_CASE(curl_takes_ids_over_one_verified_connection) {
    sidecar.start_ready();
    const ProgramResult result =
        curl({"-w", "%{num_connects} %{ssl_verify_result} %{http_version}\n", url(), url(), url()});
    BOOST_TEST(result.output ==
               "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":1}}\n1 0 1.1\n"
               "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":2}}\n0 0 1.1\n"
               "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":3}}\n0 0 1.1\n");
    const ProgramResult many = curl({url("/next-id?count=1000000&format=ranges"), url("/next-id?count=10000")});
    check_has(many.output, "\"ranges\":[[4,1000003]]");
    check_has(many.output, "1000004,1000005,");
    check_has(many.output, ",1010003]}}\n");
}

BOOST_AUTO_TEST_CASE(only_what_is_sound_is_agreed_to) {
    sidecar.start();
    for (const char* version : {"-tls1_2", "-tls1_3"}) BOOST_TEST(shakes_hands({version}), version);
    for (const char* version : {"-tls1", "-tls1_1"})
        check_has(s_client({version, "-cipher", "ALL:@SECLEVEL=0"}), "alert protocol version");
    for (const char* cipher :
         {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"})
        BOOST_TEST(shakes_hands({"-tls1_2", "-cipher", cipher}), cipher);
    for (const char* ciphers : {"ECDHE-ECDSA-AES128-SHA", "AECDH-AES256-SHA", "ECDHE-ECDSA-NULL-SHA", "DHE:RSA",
                                "ECDHE-ECDSA-AES256-SHA384", "ALL:!AESGCM:!CHACHA20"})
        check_has(s_client({"-tls1_2", "-cipher", std::string{ciphers} + ":@SECLEVEL=0"}), "alert handshake failure");
    check_has(s_client({"-alpn", "h2,http/1.1"}), "ALPN protocol: http/1.1");
    check_has(s_client({"-alpn", "h2"}), "alert no application protocol");
    const std::string plain = s_client({"-tls1_2", "-cipher", "ALL:@SECLEVEL=0", "-comp"});
    check_has(plain, "Compression: NONE");
    check_has(plain, "Secure Renegotiation IS supported");  // as RFC 5746 has it, so that none is injected; see below
    check_has(plain, "Verification: OK");
}

BOOST_AUTO_TEST_CASE(sessions_are_resumed) {
    sidecar.set("NEXT_ID_THREADS", "2");  // whichever thread has it next
    sidecar.start_ready();
    for (const std::vector<std::string>& how : {std::vector<std::string>{"-tls1_2"}, {"-tls1_2", "-no_ticket"}}) {
        std::vector<std::string> reconnect = how;
        reconnect.push_back("-reconnect");
        const std::string said = s_client(reconnect);
        std::size_t reused = 0;
        for (std::size_t at = 0; (at = said.find("Reused, TLSv1.2", at)) != std::string::npos; ++at) ++reused;
        BOOST_TEST(reused == 5u);
    }
    // The tickets of TLS 1.3 come after the handshake, before the first answer.
    TlsTestClient first{sidecar.https(), path("ca.pem")};
    first.ids(1);
    BOOST_TEST(!first.resumed());
    TlsTestClient second{sidecar.https(), path("ca.pem"), first.session()};
    BOOST_TEST(second.resumed());
    BOOST_TEST(second.ids(1).size() == 1u);
}

BOOST_AUTO_TEST_CASE(clients_show_a_certificate_when_asked_to) {
    sidecar.set("NEXT_ID_TLS_CLIENT_CA", path("ca.pem"));
    write(authority.issue("client"), "client");
    write(Certificate::authority("Somebody").issue("client"), "stranger");
    sidecar.start_ready();
    const auto as = [&](const std::string& name) {
        return curl({"--cert", path(name + ".pem"), "--key", path(name + ".key"), url()});
    };
    BOOST_TEST(as("client").output == "{\"code\":0,\"msg\":\"success\",\"data\":{\"id\":1}}\n");
    BOOST_TEST(as("stranger").exit_code != 0);
    check_has(as("stranger").output, "alert unknown ca");
    const ProgramResult nobody = curl({url()});
    BOOST_TEST(nobody.exit_code != 0);
    check_has(nobody.output, "alert certificate required");
}

BOOST_AUTO_TEST_CASE(a_new_pair_is_taken_up_and_a_bad_one_is_not) {
    sidecar.start_ready();
    TlsTestClient early{sidecar.https(), path("ca.pem")};
    BOOST_TEST(early.ids(1).size() == 1u);
    const auto subject = [&] {
        std::smatch found;
        const std::string said = s_client({});
        return std::regex_search(said, found, std::regex{"subject=CN ?= ?(\\S+)"}) ? found.str(1) : said;
    };
    BOOST_TEST(subject() == "localhost");

    write(authority.issue("renewed"));
    BOOST_TEST(sidecar.wait_for_log("subject=\"CN=renewed\""));
    BOOST_TEST(subject() == "renewed");

    dir.write("cert.pem", authority.issue("mismatched").pem());
    BOOST_TEST(sidecar.wait_for_log("the old certificate stays in use: " + path("cert.key") + ": does not belong"));
    BOOST_TEST(subject() == "renewed");

    write(authority.issue("mended", {.valid_until = std::chrono::minutes{1}}));
    BOOST_TEST(sidecar.wait_for_log("the TLS certificate expires at "));
    BOOST_TEST(subject() == "mended");
    BOOST_TEST(early.ids(3).size() == 3u);  // and it has noticed nothing
}

BOOST_AUTO_TEST_CASE(pipelined_load_over_tls_gets_every_id_once) {
    sidecar.set("NEXT_ID_THREADS", "2");
    sidecar.start_ready();
    std::vector<std::vector<std::int64_t>> taken(4);
    std::vector<std::thread> clients;
    for (auto& ids : taken)
        clients.emplace_back([&, this] {
            for (int connection = 0; connection < 3; ++connection) {
                TlsTestClient client{sidecar.https(), path("ca.pem")};
                for (int round = 0; round < 5; ++round)
                    for (const std::int64_t id : client.ids(100)) ids.push_back(id);
            }
        });
    for (std::thread& client : clients) client.join();
    std::vector<std::int64_t> all;
    for (const auto& ids : taken) all.insert(all.end(), ids.begin(), ids.end());
    BOOST_TEST(all.size() == 6000u);
    BOOST_TEST(count_repeated(all) == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_no_tls_is_told_so_or_dropped_and_harms_nobody) {
    sidecar.start_ready();
    TlsTestClient good{sidecar.https(), path("ca.pem")};
    TestClient plain{sidecar.https()};
    const TestAnswer answer = plain.get("/next-id");
    BOOST_TEST(answer.status == 400);
    check_has(answer.body, "this port speaks TLS");
    BOOST_TEST(plain.is_closed());

    std::minstd_rand random{5};
    std::vector<std::unique_ptr<TestClient>> bad;
    for (int i = 0; i < 50; ++i) {
        std::string bytes = "\x16\x03\x01\x01\x40\x01";
        for (int k = i * 10; k > 0; --k) bytes += static_cast<char>(random());
        bad.push_back(std::make_unique<TestClient>(sidecar.https()));
        bad.back()->send(bytes);  // the first ones are cut off, the longer ones are rubbish
    }
    BOOST_TEST(good.ids(50).size() == 50u);
    BOOST_TEST(curl({url()}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(half_a_handshake_is_given_up_after_ten_seconds) {
    sidecar.start();
    TestClient silent{sidecar.https()}, slow{sidecar.https()};
    slow.send("\x16\x03\x01\x01\x40\x01");
    const auto begin = std::chrono::steady_clock::now();
    BOOST_TEST(silent.is_closed());
    BOOST_TEST(slow.is_closed());
    BOOST_TEST((std::chrono::steady_clock::now() - begin > std::chrono::seconds{8}));
}

BOOST_AUTO_TEST_CASE(what_cannot_work_is_said_at_the_start) {
    const auto refused = [&](const std::string& sentence) {
        BOOST_TEST(sidecar.run_to_exit() == 78);
        check_has(sidecar.log(), sentence);
    };
    dir.write("cert.key", authority.issue("other").key_pem());
    refused("next-id: cannot speak TLS: " + path("cert.key") + ": does not belong to the certificate in ");
    dir.write("cert.key", authority.issue("localhost").encrypted_key_pem("sesame"));
    refused("the private key is encrypted");
    std::filesystem::remove(path("cert.key"));
    refused(path("cert.key") + ": No such file or directory");
    sidecar.set("NEXT_ID_HTTP", "none");
    refused("but TLS is for HTTP and RESP over TCP");
}

BOOST_AUTO_TEST_CASE(a_key_that_everybody_can_read_and_a_certificate_that_is_too_old_are_warned_of) {
    write(authority.issue("localhost", {.valid_until = -std::chrono::minutes{1}}));
    std::filesystem::permissions(path("cert.key"), std::filesystem::perms{0644});
    sidecar.start();
    check_has(sidecar.log(), "the TLS certificate expired at ");
    check_has(sidecar.log(), "every user of the machine can read the private key");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
