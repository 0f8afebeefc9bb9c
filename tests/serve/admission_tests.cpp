#include "sidecar/serve/admission.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace next_id {
namespace {

using enum ListenerName;

Client user(std::uint32_t uid) {
    return {.transport = Client::Transport::unix_socket, .uid = uid};
}

// 0: let in.
int status(const Admission::Decision& decision) {
    return decision.refusal ? decision.refusal->status : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(admission_tests)

BOOST_AUTO_TEST_CASE(a_seat_is_free_again_when_its_connection_is_gone) {
    Admission admission{{.connections_max = 2}};
    auto one = admission.decide(user(1), socket), two = admission.decide(user(1), socket);
    BOOST_TEST((one.seat && two.seat));
    BOOST_TEST(status(one) == 0);
    BOOST_TEST(status(admission.decide(user(2), socket)) == 503);
    const Admission::Seat moved = std::move(one.seat);
    BOOST_TEST(status(admission.decide(user(2), socket)) == 503);  // which moving does not free
    two.seat = {};
    BOOST_TEST(status(admission.decide(user(2), socket)) == 0);
}

BOOST_AUTO_TEST_CASE(a_client_has_its_own_limit) {
    Admission admission{{.connections_max = 100, .per_client_max = 2}};
    const auto one = admission.decide(user(1), socket);
    auto two = admission.decide(user(1), socket);
    const auto refused = admission.decide(user(1), socket);
    BOOST_TEST(status(refused) == 503);
    BOOST_TEST(refused.refusal->sentence.find("--connections-per-client") != std::string_view::npos);
    BOOST_TEST(status(admission.decide(user(2), socket)) == 0);
    two.seat = {};
    BOOST_TEST(status(admission.decide(user(1), socket)) == 0);
}

BOOST_AUTO_TEST_CASE(foreign_users_are_told_so) {
    Admission admission{{.uids = {1000, 1001}}};
    BOOST_TEST(status(admission.decide(user(1001), socket)) == 0);
    BOOST_TEST(status(admission.decide(user(0), socket)) == 403);
    BOOST_TEST(status(admission.decide({.transport = Client::Transport::ipv4}, http)) ==
               0);  // nobody's uid is known there
}

BOOST_AUTO_TEST_CASE(those_that_are_being_refused_are_bounded_too) {
    Admission admission{{.connections_max = 1}};
    const auto in = admission.decide(user(1), socket);
    std::vector<Admission::Decision> out;
    for (std::size_t i = 0; i < Admission::refused_max; ++i) {
        out.push_back(admission.decide(user(1), socket));
        BOOST_TEST(bool{out.back().seat});
        BOOST_TEST(status(out.back()) == 503);
    }
    BOOST_TEST(!admission.decide(user(1), socket).seat);
    out.pop_back();
    BOOST_TEST(bool{admission.decide(user(1), socket).seat});
}

BOOST_AUTO_TEST_CASE(decisions_are_counted_by_listener_and_reason) {
    Admission admission{{.connections_max = 3, .per_client_max = 2, .uids = {1, 2}}};
    const auto one = admission.decide(user(1), socket), two = admission.decide(user(1), socket);
    auto tcp = admission.decide({.transport = Client::Transport::ipv4}, http);
    admission.decide(user(7), socket);  // may not
    admission.decide(user(2), socket);  // no room
    tcp.seat = {};
    admission.decide(user(1), socket);  // has two
    const Admission::Tally local = admission.tally(socket), remote = admission.tally(http);
    BOOST_TEST(local.open == 2U);
    BOOST_TEST(local.let_in == 2U);
    BOOST_TEST(local.refused == (std::array<std::uint64_t, 3>{1, 1, 1}), boost::test_tools::per_element());
    BOOST_TEST(remote.open == 0U);
    BOOST_TEST(remote.let_in == 1U);
    BOOST_TEST(remote.refused == (std::array<std::uint64_t, 3>{0, 0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(those_who_are_not_even_told_are_counted_too) {
    Admission admission{{.connections_max = 0}};
    std::vector<Admission::Decision> told;
    for (std::size_t i = 0; i < Admission::refused_max + 5; ++i) told.push_back(admission.decide(user(1), socket));
    BOOST_TEST(!told.back().seat);
    BOOST_TEST(admission.tally(socket).refused[1] == told.size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
