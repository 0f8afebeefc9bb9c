#include "sidecar/refill/standing.h"

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

using namespace std::chrono_literals;
using Kind = Standing::Kind;

struct StandingFixture {
    Instant begin{1000s};
    Standing standing{begin};

    // What it is after these states, a second apart, and since how many seconds after the beginning.
    void expect(const std::vector<PgState>& states, Kind kind, std::int64_t since) {
        Instant now = begin;
        standing = Standing{begin};
        for (const PgState state : states) standing.observe(state, now += 1s);
        BOOST_TEST((standing.kind() == kind), "kind " << int(standing.kind()));
        BOOST_TEST((standing.since() - begin) / 1s == since);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(standing_tests, StandingFixture)

BOOST_AUTO_TEST_CASE(it_follows_the_connection) {
    expect({}, Kind::closed, 0);
    expect({PgState::resolving, PgState::connecting}, Kind::connecting, 1);
    expect({PgState::connecting, PgState::idle, PgState::busy, PgState::idle}, Kind::connected, 2);
    expect({PgState::connecting, PgState::idle, PgState::closed}, Kind::closed, 3);
}

BOOST_AUTO_TEST_CASE(an_outage_lasts_from_the_first_failure_to_the_next_success) {
    expect({PgState::idle, PgState::broken, PgState::connecting, PgState::broken, PgState::resolving}, Kind::away, 2);
    expect({PgState::idle, PgState::broken, PgState::connecting, PgState::idle}, Kind::connected, 4);
    expect({PgState::connecting, PgState::broken, PgState::connecting}, Kind::away, 2);
}

BOOST_AUTO_TEST_CASE(a_connection_that_was_closed_on_purpose_is_no_outage) {
    expect({PgState::broken, PgState::closed, PgState::connecting}, Kind::connecting, 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
