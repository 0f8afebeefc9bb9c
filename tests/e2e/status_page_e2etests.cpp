// The status page in Debian's Chromium, driven by tests/browser/status_page.mjs. Pictures of it are left in
// tests/browser of the build tree.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

#include "tests/support/sidecar_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace next_id::test {
namespace {

constexpr std::chrono::milliseconds shown_within = std::chrono::seconds{2};
constexpr std::chrono::milliseconds scene_patience = std::chrono::seconds{60};

const std::filesystem::path scripts = std::filesystem::path{NEXT_ID_SOURCE_DIR} / "tests/browser";
const std::filesystem::path build = std::filesystem::path{NEXT_ID_PROGRAM}.parent_path() / "tests/browser";

// By the clock that the page has too.
std::string now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

class Browser {
 public:
    Browser() {
        const ProgramResult prepared = run_program({scripts / "prepare.sh", build});
        BOOST_TEST_REQUIRE(prepared.exit_code == 0, prepared.output);
        const std::string scenes = directory_.path / "scenes", outcomes = directory_.path / "outcomes";
        BOOST_TEST_REQUIRE(mkfifo(scenes.c_str(), 0600) == 0);
        scenes_ = open(scenes.c_str(), O_RDWR | O_CLOEXEC);
        const int output = open(outcomes.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        const std::string script = scripts / "status_page.mjs", shots = build / "shots";
        pid_ = start_program({"sh", "-c", "exec node \"$1\" \"$2\" \"$3\" <\"$4\"", "sh", script, build, shots, scenes},
                             output);
        close(output);
    }
    // It ends when there are no more scenes, and its browser with it.
    ~Browser() {
        close(scenes_);
        waitpid(pid_, nullptr, 0);
    }
    Browser(const Browser&) = delete;
    Browser& operator=(const Browser&) = delete;

    // `given`: members of a JSON object.
    void play(const std::string& scene, const std::string& given) {
        const std::string line = "{\"scene\":\"" + scene + "\"," + given + "}\n";
        BOOST_TEST_REQUIRE(write(scenes_, line.data(), line.size()) == ssize_t(line.size()));
        ++played_;
        wait_until([&] { return outcomes().size() >= played_; }, scene_patience);
        const std::vector<std::string> all = outcomes();
        BOOST_TEST_REQUIRE(all.size() == played_, scene << " does not end in one line: " << content());
        BOOST_TEST(all.back().starts_with("ok"), scene << ": " << all.back());
        BOOST_TEST_MESSAGE(scene << ": " << all.back());
    }

 private:
    std::string content() const {
        std::ostringstream text;
        text << std::ifstream{directory_.path / "outcomes"}.rdbuf();
        return text.str();
    }
    std::vector<std::string> outcomes() const {
        std::vector<std::string> lines;
        std::istringstream file{content()};
        for (std::string line; std::getline(file, line) && !file.eof();) lines.push_back(line);
        return lines;
    }

    TempDir directory_;
    int scenes_ = -1;
    pid_t pid_ = -1;
    std::size_t played_ = 0;
};

// One for all cases: starting it is most of what they would cost.
Browser& browser() {
    static Browser shared;
    return shared;
}

std::string since(const std::string& known_ms) {
    return "\"known_ms\":" + known_ms + ",\"most_ms\":" + std::to_string(shown_within.count());
}

// When the sidecar first says this of PostgreSQL.
std::future<std::string> known_as(const SidecarProcess& sidecar, const std::string& state) {
    return std::async(std::launch::async, [&sidecar, state] {
        wait_until([&] { return sidecar.status("postgresql") == "\"" + state + "\""; });
        return now_ms();
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(status_page_e2etests)

BOOST_AUTO_TEST_CASE(values_move_and_an_outage_shows_within_two_seconds_and_its_end_too) {
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", new_sequence()}, {"NEXT_ID_DB_IDLE_CLOSE", "1h"}}};
    sidecar.start_filled(1000);
    browser().play("moves", "\"url\":\"http://" + sidecar.admin() + "/\",\"ids\":\"http://" + sidecar.http() +
                                "/next-id?count=20\"");

    std::future<std::string> known = known_as(sidecar, "away");
    Outage outage;
    browser().play("outage", since(known.get()));
    known = known_as(sidecar, "connected");
    outage.end();
    browser().play("recovery", since(known.get()));

    sidecar.signal(SIGSTOP);
    browser().play("silence", since(now_ms()));
    sidecar.signal(SIGCONT);
    browser().play("recovery", since(now_ms()));
}

BOOST_AUTO_TEST_CASE(a_token_is_asked_for_once_and_kept_in_the_tab) {
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", new_sequence()}}};
    sidecar.set("NEXT_ID_ADMIN_TOKEN_FILE", sidecar.write_file("tokens", "0123456789abcdef\n"));
    sidecar.start_ready();
    browser().play("token", "\"url\":\"http://" + sidecar.admin() + "/status\",\"token\":\"0123456789abcdef\"");
}

BOOST_AUTO_TEST_CASE(in_strict_order_there_is_no_window_to_show) {
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", new_sequence()}, {"NEXT_ID_ORDER", "strict"}}};
    sidecar.start_ready();
    browser().play("strict", "\"url\":\"http://" + sidecar.admin() + "/\"");
}

BOOST_AUTO_TEST_CASE(sixty_four_sequences_are_shown_and_chosen_by_keyboard) {
    std::string names, quoted;
    for (int i = 0; i < 64; ++i) {
        const std::string name = new_sequence();
        (names += names.empty() ? "" : ",") += name;
        (quoted += quoted.empty() ? "\"" : ",\"") += name + "\"";
    }
    SidecarProcess sidecar{shared_postgres(), {{"PG_SEQUENCE", names}}};
    sidecar.start_ready();
    browser().play("many", "\"url\":\"http://" + sidecar.admin() + "/\",\"sequences\":[" + quoted + "]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
