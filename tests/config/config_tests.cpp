#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <map>

#include "sidecar/config/load.h"
#include "tests/config/given_config.h"

namespace next_id {

using namespace std::chrono_literals;
using Source = PgPassword::Source;

BOOST_FIXTURE_TEST_SUITE(config_tests, GivenConfig)

BOOST_AUTO_TEST_CASE(the_defaults_are_those_of_the_design) {
    const Config config = default_config();
    BOOST_TEST((config.http == HostPort{"127.0.0.1", 8080}));
    BOOST_TEST(*config.socket_path == "/run/next-id/next-id.sock");
    BOOST_TEST(config.socket_mode == 0666U);
    BOOST_TEST((config.admin == HostPort{"127.0.0.1", 9911}));
    BOOST_TEST(config.state_dir == "/run/next-id/state");
    BOOST_TEST(config.threads == 1U);
    BOOST_TEST((config.reserve == 60s && config.wait_max == 1s && config.db_timeout == 5s));
    BOOST_TEST((config.db_idle_close == 5s && config.stop_delay == 0s && config.drain_max == 5s));
    BOOST_TEST(config.window_ids_min == 1000);
    BOOST_TEST(config.window_ids_max == 10'000'000);
    BOOST_TEST((config.increment == Increment::step));
    BOOST_TEST((config.log_level == log::Level::info && config.log_format == log::Format::text));
    BOOST_TEST(keywords(config) == "host=127.0.0.1? port=5432? dbname=test_db? user=postgres?");
    BOOST_TEST(config.pg_sequences == std::vector<std::string>{"global_id_seq"}, boost::test_tools::per_element());
    BOOST_TEST((config.pg_password.source == Source::none_needed));
}

BOOST_AUTO_TEST_CASE(flags_beat_environment_beats_file_beats_default) {
    no_password_needed();
    BOOST_TEST(loaded().threads == 1U);
    file("threads = 2\n");
    BOOST_TEST(loaded().threads == 2U);
    environment["NEXT_ID_THREADS"] = "3";
    BOOST_TEST(loaded().threads == 3U);
    flags["threads"] = "4";
    BOOST_TEST(loaded().threads == 4U);
}

BOOST_AUTO_TEST_CASE(every_layer_is_judged_only_where_it_counts) {
    no_password_needed();
    environment["NEXT_ID_THREADS"] = "many";
    flags["threads"] = "4";
    BOOST_TEST(loaded().threads == 4U);
}

BOOST_AUTO_TEST_CASE(the_file_is_named_by_flag_before_environment) {
    no_password_needed();
    file("threads = 2\n");
    environment["NEXT_ID_CONFIG"] = flags["config"];
    flags["config"] = "/nonexistent/next-id.conf";
    BOOST_TEST(refused() ==
               "the settings file \"/nonexistent/next-id.conf\" cannot be read: No such file or directory");
    flags.erase("config");
    BOOST_TEST(loaded().threads == 2U);
}

BOOST_AUTO_TEST_CASE(the_file_has_comments_spaces_and_values_with_any_character) {
    file("# a comment\r\n\n  \t\n  threads=2  \r\npg-password =  a = b # c  \nlog-format\t=\tjson");
    const Config config = loaded();
    BOOST_TEST(config.threads == 2U);
    BOOST_TEST(config.pg_password.text == "a = b # c");
    BOOST_TEST((config.log_format == log::Format::json));
}

BOOST_AUTO_TEST_CASE(errors_in_the_file_name_file_line_and_what_is_allowed) {
    no_password_needed();
    const auto says = [&](const std::string& content) {
        file(content);
        const std::string sentence = refused(ExitCode::cannot_work);
        BOOST_TEST_REQUIRE(sentence.starts_with(flags["config"]), sentence);
        return sentence.substr(flags["config"].size());
    };
    BOOST_TEST(says("\nthread = 2\n") ==
               ":2: \"thread\" is no setting of the file; names are those of the flags, without dashes before them");
    BOOST_TEST(says("--threads = 2\n").starts_with(":1: \"--threads\" is no setting"));
    BOOST_TEST(says("config = /etc/other\n").starts_with(":1: \"config\" is no setting"));
    BOOST_TEST(says("threads = 2\n#\nthreads = 2\n") ==
               ":1: threads is given a second time on line 3; once is allowed");
    BOOST_TEST(says("[server]\n").starts_with(":1: a line is a comment that begins with #, or `name = value`"));
    BOOST_TEST(says("threads = 0\n") == ":1: threads is \"0\", but takes a whole number from 1 to 64");
    BOOST_TEST(says("http =\n").starts_with(":1: http is \"\", but takes an IP address"));
    BOOST_TEST(says("pg-user =\n") ==
               ":1: pg-user is \"\", but takes a value that is not empty (leave it out for the default)");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_settings_file_is_refused) {
    no_password_needed();
    flags["config"] = "/tmp";
    BOOST_TEST(refused() == "the settings file \"/tmp\" cannot be read: Is a directory");
    file(std::string(64 * 1024 + 1, '#'));
    BOOST_TEST(refused().ends_with("is longer than the 65536 bytes that are allowed"));
    file(std::string(64 * 1024, '#'));
    (void)loaded();
}

BOOST_AUTO_TEST_CASE(each_wrong_value_is_refused_with_name_value_and_what_is_allowed) {
    no_password_needed();
    struct Wrong {
        const char *variable, *value, *allowed;
    };
    const char* address = "an IP address and a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080, or none";
    const char* window = "a whole number from 1 to 1000000000";
    const std::string long_path = "/" + std::string(100, 'x');
    const char* path =
        "an absolute path of at most 100 bytes (the system has room for no longer name of a socket), or none";
    const char* names =
        "at most 64 comma-separated names, each a name, schema.name or \"Quoted Name\" with parts of 1 to 63 bytes";
    const Wrong table[] = {
        {"NEXT_ID_HTTP", "localhost:8080", address},
        {"NEXT_ID_HTTP", "127.0.0.1", address},
        {"NEXT_ID_HTTP", ":8080", address},
        {"NEXT_ID_HTTP", "::1:8080", address},
        {"NEXT_ID_HTTP", "[127.0.0.1]:8080", address},
        {"NEXT_ID_HTTP", "127.0.0.1:65536", address},
        {"NEXT_ID_HTTP", "127.0.0.1:80 ", address},
        {"NEXT_ID_HTTP", "None", address},
        {"NEXT_ID_ADMIN", "127.0.0.1:", address},
        {"NEXT_ID_SOCKET", "next-id.sock", path},
        {"NEXT_ID_SOCKET", long_path.c_str(), path},
        {"NEXT_ID_SOCKET", "/run/next-id/", path},
        {"NEXT_ID_SOCKET_MODE", "0668", "an octal number from 0000 to 0777, such as 0660"},
        {"NEXT_ID_SOCKET_MODE", "1777", "an octal number from 0000 to 0777, such as 0660"},
        {"NEXT_ID_SOCKET_MODE", "-1", "an octal number from 0000 to 0777, such as 0660"},
        {"NEXT_ID_STATE_DIR", "state", "the absolute path of a directory"},
        {"NEXT_ID_THREADS", "65", "a whole number from 1 to 64"},
        {"NEXT_ID_THREADS", "1.5", "a whole number from 1 to 64"},
        {"NEXT_ID_THREADS", "99999999999999999999", "a whole number from 1 to 64"},
        {"NEXT_ID_RESERVE", "60", "a duration from 1s to 1h, such as 500ms, 5s or 2m"},
        {"NEXT_ID_RESERVE", "999ms", "a duration from 1s to 1h, such as 500ms, 5s or 2m"},
        {"NEXT_ID_RESERVE", "9223372036854775807h", "a duration from 1s to 1h, such as 500ms, 5s or 2m"},
        {"NEXT_ID_WINDOW_MIN", "0", window},
        {"NEXT_ID_WINDOW_MAX", "1e6", window},
        {"NEXT_ID_INCREMENT", "blocks", "one of step, block"},
        {"NEXT_ID_WAIT_MAX", "61s", "a duration from 0s to 1m, such as 500ms, 5s or 2m"},
        {"NEXT_ID_DB_TIMEOUT", "0s", "a duration from 100ms to 10m, such as 500ms, 5s or 2m"},
        {"NEXT_ID_DB_IDLE_CLOSE", "-1s", "a duration from 0s to 1h, such as 500ms, 5s or 2m"},
        {"NEXT_ID_DRAIN_MAX", "5 s", "a duration from 0s to 10m, such as 500ms, 5s or 2m"},
        {"NEXT_ID_LOG_LEVEL", "warning", "one of trace, debug, info, warn, error"},
        {"NEXT_ID_LOG_FORMAT", "JSON", "one of text, json"},
        {"PG_HOST", "", "a value that is not empty (leave it out for the default)"},
        {"PG_PORT", "0", "a port from 1 to 65535"},
        {"PG_PORT", "65536", "a port from 1 to 65535"},
        {"PG_SEQUENCE", "", names},
        {"PG_SEQUENCE", "a,", names},
        {"PG_SEQUENCE", ",a", names},
        {"PG_SEQUENCE", "a..b", names},
        {"PG_SEQUENCE", "a.b.c", names},
        {"PG_SEQUENCE", "a b", names},
        {"PG_SEQUENCE", "\"a", names},
        {"PG_SEQUENCE", "\"\"", names},
        {"PG_SEQUENCE", "\"a\"b", names},
    };
    for (const auto& [variable, value, allowed] : table) {
        environment[variable] = value;
        BOOST_TEST(refused(ExitCode::cannot_work) ==
                   variable + std::string{" is \""} + value + "\", but takes " + allowed);
        environment.erase(variable);
    }
}

BOOST_AUTO_TEST_CASE(a_wrong_flag_is_wrong_usage) {
    no_password_needed();
    flags["threads"] = "0";
    BOOST_TEST(refused(ExitCode::wrong_usage) == "--threads is \"0\", but takes a whole number from 1 to 64");
}

BOOST_AUTO_TEST_CASE(an_error_stays_one_line_whatever_was_given) {
    no_password_needed();
    environment["NEXT_ID_THREADS"] = "1\n\x1b[2J";
    BOOST_TEST(refused().starts_with("NEXT_ID_THREADS is \"1\\n\\x1b[2J\", but"));
}

BOOST_AUTO_TEST_CASE(values_at_their_limits_are_taken) {
    no_password_needed();
    environment = {
        {"PG_PASSWORD", ""},         {"NEXT_ID_HTTP", "[::1]:0"},    {"NEXT_ID_SOCKET", "/" + std::string(99, 'x')},
        {"NEXT_ID_ADMIN", "none"},   {"NEXT_ID_SOCKET_MODE", "600"}, {"NEXT_ID_THREADS", "64"},
        {"NEXT_ID_RESERVE", "60m"},  {"NEXT_ID_WAIT_MAX", "0ms"},    {"NEXT_ID_WINDOW_MIN", "7"},
        {"NEXT_ID_WINDOW_MAX", "7"}, {"PG_PORT", "65535"},           {"NEXT_ID_INCREMENT", "block"}};
    const Config config = loaded();
    BOOST_TEST((config.http == HostPort{"::1", 0}));
    BOOST_TEST(config.socket_path->size() == 100U);
    BOOST_TEST(!config.admin);
    BOOST_TEST(config.socket_mode == 0600U);
    BOOST_TEST((config.reserve == 1h && config.wait_max == 0s));
    BOOST_TEST((config.increment == Increment::block));
}

BOOST_AUTO_TEST_CASE(settings_that_contradict_each_other_are_refused_by_both_names) {
    no_password_needed();
    flags["window-max"] = "999";
    BOOST_TEST(refused(ExitCode::cannot_work) ==
               "--window-min (the default) is 1000 and --window-max is 999, but the least must not be above the most");
    flags = {{"http", "none"}};
    environment["NEXT_ID_SOCKET"] = "none";
    BOOST_TEST(refused(ExitCode::cannot_work) ==
               "--http is none, --resp (the default) is none and NEXT_ID_SOCKET is none, but one of them must be on");
    flags = {{"http", "127.0.0.1:9911"}};
    BOOST_TEST(
        refused(ExitCode::cannot_work) ==
        "--http is 127.0.0.1:9911 and --admin (the default) is 127.0.0.1:9911, but each needs an address of its own");
    flags = {{"tls-cert", "c.pem"}};
    BOOST_TEST(refused(ExitCode::cannot_work) == "--tls-cert is c.pem, but --tls-key is not given: TLS needs both");
    flags = {{"tls-key", "k.pem"}};
    BOOST_TEST(refused(ExitCode::cannot_work) == "--tls-key is k.pem, but --tls-cert is not given: TLS needs both");
    flags = {{"tls-client-ca", "ca.pem"}};
    BOOST_TEST(refused(ExitCode::cannot_work) ==
               "--tls-client-ca is ca.pem, but --tls-cert and --tls-key are not given: TLS needs them too");
    environment.erase("NEXT_ID_SOCKET");
    flags = {{"tls-cert", "c.pem"}, {"tls-key", "k.pem"}, {"http", "none"}};
    BOOST_TEST(
        refused(ExitCode::cannot_work) ==
        "--tls-cert is c.pem, --http is none and --resp (the default) is none, but TLS is for HTTP and RESP over "
        "TCP");
    flags = {{"window-share", "/share"}, {"order", "strict"}};
    BOOST_TEST(
        refused(ExitCode::cannot_work) ==
        "--window-share is /share and --order is strict, but strict order reserves nothing ahead, so there is no "
        "window to share");
    flags = {{"http", "127.0.0.1:0"}, {"admin", "127.0.0.1:0"}};  // two free ports, which differ
    (void)loaded();
}

BOOST_AUTO_TEST_CASE(variables_that_are_no_settings_are_told_but_for_those_of_kubernetes) {
    const char* const variables[] = {"PATH=/bin",
                                     "NEXT_ID_THREADS=2",
                                     "NEXT_ID_WINDOWMIN=5",
                                     "NEXT_ID_=",
                                     "NEXT_ID_SERVICE_HOST=10.0.0.1",
                                     "NEXT_ID_SERVICE_PORT_HTTP=80",
                                     "NEXT_ID_PORT=tcp://10.0.0.1:80",
                                     "NEXT_ID_PORT_80_TCP_ADDR=10.0.0.1",
                                     nullptr};
    BOOST_TEST(unknown_variables(variables) == (std::vector<std::string>{"NEXT_ID_WINDOWMIN", "NEXT_ID_"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(several_sequences_keep_their_order_and_spelling) {
    no_password_needed();
    environment["PG_SEQUENCE"] = "b , My.Seq,\"a,b\".\"say \"\"hi\"\".\",a";
    const std::vector<std::string> names{"b", "My.Seq", "\"a,b\".\"say \"\"hi\"\".\"", "a"};
    BOOST_TEST(loaded().pg_sequences == names, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_sequence_named_twice_is_refused_however_it_is_spelled) {
    no_password_needed();
    for (const char* second : {"a", "A", "\"a\""}) {
        environment["PG_SEQUENCE"] = std::string{"a, b,"} + second;
        BOOST_TEST(refused().ends_with("but takes each name once, and " + std::string{second} + " is there twice"));
    }
    environment["PG_SEQUENCE"] = "a,\"A\",s.a";  // three that differ
    BOOST_TEST(loaded().pg_sequences.size() == 3U);
}

BOOST_AUTO_TEST_CASE(get_and_check_read_no_more_than_they_need) {
    environment = {{"NEXT_ID_THREADS", "many"}, {"PG_PORT", "tcp://10.0.0.1:5432"}};
    BOOST_TEST(*loaded(Command::get).socket_path == "/run/next-id/next-id.sock");
    BOOST_TEST((loaded(Command::check).admin == HostPort{"127.0.0.1", 9911}));
}

BOOST_AUTO_TEST_CASE(get_goes_over_tcp_only_when_told_so) {
    environment["NEXT_ID_HTTP"] = "0.0.0.0:80";  // the sidecar's, in the same container
    BOOST_TEST(!loaded(Command::get).http);
    environment["NEXT_ID_SOCKET"] = "none";
    BOOST_TEST((loaded(Command::get).http == HostPort{"0.0.0.0", 80}));
    environment.clear();
    flags["http"] = "127.0.0.1:81";
    BOOST_TEST(!loaded(Command::get).socket_path);
    flags["socket"] = "/tmp/s";
    BOOST_TEST(!loaded(Command::get).http);
    flags = {{"socket", "none"}};
    BOOST_TEST(refused(ExitCode::cannot_work, Command::get) ==
               "--socket is none, so --http must say where to ask instead");
}

BOOST_AUTO_TEST_CASE(access_is_open_unless_it_is_set) {
    const Config config = default_config();
    BOOST_TEST((config.token_file.empty() && config.admin_token_file.empty() && !config.socket_auth));
    BOOST_TEST((config.socket_uids.empty() && !config.rate && !config.rate_ids));
    BOOST_TEST(config.connections_max == 10'000U);
    BOOST_TEST(config.connections_per_client == 0U);
    BOOST_TEST((config.request_timeout == 30s && config.idle_timeout == 10min));
}

BOOST_AUTO_TEST_CASE(rates_and_users_are_read) {
    no_password_needed();
    flags["rate"] = "100/s";
    BOOST_TEST((loaded().rate == Rate{100, 1s}));
    flags["rate"] = "7/m";
    BOOST_TEST((loaded().rate == Rate{7, 1min}));
    flags["rate"] = "1000000000/h";
    BOOST_TEST((loaded().rate == Rate{1'000'000'000, 1h}));
    for (const char* wrong :
         {"100", "100/", "/s", "0/s", "-1/s", "100/ms", "100/d", "100/s ", "1.5/s", "1000000001/s"}) {
        flags["rate"] = wrong;
        BOOST_TEST(refused(ExitCode::wrong_usage) ==
                   "--rate is \"" + std::string{wrong} +
                       "\", but takes a whole number and a time, such as 100/s, 600/m or 1000/h, or none");
    }
    flags.erase("rate");
    flags["connections-per-client"] = "20";
    BOOST_TEST(loaded().connections_per_client == 20U);
    flags["socket-allow-uid"] = "0,1000,4294967294";
    BOOST_TEST((loaded().socket_uids == std::vector<std::uint32_t>{0, 1000, 4294967294}));
    for (const char* wrong : {"", ",", "1000,", "postgres", "-1", "4294967295", "1000;1001"}) {
        flags["socket-allow-uid"] = wrong;
        BOOST_TEST(refused(ExitCode::wrong_usage).ends_with("comma-separated, such as 1000 or 0,1000"), wrong);
    }
}

BOOST_AUTO_TEST_CASE(what_limits_nothing_is_refused) {
    no_password_needed();
    flags["burst"] = "5";
    BOOST_TEST(refused() == "--burst is 5, but there is no --rate to go with it");
    flags["rate-ids"] = "yes";
    BOOST_TEST(refused() == "--rate-ids is yes, but there is no --rate to go with it");
    flags["rate"] = "5/s";
    BOOST_TEST(loaded().burst == 5U);
    flags["rate"] = "1/h";
    flags["burst"] = "9000";
    BOOST_TEST(refused() == "--burst is 9000 and --rate is 1/h, but a burst for more than a year is no limit");
    flags["burst"] = "8000";
    BOOST_TEST(loaded().burst == 8000U);
    flags["socket-auth"] = "yes";
    BOOST_TEST(refused() == "--socket-auth is yes, but no --token-file says which tokens there are");
    flags["token-file"] = "/nonexistent";  // which is for the start to find out
    BOOST_TEST(loaded().socket_auth);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
