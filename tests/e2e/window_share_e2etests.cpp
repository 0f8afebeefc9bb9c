// The real sidecar shares its window, and processes of their own map it: what happens to either, no ID comes twice.
#include <linux/magic.h>
#include <next_id/client.h>
#include <next_id/id_pool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/load.h"
#include "tests/support/sidecar_process.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;

constexpr std::uint64_t ids_max = 4'000'000;

// A process that takes IDs until it is stopped or killed, and logs each in memory that the test sees.
class Taker {
 public:
    template <class Take>
    explicit Taker(Take take) {
        log_ = static_cast<Log*>(
            ::mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        BOOST_TEST_REQUIRE((static_cast<void*>(log_) != MAP_FAILED));
        child_ = ::fork();
        if (child_ != 0) return;
        try {
            take([this](std::int64_t id) {
                const std::uint64_t n = log_->count;
                log_->ids[n] = id;
                log_->count = n + 1;
                return !log_->stop && n + 1 < ids_max;
            });
        } catch (const std::exception& error) {
            std::fprintf(stderr, "taker: %s\n", error.what());
            ::_exit(1);
        }
        ::_exit(0);
    }
    ~Taker() {
        kill();
        ::munmap(log_, sizeof(Log));
    }
    Taker(const Taker&) = delete;

    void kill() {
        if (child_ > 0) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
    bool stop() {
        log_->stop = true;
        int status = 1;
        if (child_ > 0) ::waitpid(child_, &status, 0);
        child_ = -1;
        return status == 0;
    }
    std::uint64_t count() const { return log_->count; }
    void append_to(Ids& all) const { all.insert(all.end(), log_->ids, log_->ids + log_->count); }

 private:
    struct Log {
        std::atomic<std::uint64_t> count;
        std::atomic<bool> stop;
        std::int64_t ids[ids_max];
    };

    Log* log_;
    pid_t child_ = -1;
};

struct ShareFixture {
    // Called once: its first value would bring itself alone.
    ShareFixture() { shared_postgres().psql("SELECT nextval('" + sequence + "')"); }

    std::string sequence = new_sequence("INCREMENT 1000");

    std::unique_ptr<SidecarProcess> sidecar(SidecarSettings settings = {}) const {
        settings.emplace("PG_SEQUENCE", sequence);
        settings.emplace("NEXT_ID_INCREMENT", "block");
        settings.emplace("NEXT_ID_WINDOW_MIN", "100000");
        settings.emplace("NEXT_ID_LOG_LEVEL", "debug");
        auto made = std::make_unique<SidecarProcess>(shared_postgres(), settings);
        made->set("NEXT_ID_WINDOW_SHARE", made->directory() + "/share");
        return made;
    }
    Options mapping(const SidecarProcess& one) const {
        Options all;
        all.address = one.socket();
        all.sequence = sequence;
        all.window = one.setting("NEXT_ID_WINDOW_SHARE");
        all.timeout = 20s;
        return all;
    }
    fs::path window_of(const SidecarProcess& one) const {
        return fs::path{one.setting("NEXT_ID_WINDOW_SHARE")} / (sequence + ".window");
    }

    // Takers of every kind: of the window one by one, of it in batches, of it by a pool, and over HTTP beside.
    std::vector<std::unique_ptr<Taker>> takers(const SidecarProcess& one, int of_each) const {
        const Options mapped = mapping(one);
        Options asking = mapped;
        asking.window.clear();
        std::vector<std::unique_ptr<Taker>> all;
        for (int i = 0; i < of_each; ++i) {
            all.push_back(std::make_unique<Taker>([mapped](auto log) {
                for (Client client{mapped}; log(client.next());) {
                }
            }));
            all.push_back(std::make_unique<Taker>([mapped](auto log) {
                Client client{mapped};
                for (std::size_t n = 1;; n = n % 50 + 1)
                    for (const std::int64_t id : client.next(n))
                        if (!log(id)) return;
            }));
            all.push_back(std::make_unique<Taker>([mapped](auto log) {
                for (IdPool pool{mapped}; log(pool.next());) {
                }
            }));
            all.push_back(std::make_unique<Taker>([asking](auto log) {
                for (Client client{asking}; log(client.next());) {
                }
            }));
        }
        return all;
    }
};

Ids ids_of(const std::vector<std::unique_ptr<Taker>>& takers) {
    Ids all;
    for (const auto& taker : takers) taker->append_to(all);
    return all;
}

// Each takes so many more.
void wait_for_more(const std::vector<std::unique_ptr<Taker>>& takers, std::uint64_t more) {
    for (const auto& taker : takers) {
        const std::uint64_t wanted = std::min(taker->count() + more, ids_max);
        BOOST_TEST(wait_until([&] { return taker->count() >= wanted; }));
    }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(window_share_e2etests, ShareFixture)

BOOST_AUTO_TEST_CASE(many_processes_and_http_beside_get_no_id_twice) {
    const auto one = sidecar();
    one->start_ready();
    const auto all = takers(*one, 2);
    wait_for_more(all, 500);
    for (const auto& taker : all) BOOST_TEST(taker->stop());
    const Ids ids = ids_of(all);
    BOOST_TEST_MESSAGE(ids.size() << " IDs");
    BOOST_TEST(count_repeated(ids) == 0u);
}

BOOST_AUTO_TEST_CASE(takers_that_are_killed_do_no_harm) {
    const auto one = sidecar();
    one->start_ready();
    std::vector<std::unique_ptr<Taker>> all = takers(*one, 1);
    for (int round = 0; round < 10; ++round) {
        auto doomed = takers(*one, 1);
        wait_for_more(doomed, 50);
        for (auto& taker : doomed) {
            taker->kill();
            all.push_back(std::move(taker));
        }
    }
    for (int i = 0; i < 4; ++i) BOOST_TEST(all[std::size_t(i)]->stop());
    BOOST_TEST(count_repeated(ids_of(all)) == 0u);
    BOOST_TEST(id_of(TestClient{one->socket()}.get("/next-id")) > 0);
}

BOOST_AUTO_TEST_CASE(the_sidecar_may_stop_be_killed_and_be_replaced_under_them) {
    const auto one = sidecar();
    one->start_ready();
    const auto all = takers(*one, 1);
    wait_for_more(all, 100);
    for (const int signal : {SIGTERM, SIGKILL, SIGKILL}) {
        one->stop(signal);
        one->start_ready();
        BOOST_TEST(one->log().find("window adopted") != std::string::npos, one->log());
        wait_for_more(all, 100);
    }
    one->stop();
    shared_postgres().psql("CREATE ROLE another_source LOGIN SUPERUSER");
    one->set("PG_USER", "another_source");  // so the window is closed and replaced
    one->start_ready();
    BOOST_TEST(one->log().find("window discarded") != std::string::npos, one->log());
    wait_for_more(all, 100);
    for (const auto& taker : all) BOOST_TEST(taker->stop());
    BOOST_TEST(count_repeated(ids_of(all)) == 0u);
}

BOOST_AUTO_TEST_CASE(what_mapped_clients_take_is_refilled_before_they_ask) {
    const auto one = sidecar();
    one->start_filled(100'000);
    Options options = mapping(*one);
    options.address = "/nonexistent/s";  // they cannot
    Client client{options};
    client.next(90'000);
    BOOST_TEST(wait_until([&] { return std::stoull(one->status("ids_left")) >= 90'000; }));
    client.next(90'000);
}

BOOST_AUTO_TEST_CASE(a_window_that_is_dry_is_left_to_the_sidecar_to_say) {
    const auto one = sidecar({{"NEXT_ID_WAIT_MAX", "0s"}});
    one->start_filled(100'000);
    Options options = mapping(*one);
    options.timeout = 300ms;
    Client client{options};
    Outage outage;
    client.next(100'000);
    try {
        client.next();
        BOOST_ERROR("there was one more");
    } catch (const Error& error) {
        BOOST_TEST((error.code() == ErrorCode::no_ids), error.what());
    }
    outage.end();
    Client patient{mapping(*one)};
    BOOST_TEST(patient.next() > 0);
}

BOOST_AUTO_TEST_CASE(strict_order_and_disks_are_refused) {
    const auto strict = sidecar({{"NEXT_ID_ORDER", "strict"}});
    BOOST_TEST(strict->run_to_exit() == 78);
    BOOST_TEST(strict->log().find("NEXT_ID_WINDOW_SHARE is ") != std::string::npos, strict->log());
    const auto on_disk = sidecar();
    on_disk->set("NEXT_ID_WINDOW_SHARE", std::string{NEXT_ID_SOURCE_DIR} + "/build/share-test");
    if (struct statfs where{}; ::statfs(NEXT_ID_SOURCE_DIR, &where) == 0 && where.f_type != TMPFS_MAGIC) {
        BOOST_TEST(on_disk->run_to_exit() == 71);
        BOOST_TEST(on_disk->log().find("put it on a tmpfs") != std::string::npos, on_disk->log());
        fs::remove(on_disk->setting("NEXT_ID_WINDOW_SHARE"));
    }
}

// Who may write the window may take from it; others ask.
BOOST_AUTO_TEST_CASE(rights_on_the_window_decide_who_maps_it) {
    if (::geteuid() != 0) return;  // only root can be another
    for (const auto& [mode, maps] : {std::pair{"0660", false}, {"0666", true}}) {
        const auto one = sidecar({{"NEXT_ID_WINDOW_SHARE_MODE", mode}});
        fs::permissions(one->directory(), fs::perms{0755});
        one->start_filled(100'000);
        struct stat status {};
        ::stat(window_of(*one).c_str(), &status);
        BOOST_TEST((status.st_mode & 0777u) == (maps ? 0666u : 0660u));
        ::stat(one->state_dir().c_str(), &status);
        BOOST_TEST((status.st_mode & 0777u) == 0700u);
        Options options = mapping(*one);
        if (maps) options.address = "/nonexistent/s";
        Taker nobody{[options](auto log) {
            if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
            Client client{options};
            for (int i = 0; i < 9; ++i) log(client.next());
        }};
        BOOST_TEST(nobody.stop());
        BOOST_TEST(nobody.count() == 9u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
