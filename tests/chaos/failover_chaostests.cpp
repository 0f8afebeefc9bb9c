// The primary dies under load and its synchronous standby takes over: no ID comes twice, and the sidecars find the new
// primary by themselves.
#include <boost/test/unit_test.hpp>

#include "tests/chaos/adversity.h"
#include "tests/chaos/callers.h"
#include "tests/chaos/ledger.h"
#include "tests/chaos/replication.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t block = 50;

}  // namespace

BOOST_AUTO_TEST_SUITE(failover_chaostests)

BOOST_AUTO_TEST_CASE(no_id_comes_twice_though_a_synchronous_standby_takes_over) {
    const int rounds = long_form() ? 15 : 2, times = long_form() ? 2 : 1;
    Pair pair{slow_postgres(), sequence_of(block)};
    pair.make_synchronous();
    const auto one = pair.sidecar(always_reserving(block)), two = pair.sidecar(always_reserving(block));
    one->start_ready();
    two->start_ready();
    Ledger ledger{block};
    for (int round = 0; round < rounds; ++round) {
        if (round != 0) {
            pair.exchange();
            pair.make_synchronous();
        }
        Load first{one->socket(), 16, 3}, second{two->http(), 16, 3};
        Callers plain{pair.conninfo(), Callers::plain, 6 * times};
        Callers safe{pair.conninfo(), Callers::with_message, 2 * times};
        std::this_thread::sleep_for(700ms);  // not to wait for anything: it dies in the midst of work
        pair.primary->stop(PgStop::immediate);
        plain.stop();
        ledger.add_values(safe.stop());
        {
            const Frozen frozen{{one.get(), two.get()}};
            pair.standby->promote();
            BOOST_TEST(last_value(*pair.standby) >= std::max(ledger.highest_value(), frozen.highest_reserved()));
        }
        const Load::Result results[] = {first.wait(), second.wait()};
        for (const Load::Result& result : results) BOOST_TEST(result.refused == 0U);
        ledger.add_sidecar(0, first.ids());
        ledger.add_sidecar(1, second.ids());
        for (const SidecarProcess* sidecar : {one.get(), two.get()})
            BOOST_REQUIRE_EQUAL(TestClient{sidecar->http()}.get("/next-id").status, 200);
    }
    BOOST_TEST_MESSAGE(ledger.ids() << " IDs from the sidecars, " << ledger.values() << " values beside them");
    BOOST_TEST(ledger.ids() > 100U * unsigned(rounds));
    BOOST_TEST(ledger.values() > 10U * unsigned(rounds));
    BOOST_TEST(ledger.repeated() == 0U);
    for (const SidecarProcess* sidecar : {one.get(), two.get()})  // whose guard would hide a fault
        BOOST_TEST(sidecar->log().find("went back") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
