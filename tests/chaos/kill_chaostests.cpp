// The sidecar is killed again and again under load, and finds its window as it left it; or damaged.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "tests/chaos/id_takers.h"

namespace next_id::test {
namespace {

struct KilledSidecar {
    const std::string sequence = new_sequence();
    // So large a window that no refill is under way when it is killed.
    SidecarProcess sidecar{shared_postgres(),
                           {{"PG_SEQUENCE", sequence}, {"NEXT_ID_RESERVE", "1s"}, {"NEXT_ID_WINDOW_MIN", "1000000"}}};
    Ids ids;
    std::uint64_t lost = 0;

    // It gives out IDs, to sixteen connections, until it is killed.
    void live_and_die() {
        Load load{sidecar.socket(), 16, 0.3};
        BOOST_REQUIRE(wait_until([&] { return std::stoull(sidecar.status("ids_issued")) > 100; }));
        BOOST_REQUIRE_EQUAL(sidecar.stop(SIGKILL), 128 + SIGKILL);
        lost += load.wait().lost;
        append(ids, load.ids());
    }
    void check_no_id_twice() const { BOOST_CHECK_EQUAL(count_repeated(ids), 0U); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(kill_chaostests, KilledSidecar)

BOOST_AUTO_TEST_CASE(nothing_is_lost_but_what_was_in_flight) {
    sidecar.start_ready();
    BOOST_REQUIRE(wait_until([&] { return std::stoull(sidecar.status("ids_left")) >= 900'000; }));
    for (int i = 0; i < 10 * times_longer(10); ++i) {
        live_and_die();
        sidecar.start();
        BOOST_REQUIRE(sidecar.wait_for_log("window adopted"));
    }
    check_no_id_twice();
    const auto left = std::stoll(sidecar.status("ids_left"));
    const std::int64_t gone = last_value(sequence) - std::int64_t(ids.size()) - left;
    BOOST_TEST_MESSAGE(ids.size() << " IDs, " << lost << " requests in flight at a death, " << gone << " IDs gone");
    BOOST_CHECK_GE(gone, 0);
    BOOST_CHECK_LE(gone, std::int64_t(lost));
}

BOOST_AUTO_TEST_CASE(a_damaged_window_is_thrown_away) {
    const std::string window = sidecar.state_dir() + "/" + sequence + ".window";
    const auto write = [&](std::streamoff at, const std::string& bytes) {
        std::fstream{window, std::ios::binary | std::ios::in | std::ios::out}.seekp(at).write(
            bytes.data(), std::streamsize(bytes.size()));
    };
    const std::vector<std::function<void()>> damages{
        [&] { std::filesystem::resize_file(window, 0); },
        [&] { std::filesystem::resize_file(window, std::filesystem::file_size(window) / 2); },
        [&] { write(0, "no window"); },
        [&] { write(8, std::string(8, '\x7f')); },      // the version
        [&] { write(0, std::string(4096, '\0')); },     // as after a crash of the machine
        [&] { write(128, std::string(256, '\xff')); },  // cursor and limit
    };
    sidecar.start_ready();
    for (const auto& damage : damages) {
        live_and_die();
        damage();
        sidecar.start_ready();
        BOOST_CHECK(sidecar.log().find("window discarded") != std::string::npos);
    }
    live_and_die();
    check_no_id_twice();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
