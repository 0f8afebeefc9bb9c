#include "sidecar/serve/accepted.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <boost/test/unit_test.hpp>

#include "tests/serve/loop_fixture.h"

namespace next_id {
namespace {

Client client_at(const char* address) {
    sockaddr_storage peer{};
    auto& v4 = reinterpret_cast<sockaddr_in&>(peer);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(peer);
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
        peer.ss_family = AF_INET;
    } else {
        BOOST_TEST_REQUIRE(inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
        peer.ss_family = AF_INET6;
    }
    return client_of(FileDescriptor{}, peer);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(accepted_tests)

BOOST_AUTO_TEST_CASE(a_client_on_tcp_is_known_by_its_address) {
    const Client v4 = client_at("192.0.2.7"), v6 = client_at("2001:db8::7");
    BOOST_TEST((v4.transport == Client::Transport::ipv4 && v6.transport == Client::Transport::ipv6));
    BOOST_TEST((v4.address == std::array<std::uint8_t, 16>{192, 0, 2, 7}));
    BOOST_TEST(
        (v6.address == std::array<std::uint8_t, 16>{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}));
}

BOOST_AUTO_TEST_CASE(an_ipv4_address_written_as_an_ipv6_one_is_the_same_client) {
    BOOST_TEST((client_at("::ffff:192.0.2.7") == client_at("192.0.2.7")));
}

BOOST_AUTO_TEST_CASE(a_client_on_the_unix_socket_is_known_by_its_uid) {
    const auto [peer, descriptor] = unix_pair();
    sockaddr_storage address{};
    address.ss_family = AF_UNIX;
    const Client client = client_of(FileDescriptor{descriptor}, address);
    BOOST_TEST((client.transport == Client::Transport::unix_socket));
    BOOST_TEST(client.uid == getuid());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
