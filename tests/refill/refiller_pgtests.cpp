// The refill as a whole, against PostgreSQL: one test for each rule of how IDs are reserved.
#include "sidecar/refill/refiller.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <set>
#include <thread>

#include "sidecar/base/log.h"
#include "tests/refill/pg_recorder.h"
#include "tests/refill/pg_sessions.h"
#include "tests/refill/refill_fixture.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;

PgCluster& cluster() {
    static PgCluster made;
    return made;
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

struct RefillerFixture : LoopFixture {
    MemoryDir dir;
    std::vector<Delivery> deliveries;
    IssuedIds issued;
    Refiller::Settings settings;
    std::vector<std::unique_ptr<Supply>> supplies;
    std::unique_ptr<Refiller> refiller;

    RefillerFixture() {
        log::set_up(log::Level::error, log::Format::text);
        cluster().psql("DROP SEQUENCE IF EXISTS s, s2, s3");
        settings.target = target({{"host", "127.0.0.1"}, {"port", cluster().port()}}, 2s);
        settings.idle_close = 1h;
        settings.sequence.policy = {.reserve = 60s, .window_min = 1000, .window_max = 100'000};
    }

    // As the process does when it starts: over what the last one left.
    void start(const std::vector<std::string>& sequences = {"s"}) {
        stop();
        std::vector<Supply*> pointers;
        for (const std::string& sequence : sequences) {
            supplies.push_back(make_supply(
                dir, deliveries, [this] { refiller->drive(); }, sequence));
            pointers.push_back(supplies.back().get());
        }
        refiller = std::make_unique<Refiller>(loop(), settings, pointers);
        refiller->drive();
    }
    void stop() {
        refiller.reset();
        supplies.clear();
    }
    void start_with(const std::string& options, const std::vector<std::string>& sequences = {"s"}) {
        cluster().psql("CREATE SEQUENCE s " + options);
        start(sequences);
    }

    template <class Condition>
    void until(Condition condition) {
        BOOST_REQUIRE_MESSAGE(run_until(condition), "trouble: " << trouble() << ", left: " << left());
    }
    const SequenceRefill& refill(std::size_t i = 0) const { return *refiller->sequences()[i]; }
    std::uint64_t left(std::size_t i = 0) const { return refill(i).left(); }
    std::string trouble(std::size_t i = 0) const { return supplies[i]->trouble().error; }
    void until_full(std::size_t i = 0) {
        until([&] { return left(i) >= 900; });
    }
    void until_trouble(const std::string& text, std::size_t i = 0) {
        until([&] { return says(trouble(i), text); });
    }
    void until_state(RefillState state) {
        until([&] { return refill().state() == state; });
    }

    // Takes up to `n`, each for the first time, and wakes the refiller as the last take would.
    std::uint64_t take_ids(std::uint64_t n, std::size_t i = 0) {
        const auto ranges = take(*supplies[i], n);
        BOOST_REQUIRE(issued.add(ranges));
        supplies[i]->ring();
        return count_of(ranges);
    }
    void use_up() { take_ids(left()); }
    void park(std::uint64_t ids, std::uint64_t request, Instant deadline = never) {
        BOOST_REQUIRE(supplies[0]->waiting().park({.ids = ids, .deadline = deadline, .request = request}));
        supplies[0]->ring();
    }

    // Lets the refiller send so many statements, whatever they are.
    void let_it_try(int statements) {
        const std::string begun = "SELECT query_start FROM pg_stat_activity WHERE application_name = 'next-id'";
        std::set<std::string> seen;
        until([&] {
            seen.insert(cluster().psql(begun));
            return int(seen.size()) > statements;
        });
    }
};

std::string last_value(const std::string& sequence = "s") {
    return cluster().psql("SELECT last_value FROM " + sequence);
}

std::string backends() {
    return cluster().psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'next-id'");
}

// Of the one connection there is: that of the test before may take a moment to end.
std::string backend() {
    BOOST_REQUIRE(wait_until([] { return backends() == "1"; }));
    return cluster().psql("SELECT pid FROM pg_stat_activity WHERE application_name = 'next-id'");
}

// As long as it lives, commits wait for a standby that does not exist.
struct MissingStandby {
    MissingStandby() { set("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "nobody"); }
    ~MissingStandby() { set("ALTER SYSTEM RESET synchronous_standby_names", ""); }

    static bool cancel_wait() {
        return cluster().psql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") ==
               "t";
    }

 private:
    static void set(const std::string& statement, const std::string& names) {
        cluster().psql(statement);
        cluster().psql("SELECT pg_reload_conf()");
        wait_until([&] { return cluster().psql("SHOW synchronous_standby_names") == names; });
    }
};

// A port of 127.0.0.1 at which nobody listens.
struct DeadPort {
    int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string number;
    DeadPort() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        BOOST_REQUIRE(bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
        BOOST_REQUIRE(getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        number = std::to_string(ntohs(address.sin_port));
    }
    ~DeadPort() { close(socket_fd); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(refiller_pgtests, RefillerFixture)

BOOST_AUTO_TEST_CASE(a_window_is_filled_and_filled_again) {
    start_with("");
    until_full();
    BOOST_TEST(last_value() == "1000");
    BOOST_TEST(trouble() == "");
    for (int i = 0; i < 5; ++i) use_up(), until_full();
    BOOST_TEST(issued.count() == std::uint64_t(issued.highest()));  // all of them, and each once
}

BOOST_AUTO_TEST_CASE(the_waiting_are_served_with_one_refill_and_in_order) {
    start_with("");
    park(10'000, 1);
    park(5, 2);
    until([&] { return deliveries.size() == 2; });
    BOOST_TEST(deliveries[0].request == 1u);
    BOOST_TEST(count_of(deliveries[0].ranges) == 10'000u);
    BOOST_TEST(issued.add(deliveries[0].ranges));
    BOOST_TEST(issued.add(deliveries[1].ranges));
}

BOOST_AUTO_TEST_CASE(an_answer_with_a_warning_is_thrown_away) {
    {
        cluster().psql("CREATE SEQUENCE s");
        const MissingStandby missing;
        start();
        until([] { return MissingStandby::cancel_wait(); });
        until_trouble("WARNING: canceling wait for synchronous replication");
        BOOST_TEST(left() == 0u);
    }
    const std::int64_t burned = std::stoll(last_value());
    BOOST_TEST(burned >= 1);
    until_full();
    use_up();
    BOOST_TEST(issued.lowest() > 1);  // that one was committed here, and perhaps nowhere else
    BOOST_TEST(trouble() == "");
}

BOOST_AUTO_TEST_CASE(a_late_statement_keeps_its_connection_and_its_answer_is_used) {
    settings.target.query_timeout = 200ms;
    std::string pid;
    {
        cluster().psql("CREATE SEQUENCE s");
        const MissingStandby missing;
        start();
        until_trouble("has not answered");
        BOOST_TEST(left() == 0u);
        pid = backend();
        park(1, 1, Clock::now() + 500ms);
        until([&] { return deliveries.size() == 1; });
        BOOST_CHECK(deliveries[0].result == WaitResult::expired);  // the loop turns, and does not try elsewhere
        BOOST_TEST(backends() == "1");
        BOOST_TEST(backend() == pid);
    }
    until_full();
    BOOST_TEST(backend() == pid);
    BOOST_TEST(trouble() == "");
    use_up();
    BOOST_TEST(issued.lowest() == 1);
    BOOST_TEST(issued.count() == std::uint64_t(issued.highest()));
}

BOOST_AUTO_TEST_CASE(a_lock_on_the_sequence_ends_in_an_answer_and_is_outlived) {
    settings.target.query_timeout = 400ms;
    start_with("");
    until_full();
    const std::string pid = backend();
    const Session session = connect(cluster());
    run(session, "BEGIN");
    run(session, "ALTER SEQUENCE s INCREMENT 3");
    use_up();
    until_trouble("lock timeout");
    let_it_try(2);
    run(session, "COMMIT");
    until_full();
    use_up();
    BOOST_TEST(issued.highest() > 1003);
    BOOST_TEST(backend() == pid);
}

BOOST_AUTO_TEST_CASE(beside_other_callers_no_value_is_given_to_two) {
    start_with("");
    std::vector<std::int64_t> theirs;
    std::atomic<std::size_t> calls = 0;
    std::atomic<bool> enough = false;
    std::thread other{[&] {
        const Session session = connect(cluster());
        for (; !enough; ++calls)
            theirs.push_back(std::stoll(PQgetvalue(run(session, "SELECT nextval('s')").get(), 0, 0)));
    }};
    std::size_t ranges = 0;
    for (std::size_t i = 0; i < 1000 && (calls <= 10 || ranges <= 10 + i); ++i) {  // until they did come between
        park(5000, i);
        until([&] { return deliveries.size() > i; });
        ranges += deliveries[i].ranges.size();
    }
    enough = true;
    other.join();
    BOOST_TEST(ranges > 10 + deliveries.size());
    for (const Delivery& delivery : deliveries) BOOST_REQUIRE(issued.add(delivery.ranges));
    for (const std::int64_t value : theirs) BOOST_REQUIRE(issued.add(Range{value, 1, 1}));
    BOOST_TEST(theirs.size() > 10u);
}

BOOST_AUTO_TEST_CASE(in_block_mode_a_value_brings_its_block) {
    settings.sequence.mode = Increment::block;
    start_with("INCREMENT 250");
    until_full();
    BOOST_TEST(last_value() == "1001");  // the first one brings itself alone
    use_up();
    BOOST_TEST(issued.lowest() == 1);
    BOOST_TEST(issued.count() == 1001u);
}

BOOST_AUTO_TEST_CASE(the_increment_may_be_altered_at_any_time) {
    const std::uint64_t seed = random_seed();
    BOOST_TEST_CONTEXT("seed " << seed) {
        std::mt19937_64 random{seed};
        for (const Increment mode : {Increment::step, Increment::block}) {
            cluster().psql("DROP SEQUENCE IF EXISTS s");
            std::filesystem::remove_all(dir.path() / "state");
            issued = {};
            settings.sequence.mode = mode;
            start_with("");
            for (int i = 0; i < 15; ++i) {
                const auto increment = std::to_string(1 + random() % (mode == Increment::block ? 2000 : 5));
                const std::string alter = "ALTER SEQUENCE s INCREMENT " + increment;
                if (random() % 2 == 0) cluster().psql(alter);
                park(500 + random() % 3000, 1);
                if (random() % 2 == 0) cluster().psql(alter);
                until([&] { return !deliveries.empty(); });
                for (const Delivery& delivery : std::exchange(deliveries, {}))
                    BOOST_REQUIRE(issued.add(delivery.ranges));
                if (random() % 3 == 0) use_up();
            }
            BOOST_TEST(trouble() == "");
            stop();
        }
    }
}

BOOST_AUTO_TEST_CASE(a_sequence_set_back_is_latched_until_it_was_moved_past_the_mark) {
    start_with("");
    until_full();
    const std::string pid = backend();
    cluster().psql("SELECT setval('s', 10)");
    use_up();
    until_state(RefillState::latched);
    const std::string stands = last_value();
    let_it_try(4);
    BOOST_TEST(last_value() == stands);
    BOOST_TEST(left() == 0u);
    BOOST_TEST(says(trouble(), "went back"));

    const auto resume = [](const std::string& past) {
        return cluster().script("resume_past.sql", {"sequence=s", "past=" + past}).first;
    };
    BOOST_TEST(resume("900") == 0);  // short of this one's mark
    let_it_try(3);
    BOOST_CHECK(refill().state() == RefillState::latched);
    BOOST_TEST(resume("1000") == 0);
    until_full();
    use_up();
    BOOST_TEST(issued.count() >= 1900u);
    BOOST_TEST(trouble() == "");
    BOOST_TEST(backend() == pid);

    // Set back once more: the comment is still there.
    until_full();
    cluster().psql("SELECT setval('s', 1500)");
    use_up();
    until_state(RefillState::latched);
    const std::string again = last_value();
    let_it_try(4);
    BOOST_TEST(last_value() == again);
}

BOOST_AUTO_TEST_CASE(over_a_new_connection_it_is_latched_without_a_nextval) {
    start_with("");
    until_full();
    cluster().psql("SELECT setval('s', 10)");
    cluster().psql("SELECT pg_terminate_backend(" + backend() + ")");
    until([&] { return refiller->connection_state() == PgState::broken; });
    use_up();
    until_state(RefillState::latched);
    BOOST_TEST(last_value() == "10");

    start();  // the process too: what it knows is in the window's file
    until_state(RefillState::latched);
    let_it_try(3);
    BOOST_TEST(last_value() == "10");
}

BOOST_AUTO_TEST_CASE(a_sequence_dropped_and_created_is_latched_until_it_was_moved) {
    start_with("");
    until_full();
    take_ids(100);
    cluster().psql("DROP SEQUENCE s; CREATE SEQUENCE s");
    use_up();
    until_state(RefillState::latched);
    const std::string stands = last_value();
    let_it_try(3);
    BOOST_TEST(last_value() == stands);
    BOOST_TEST(cluster().script("resume_past.sql", {"sequence=s", "past=1000"}).first == 0);
    until_full();
    use_up();
    BOOST_TEST(issued.highest() > 1000);
}

BOOST_AUTO_TEST_CASE(a_sequence_created_beyond_the_mark_is_used_once_its_owner_says_so) {
    start_with("");
    until_full();
    stop();
    cluster().psql("DROP SEQUENCE s; CREATE SEQUENCE s START 5000");
    start();
    until_state(RefillState::latched);  // it was never called, so where it stands cannot be seen
    BOOST_TEST(cluster().script("resume_past.sql", {"sequence=s", "past=1000"}).first == 0);
    until_full();
    use_up();
    BOOST_TEST(issued.lowest() == 5000);
}

BOOST_AUTO_TEST_CASE(sequences_that_repeat_ids_are_refused_until_cured) {
    start_with("");
    until_full();
    const std::pair<const char*, const char*> cases[] = {{"CYCLE", "NO CYCLE"}, {"SET UNLOGGED", "SET LOGGED"}};
    for (const auto& [bad, good] : cases) {
        cluster().psql(std::string{"ALTER SEQUENCE s "} + bad);
        use_up();
        until_state(RefillState::refused);
        BOOST_TEST(says(trouble(), good));
        const std::string stands = last_value();
        let_it_try(3);
        BOOST_TEST(last_value() == stands);
        BOOST_TEST(left() == 0u);
        cluster().psql(std::string{"ALTER SEQUENCE s "} + good);
        until_full();
        BOOST_TEST(trouble() == "");
    }
    BOOST_TEST(take_ids(10) == 10u);
}

BOOST_AUTO_TEST_CASE(a_temporary_sequence_of_another_session_is_never_used) {
    const Session session = connect(cluster());
    run(session, "CREATE TEMPORARY SEQUENCE s");
    const Rows schema = run(session, "SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()");
    start({std::string{PQgetvalue(schema.get(), 0, 0)} + ".s"});
    until_trouble("temporary");
    let_it_try(2);
    BOOST_TEST(left() == 0u);
    BOOST_TEST(std::string{PQgetvalue(run(session, "SELECT is_called FROM s").get(), 0, 0)} == "f");
}

BOOST_AUTO_TEST_CASE(a_missing_sequence_is_told_and_used_once_it_exists) {
    start();
    until_trouble("\"s\" does not exist");
    let_it_try(2);
    cluster().psql("CREATE SEQUENCE s");
    until_full();
    BOOST_TEST(trouble() == "");
}

BOOST_AUTO_TEST_CASE(the_last_ids_are_given_out_once_and_then_the_end_is_told) {
    start_with("MAXVALUE 2345");
    until([&] {
        use_up();
        return issued.count() == 2345;
    });
    until_trouble("reached maximum value of sequence");
    BOOST_TEST(issued.highest() == 2345);
    cluster().psql("ALTER SEQUENCE s MAXVALUE 10000");
    until_full();
    BOOST_TEST(trouble() == "");
}

BOOST_AUTO_TEST_CASE(the_right_to_use_the_sequence_is_enough) {
    cluster().psql("DO $$ BEGIN CREATE ROLE app LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    settings.target = target({{"host", "127.0.0.1"}, {"port", cluster().port()}, {"user", "app"}});
    start_with("");
    until_trouble("permission denied");
    cluster().psql("GRANT USAGE ON SEQUENCE s TO app");
    until_full();
    BOOST_TEST(trouble() == "");
}

BOOST_AUTO_TEST_CASE(postgresql_may_come_later_than_the_sidecar) {
    cluster().psql("CREATE SEQUENCE s");
    cluster().stop();
    start();
    until_trouble("refused");
    park(1, 1, Clock::now() + 100ms);
    park(1, 2);
    until([&] { return deliveries.size() == 1; });
    BOOST_CHECK(deliveries[0].result == WaitResult::expired);
    cluster().start();
    until([&] { return deliveries.size() == 2; });
    BOOST_CHECK(deliveries[1].result == WaitResult::served);
    until_full();
}

BOOST_AUTO_TEST_CASE(postgresql_may_go_and_come_back_and_crash) {
    start_with("");
    until_full();
    for (const PgStop how : {PgStop::fast, PgStop::immediate, PgStop::immediate}) {
        cluster().stop(how);
        until([&] { return refiller->connection_state() == PgState::broken; });
        BOOST_TEST(take_ids(100) == 100u);  // the window does not care
        use_up();
        until_trouble("refused");
        cluster().start();
        until_full();
        BOOST_TEST(trouble() == "");
    }
    use_up();
}

BOOST_AUTO_TEST_CASE(a_trouble_ends_when_postgresql_is_back_though_nothing_is_to_be_reserved) {
    start_with("");
    until_full();
    BOOST_TEST((refiller->standing().kind() == Standing::Kind::connected));
    BOOST_TEST(refiller->endpoint().port == cluster().port());
    cluster().stop();
    until([&] { return refiller->standing().kind() == Standing::Kind::away; });
    const Instant away_since = refiller->standing().since();
    until_trouble("Connection refused");
    BOOST_TEST((refiller->standing().since() == away_since));
    cluster().start();
    until([&] { return trouble().empty(); });
    BOOST_TEST((refiller->standing().kind() == Standing::Kind::connected));
    BOOST_TEST(left() == 1000U);
}

BOOST_AUTO_TEST_CASE(a_host_that_is_down_is_passed_over) {
    const DeadPort dead;
    settings.target = target({{"host", "127.0.0.1,127.0.0.1"}, {"port", dead.number + "," + cluster().port()}});
    start_with("");
    until_full();
}

BOOST_AUTO_TEST_CASE(the_connection_is_closed_when_idle_and_opened_for_the_next_refill) {
    settings.idle_close = 100ms;
    start_with("");
    for (int i = 0; i < 3; ++i) {
        until_full();
        until([&] { return refiller->connection_state() == PgState::closed; });
        until([] { return backends() == "0"; });
        BOOST_TEST(trouble() == "");
        use_up();
    }
}

BOOST_AUTO_TEST_CASE(several_sequences_share_one_connection_and_no_trouble) {
    cluster().psql("CREATE SEQUENCE s3 INCREMENT 5");
    start_with("", {"s", "s2", "s3"});
    until_full(0);
    until_full(2);
    until_trouble("\"s2\" does not exist", 1);
    BOOST_TEST(trouble(0) == "");
    BOOST_TEST(trouble(2) == "");
    BOOST_TEST(last_value("s3") == "4996");
    BOOST_TEST(backends() == "1");
    use_up();
    until_full(0);
    cluster().psql("CREATE SEQUENCE s2");
    until_full(1);
    BOOST_TEST(backends() == "1");
}

BOOST_AUTO_TEST_CASE(a_window_outlives_its_sidecar) {
    start_with("");
    until_full();
    take_ids(100);
    start();
    BOOST_TEST(left() == 900u);
    BOOST_TEST(take_ids(100) == 100u);  // before any connection
    BOOST_TEST(last_value() == "1000");
    until_state(RefillState::reserving);
    BOOST_TEST(left() == 800u);
    use_up();
    until_full();
    use_up();
    BOOST_TEST(issued.count() == std::uint64_t(issued.highest()));
}

BOOST_AUTO_TEST_CASE(a_window_of_a_sequence_that_is_gone_is_discarded) {
    start_with("");
    until_full();
    stop();
    cluster().psql("DROP SEQUENCE s; CREATE SEQUENCE s");
    start();
    BOOST_TEST(left() == 1000u);
    until([&] { return left() == 0; });
    BOOST_TEST(refill().discarded() == 1000u);
}

BOOST_AUTO_TEST_CASE(a_database_that_was_dropped_and_restored_is_not_asked_for_what_it_gave) {
    cluster().psql("DROP DATABASE IF EXISTS restored");
    const auto restore = [](const std::string& sequence) {
        cluster().psql("CREATE DATABASE restored");
        const Session session{PQconnectdb(("host=" + cluster().socket_dir() + " port=" + cluster().port() +
                                           " user=postgres dbname=restored")
                                              .c_str()),
                              &PQfinish};
        run(session, sequence);
    };
    settings.target.parameters.emplace_back("dbname", "restored");
    restore("CREATE SEQUENCE s");
    start();
    until_full();
    use_up();
    until_full();
    cluster().psql("DROP DATABASE restored WITH (FORCE)");
    restore("CREATE SEQUENCE s START 1000");  // as it was when half of that had been given out
    use_up();
    until([&] { return refill().state() == RefillState::latched; });
    BOOST_TEST(left() == 0u);
    stop();
    cluster().psql("DROP DATABASE restored WITH (FORCE)");
    restore("CREATE SEQUENCE s START 100000");
    start();
    until([&] { return refill().state() == RefillState::latched; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
