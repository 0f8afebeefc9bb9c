#include <next_id/id_pool.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <future>

#include "tests/client/in_a_fork.h"
#include "tests/client/scripted_server.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::int64_t>;

Ids take(IdPool& pool, std::size_t n) {
    Ids ids(n);
    for (std::int64_t& id : ids) id = pool.next();
    return ids;
}

bool all_different(Ids ids) {
    std::sort(ids.begin(), ids.end());
    return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

void append(Ids& all, const Ids& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// A child that does the work and sends home the IDs that it returns.
class Child {
 public:
    template <class Work>
    explicit Child(Work work, pid_t (*make_child)() = &::fork) {
        int ends[2];
        BOOST_TEST_REQUIRE(::pipe(ends) == 0);
        home_ = FileDescriptor{ends[0]};
        const FileDescriptor away{ends[1]};
        pid_ = make_child();
        if (pid_ != 0) return;
        try {
            const Ids ids = work();
            const auto* bytes = reinterpret_cast<const char*>(ids.data());
            const std::size_t size = ids.size() * sizeof ids[0];
            ::_exit(::write(away.get(), bytes, size) == ssize_t(size) ? 0 : 2);
        } catch (...) {
            ::_exit(1);
        }
    }
    // At most as many as a pipe holds.
    Ids wait() {
        int status = -1;
        ::waitpid(pid_, &status, 0);
        BOOST_TEST(status == 0);
        Ids ids(8192);
        const ssize_t size = ::read(home_.get(), ids.data(), ids.size() * sizeof ids[0]);
        ids.resize(size > 0 ? std::size_t(size) / sizeof ids[0] : 0);
        return ids;
    }

 private:
    FileDescriptor home_;
    pid_t pid_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_id_pool_tests, ClientFixture)

BOOST_AUTO_TEST_CASE(many_threads_get_no_id_twice) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    IdPool pool{options(), {100}};
    constexpr std::size_t threads = 8, each = 20'000;
    std::vector<std::future<Ids>> takers;
    for (std::size_t i = 0; i < threads; ++i)
        takers.push_back(std::async(std::launch::async, [&] { return take(pool, each); }));
    Ids all;
    for (auto& taker : takers) {
        const Ids ids = taker.get();
        BOOST_TEST(std::is_sorted(ids.begin(), ids.end()));
        append(all, ids);
    }
    BOOST_TEST(all.size() == threads * each);
    BOOST_TEST(all_different(all));
    BOOST_TEST(*std::min_element(all.begin(), all.end()) == 1);
    BOOST_TEST(*std::max_element(all.begin(), all.end()) <= std::int64_t(counter.given()));
    BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(a_thread_that_ends_leaves_no_more_behind_than_it_took) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    IdPool pool{options(), {10'000}};
    for (std::int64_t i = 1; i <= 100; ++i)
        BOOST_TEST(std::async(std::launch::async, [&] { return pool.next(); }).get() == i);
    const Ids more = std::async(std::launch::async, [&] { return take(pool, 4000); }).get();
    const std::int64_t next = std::async(std::launch::async, [&] { return pool.next(); }).get();
    BOOST_TEST(next - more.back() <= 256);
}

BOOST_AUTO_TEST_CASE(it_asks_ahead_and_nobody_waits_meanwhile) {
    Counter counter;
    std::atomic<int> requests = 0;
    std::promise<void> go_on;
    ScriptedServer server{path, [&, gate = go_on.get_future().share()](Peer& peer) {
                              for (std::string request; !(request = peer.receive()).empty();) {
                                  if (++requests == 2) gate.wait();
                                  peer.send(counter.answer(request));
                              }
                          }};
    IdPool pool{options(), {1000}};
    for (std::int64_t i = 1; i <= 1000; ++i) BOOST_REQUIRE(pool.next() == i);  // though the second is not answered
    BOOST_TEST(wait_until([&] { return requests == 2; }));
    go_on.set_value();
    BOOST_TEST(pool.next() == 1001);
    BOOST_TEST(requests == 2);
}

BOOST_AUTO_TEST_CASE(what_was_asked_ahead_in_vain_is_asked_again) {
    Counter counter;
    std::atomic<int> requests = 0;
    ScriptedServer server{path, [&](Peer& peer) {
                              for (std::string request; !(request = peer.receive()).empty();) {
                                  if (++requests == 2) return;                   // closed instead
                                  if (requests == 4) peer.send(http_503("60"));  // it was dry then
                                  if (requests != 4) peer.send(counter.answer(request));
                              }
                          }};
    IdPool pool{options(), {100}};
    for (std::int64_t i = 1; i <= 300; ++i) BOOST_REQUIRE(pool.next() == i);
}

BOOST_AUTO_TEST_CASE(without_the_sidecar_it_lives_on_what_it_has_and_then_says_why) {
    Counter counter;
    const auto script = [&](Peer& peer) { counter.serve(peer); };
    auto server = std::make_unique<ScriptedServer>(path, script);
    IdPool pool{options(50ms), {1000}};
    BOOST_TEST(pool.next() == 1);
    server.reset();
    for (std::int64_t i = 2; i <= 1000; ++i) BOOST_REQUIRE(pool.next() == i);
    for (int i = 0; i < 2; ++i) {
        const Error error = error_of([&] { pool.next(); });
        BOOST_TEST((error.code() == ErrorCode::unreachable));
        BOOST_TEST(std::string{error.what()}.find(path) != std::string::npos);
    }
    server = std::make_unique<ScriptedServer>(path, script);
    BOOST_TEST(pool.next() == 1001);
}

BOOST_AUTO_TEST_CASE(all_who_wait_end_at_their_deadline) {
    ScriptedServer server{path, [](Peer& peer) { peer.receive(), peer.receive(); }};
    IdPool pool{options(100ms)};
    std::vector<std::future<Error>> takers;
    for (int i = 0; i < 4; ++i)
        takers.push_back(std::async(std::launch::async, [&] { return error_of([&] { pool.next(); }); }));
    for (auto& taker : takers) {
        BOOST_TEST_REQUIRE((taker.wait_for(20s) == std::future_status::ready));
        BOOST_TEST((taker.get().code() == ErrorCode::timed_out));
    }
}

BOOST_AUTO_TEST_CASE(a_thread_may_use_many_pools) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    std::vector<std::unique_ptr<IdPool>> pools;
    for (int i = 0; i < 9; ++i) pools.push_back(std::make_unique<IdPool>(options(), PoolOptions{50}));
    Ids all;
    for (int round = 0; round < 100; ++round)
        for (const auto& pool : pools) append(all, take(*pool, 1 + round % 7));
    BOOST_TEST(all_different(all));
}

BOOST_AUTO_TEST_CASE(a_pool_in_the_place_of_another_has_none_of_its_ids) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    Ids all;
    for (int i = 0; i < 10; ++i) {
        IdPool pool{options(), {100}};
        append(all, take(pool, 30));
    }
    BOOST_TEST(all_different(all));
    BOOST_TEST(server.connections() == 10);
}

BOOST_AUTO_TEST_CASE(ids_are_exact_to_both_ends_of_64_bits) {
    ScriptedServer server{path, [](Peer& peer) {
                              peer.receive();
                              peer.send(http_ranges(3, "[9223372036854775805,9223372036854775807]"));
                              peer.receive();
                              peer.send(http_ranges(3, "[-9223372036854775804,-9223372036854775808,-2]"));
                              peer.receive();
                          }};
    IdPool pool{options(), {3}};
    BOOST_TEST(take(pool, 6) ==
               (Ids{INT64_MAX - 2, INT64_MAX - 1, INT64_MAX, INT64_MIN + 4, INT64_MIN + 2, INT64_MIN}));
}

BOOST_AUTO_TEST_CASE(a_child_of_a_warm_pool_starts_empty_with_a_connection_of_its_own) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    IdPool pool{options(), {1000}};
    Ids all = take(pool, 400);  // IDs in this thread's hand, in the pool, and soon asked for ahead
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < 3; ++i) {
        children.push_back(std::make_unique<Child>([&] {
            Ids ids = take(pool, 1500);
            append(ids, Child{[&] { return take(pool, 1500); }}.wait());  // and a child of its own
            return ids;
        }));
        append(all, take(pool, 400));
    }
    for (const auto& child : children) append(all, child->wait());
    append(all, take(pool, 2000));
    BOOST_TEST(all.size() == 400u + 3 * (400 + 3000) + 2000);
    BOOST_TEST(all_different(all));
    BOOST_TEST(server.connections() == 1 + 3 + 3);
}

BOOST_AUTO_TEST_CASE(a_child_made_in_the_middle_of_a_refill_does_not_notice) {
    Counter counter;
    std::promise<void> asked, go_on;
    ScriptedServer server{path, [&, gate = go_on.get_future().share()](Peer& peer) {
                              for (std::string request; !(request = peer.receive()).empty();) {
                                  if (peer.number() == 1 && counter.given() == 0) asked.set_value(), gate.wait();
                                  peer.send(counter.answer(request));
                              }
                          }};
    IdPool pool{options(), {1}};
    auto refiller = std::async(std::launch::async, [&] { return pool.next(); });
    asked.get_future().wait();
    // The parent's thread waits for its answer, and others for it; here is nobody but the one that forked.
    Child child{[&] { return take(pool, 10); }};
    Ids all = child.wait();
    BOOST_TEST(all.size() == 10u);
    BOOST_TEST((refiller.wait_for(0s) == std::future_status::timeout));
    go_on.set_value();
    all.push_back(refiller.get());
    BOOST_TEST(all_different(all));
}

BOOST_AUTO_TEST_CASE(a_child_that_clone_makes_starts_empty_too) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    IdPool pool{options(), {1000}};
    Ids all = take(pool, 400);
    append(all, Child{[&] { return take(pool, 400); }, &bare_clone}.wait());
    append(all, take(pool, 400));
    BOOST_TEST(all_different(all));
    BOOST_TEST(server.connections() == 2);
}

// The mutex of the pool may be held in any moment: forked often enough, while threads refill all the time.
BOOST_AUTO_TEST_CASE(children_made_at_any_moment_work) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    IdPool pool{options(), {2}};
    std::atomic<bool> stop = false;
    std::vector<std::future<Ids>> takers;
    for (int i = 0; i < 2; ++i)
        takers.push_back(std::async(std::launch::async, [&] {
            Ids ids;
            while (!stop) ids.push_back(pool.next());
            return ids;
        }));
    Ids all;
    for (int i = 0; i < 50; ++i) append(all, Child{[&] { return take(pool, 5); }}.wait());
    stop = true;
    for (auto& taker : takers) append(all, taker.get());
    BOOST_TEST(all_different(all));
}

BOOST_AUTO_TEST_CASE(a_child_that_only_ends_takes_nothing_from_its_parent) {
    Counter counter;
    ScriptedServer server{path, [&](Peer& peer) { counter.serve(peer); }};
    auto pool = std::make_unique<IdPool>(options(), PoolOptions{10});
    Ids all = take(*pool, 8);  // the next batch is asked for
    Child{[&] {
        pool.reset();
        return Ids{};
    }}.wait();
    append(all, take(*pool, 8));
    BOOST_TEST(all == (Ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
    BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(options_that_cannot_work_are_refused_at_once) {
    for (const std::size_t batch : {std::size_t{0}, Client::count_max + 1})
        BOOST_TEST((error_of([&] { IdPool{options(), {batch}}; }).code() == ErrorCode::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
