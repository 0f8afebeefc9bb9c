#include "sidecar/serve/admission.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace next_id {
namespace {

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
    auto one = admission.decide(user(1)), two = admission.decide(user(1));
    BOOST_TEST((one.seat && two.seat));
    BOOST_TEST(status(one) == 0);
    BOOST_TEST(status(admission.decide(user(2))) == 503);
    const Admission::Seat moved = std::move(one.seat);
    BOOST_TEST(status(admission.decide(user(2))) == 503);  // which moving does not free
    two.seat = {};
    BOOST_TEST(status(admission.decide(user(2))) == 0);
}

BOOST_AUTO_TEST_CASE(a_client_has_its_own_limit) {
    Admission admission{{.connections_max = 100, .per_client_max = 2}};
    const auto one = admission.decide(user(1));
    auto two = admission.decide(user(1));
    const auto refused = admission.decide(user(1));
    BOOST_TEST(status(refused) == 503);
    BOOST_TEST(refused.refusal->sentence.find("--connections-per-client") != std::string_view::npos);
    BOOST_TEST(status(admission.decide(user(2))) == 0);
    two.seat = {};
    BOOST_TEST(status(admission.decide(user(1))) == 0);
}

BOOST_AUTO_TEST_CASE(foreign_users_are_told_so) {
    Admission admission{{.uids = {1000, 1001}}};
    BOOST_TEST(status(admission.decide(user(1001))) == 0);
    BOOST_TEST(status(admission.decide(user(0))) == 403);
    BOOST_TEST(status(admission.decide({.transport = Client::Transport::ipv4})) == 0);  // nobody's uid is known there
}

BOOST_AUTO_TEST_CASE(those_that_are_being_refused_are_bounded_too) {
    Admission admission{{.connections_max = 1}};
    const auto in = admission.decide(user(1));
    std::vector<Admission::Decision> out;
    for (std::size_t i = 0; i < Admission::refused_max; ++i) {
        out.push_back(admission.decide(user(1)));
        BOOST_TEST(bool{out.back().seat});
        BOOST_TEST(status(out.back()) == 503);
    }
    BOOST_TEST(!admission.decide(user(1)).seat);
    out.pop_back();
    BOOST_TEST(bool{admission.decide(user(1)).seat});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
