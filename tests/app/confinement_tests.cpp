#include "sidecar/app/confinement.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <functional>

namespace next_id {
namespace {

// In a child, since what is given up does not come back. Its exit code.
int in_child(const std::function<int()>& run) {
    const pid_t child = fork();
    if (child == 0) _exit(run());
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Directories {
    std::filesystem::path root = [] {
        std::string name = (std::filesystem::temp_directory_path() / "next-id-confinement-XXXXXX").string();
        BOOST_REQUIRE(mkdtemp(name.data()) != nullptr);
        return std::filesystem::path{name};
    }();
    std::filesystem::path own = root / "own", other = root / "other";

    Directories() {
        create_directory(own);
        create_directory(other);
    }
    ~Directories() { remove_all(root); }
};

int error_of_writing(const std::filesystem::path& path) {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600) >= 0 ? 0 : errno;
}

bool kernel_has_landlock() {
    constexpr unsigned version_flag = 1;
    return syscall(SYS_landlock_create_ruleset, nullptr, 0, version_flag) >= 1;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(confinement_tests, Directories)

BOOST_AUTO_TEST_CASE(only_its_own_directories_can_be_written_and_all_can_be_read) {
    BOOST_REQUIRE_EQUAL(error_of_writing(other / "there"), 0);
    const bool can_confine = kernel_has_landlock();
    BOOST_TEST_MESSAGE("Landlock: " << (can_confine ? "yes" : "no, so only the words are tested"));
    BOOST_TEST(in_child([&] {
                   if (confine_writes({own}).empty() != can_confine) return 1;
                   if (error_of_writing(own / "file") != 0) return 2;
                   if (rename((own / "file").c_str(), (own / "renamed").c_str()) != 0) return 3;
                   if (unlink((own / "renamed").c_str()) != 0) return 4;
                   if (open((other / "there").c_str(), O_RDONLY) < 0) return 5;
                   if (!can_confine) return 0;
                   if (error_of_writing(other / "file") != EACCES) return 6;
                   if (error_of_writing(other / "there") != EACCES) return 7;
                   if (unlink((other / "there").c_str()) == 0) return 8;
                   if (mkdir((root / "directory").c_str(), 0700) == 0) return 9;
                   return 0;
               }) == 0);
}

BOOST_AUTO_TEST_CASE(a_program_that_it_might_run_gets_no_more_rights) {
    BOOST_TEST(in_child([&] { return confine_writes({own}), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }) == 1);
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_not_there_is_named) {
    if (kernel_has_landlock())
        BOOST_TEST(in_child([&] { return confine_writes({root / "missing"}).find("missing") == std::string::npos; }) ==
                   0);
}

BOOST_AUTO_TEST_CASE(hidden_memory_is_neither_dumped_nor_looked_into) {
    BOOST_TEST(in_child([] {
                   hide_memory();
                   rlimit cores{};
                   getrlimit(RLIMIT_CORE, &cores);
                   return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) + int(cores.rlim_max != 0);
               }) == 0);
}

BOOST_AUTO_TEST_CASE(a_private_key_is_a_secret_and_a_password_unless_none_is_needed) {
    Config config;
    BOOST_TEST(holds_secrets(config));  // libpq may find one
    config.pg_password.source = PgPassword::Source::literal;
    BOOST_TEST(holds_secrets(config));
    config.pg_password.source = PgPassword::Source::none_needed;
    BOOST_TEST(!holds_secrets(config));
    config.pg_conninfo = "password=secret";
    BOOST_TEST(holds_secrets(config));
    config.pg_conninfo.clear();
    config.tls_key = "key.pem";
    BOOST_TEST(holds_secrets(config));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
