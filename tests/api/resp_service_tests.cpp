#include "sidecar/api/resp_service.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>

#include "tests/api/supply_fixture.h"

namespace next_id {
namespace {

using Words = std::vector<std::string>;

std::chrono::system_clock::time_point some_time() {
    return std::chrono::system_clock::time_point{} + std::chrono::microseconds{1'700'000'000'000'042};
}

ParkedCommand of(std::uint64_t count) {
    return {.wanted = {.count = count}, .listener = ListenerName::resp};
}

struct RespFixture : SupplyFixture {
    void offer(const Catalog& catalog, RateLimiter* limiter = nullptr) {
        offered.emplace(std::vector<Supply*>{&supply}, catalog, limiter);
        service.emplace(*offered, some_time);
    }

    std::string answered(const Words& words) {
        const std::vector<std::string_view> command{words.begin(), words.end()};
        std::string out = "before";
        const bool parked = service->answer(command, client, caller, last, out).has_value();
        BOOST_TEST_REQUIRE(out.starts_with("before"));  // it appends
        return parked ? "(parked)" + out.substr(6) : out.substr(6);
    }
    ParkedCommand parked(const Words& words) {
        const std::vector<std::string_view> command{words.begin(), words.end()};
        std::string out;
        const auto waits = service->answer(command, client, caller, last, out);
        BOOST_TEST_REQUIRE(waits.has_value());
        BOOST_TEST(out == "");
        return *waits;
    }

    void check(const Words& words, const std::string& resp2, const std::string& resp3) {
        BOOST_TEST_CONTEXT(words[0]) {
            client.version = RespVersion::resp2;
            BOOST_TEST(answered(words) == resp2);
            client.version = RespVersion::resp3;
            BOOST_TEST(answered(words) == resp3);
        }
    }
    void check(const Words& words, const std::string& both) { check(words, both, both); }

    std::uint64_t answers(int code) {
        const auto place = std::ranges::find(answer_codes, code) - answer_codes.begin();
        return offered->counters().requests(ListenerName::resp).answers(static_cast<std::size_t>(place));
    }

    std::optional<IdService> offered{std::in_place, std::vector<Supply*>{&supply}, Catalog{{"app.ids"}, 1'000'000}};
    std::optional<RespService> service{std::in_place, *offered, some_time};
    Client peer;
    Caller caller{.client = peer, .listener = ListenerName::resp};
    RespClient client{.id = 7};
    bool last = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(resp_service_tests, RespFixture)

BOOST_AUTO_TEST_CASE(incr_takes_one_id_each_time) {
    publish(9'007'199'254'740'993, 5);  // beyond what a double holds
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":9007199254740993\r\n");
    BOOST_TEST(answered({"incr", "app.ids"}) == ":9007199254740994\r\n");
    client.version = RespVersion::resp3;
    BOOST_TEST(answered({"InCr", "app.ids"}) == ":9007199254740995\r\n");
    BOOST_TEST(answered({"INCRBY", "app.ids", "1"}) == ":9007199254740996\r\n");
    BOOST_TEST(supply.window().left() == 1u);
}

BOOST_AUTO_TEST_CASE(incr_works_in_any_step_and_to_the_ends) {
    publish(INT64_MAX - 2, 2, 2);
    publish(INT64_MIN, 1);
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":9223372036854775805\r\n");
    BOOST_TEST(answered({"INCRBY", "app.ids", "1"}) == ":9223372036854775807\r\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":-9223372036854775808\r\n");
}

BOOST_AUTO_TEST_CASE(incrby_tells_the_last_of_so_many_that_follow_each_other) {
    publish(1, 1000);
    BOOST_TEST(answered({"INCRBY", "app.ids", "100"}) == ":100\r\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":101\r\n");
    BOOST_TEST(answered({"INCRBY", "app.ids", "899"}) == ":1000\r\n");
    BOOST_TEST(supply.window().left() == 0u);
}

BOOST_AUTO_TEST_CASE(incrby_passes_over_a_short_remainder_once_it_has_found_enough) {
    publish(1, 3);
    BOOST_TEST(parked({"INCRBY", "app.ids", "4"}).wanted.count == 4u);
    BOOST_TEST(supply.window().left() == 3u);  // it looked, and took nothing
    publish(100, 10);
    BOOST_TEST(answered({"INCRBY", "app.ids", "4"}) == ":103\r\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":104\r\n");
}

BOOST_AUTO_TEST_CASE(incrby_passes_over_no_more_ids_than_it_gives) {
    publish(1, 3);
    publish(10, 3);
    publish(20, 10);
    BOOST_TEST(answered({"INCRBY", "app.ids", "5"}) == "(parked)");
    BOOST_TEST(supply.window().left() == 16u);
    BOOST_TEST(answered({"INCRBY", "app.ids", "6"}) == ":25\r\n");
}

BOOST_AUTO_TEST_CASE(incrby_above_one_is_for_steps_of_one) {
    publish(1, 1000, 2);
    BOOST_TEST(answered({"INCRBY", "app.ids", "2"}) == "(parked)");
    const Waiter waiter = RespService::waiter_of(of(2));
    BOOST_TEST(waiter.consecutive);
    BOOST_TEST(waiter.skip_max == 2u);
    std::string out;
    service->answer_refused(of(2), out);
    BOOST_TEST(out.starts_with("-ERR no 2 consecutive IDs are within reach: "));
    BOOST_TEST(says(out, "its step is not 1"));
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":1\r\n");  // nothing was taken
}

BOOST_AUTO_TEST_CASE(incrby_takes_a_number_within_its_limits) {
    publish(1, 10);
    const std::string not_a_number = "-ERR value is not an integer or out of range\r\n";
    for (const char* number : {"", "x", "1x", " 1", "+1", "1.0", "9223372036854775808"})
        BOOST_TEST(answered({"INCRBY", "app.ids", number}) == not_a_number, number);
    BOOST_TEST(answered({"INCRBY", "app.ids", "1000001"}) == "-ERR INCRBY takes at most 1000000 IDs at once\r\n");
    BOOST_TEST(answered({"INCRBY", "app.ids", "9223372036854775807"}) ==
               "-ERR INCRBY takes at most 1000000 IDs at once\r\n");
    BOOST_TEST(
        answered({"INCRBY", "app.ids", "-1"}) ==
        "-ERR INCRBY with a negative number is refused: it would move a sequence back, and IDs would be given out "
        "twice\r\n");
    BOOST_TEST(answered({"INCRBY", "app.ids", "0"}).starts_with("-ERR INCRBY with 0 is refused: "));
    offer({{"app.ids"}, 100});
    BOOST_TEST(answered({"INCRBY", "app.ids", "101"}) == "-ERR INCRBY takes at most 100 IDs at once\r\n");
    BOOST_TEST(supply.window().left() == 10u);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_no_sequence_is_told_which_there_are) {
    BOOST_TEST(answered({"INCR", "x"}) == "-ERR no such sequence: 'x'. Configured: app.ids\r\n");
    BOOST_TEST(answered({"INCR", "APP.IDS"}) == "-ERR no such sequence: 'APP.IDS'. Configured: app.ids\r\n");
    BOOST_TEST(answered({"INCRBY", "a\r\nb", "3"}) == "-ERR no such sequence: 'a  b'. Configured: app.ids\r\n");
}

BOOST_AUTO_TEST_CASE(who_finds_the_window_dry_or_others_waiting_is_parked) {
    BOOST_TEST(parked({"INCR", "app.ids"}).wanted.count == 1u);
    BOOST_TEST(!RespService::waiter_of(of(1)).consecutive);
    supply.waiting().park({});
    publish(1, 10);
    BOOST_TEST(answered({"INCR", "app.ids"}) == "(parked)");
    BOOST_TEST(supply.window().left() == 10u);
}

BOOST_AUTO_TEST_CASE(in_strict_order_all_are_parked) {
    offer({{"app.ids"}, 100, true});
    publish(1, 10);
    BOOST_TEST(answered({"INCR", "app.ids"}) == "(parked)");
}

BOOST_AUTO_TEST_CASE(what_was_parked_gets_its_last_id_or_why_there_is_none) {
    const ParkedCommand one = of(1), many = of(4);
    std::string out;
    service->answer_taken(one, std::vector{Range{5, 2, 1}}, out);
    service->answer_taken(many, std::vector{Range{5, 1, 4}}, out);
    BOOST_TEST(out == ":5\r\n:8\r\n");
    out.clear();
    service->answer_dry(one, out);
    BOOST_TEST(out ==
               "-TRYAGAIN query seq failed: the window has too few IDs, and its refill did not come in time\r\n");
    supply.set_trouble({"connect postgresql failed", "refused\nby all"});
    out.clear();
    service->answer_dry(one, out);
    BOOST_TEST(out == "-TRYAGAIN connect postgresql failed: refused by all\r\n");
    out.clear();
    service->answer_crowded(one, out);
    BOOST_TEST(out == "-TRYAGAIN too many requests wait for IDs already\r\n");
}

BOOST_AUTO_TEST_CASE(a_take_that_passes_the_mark_wakes_the_refill) {
    publish(1, 10);
    supply.window().wake_when_left(5);
    for (int i = 0; i < 4; ++i) answered({"INCR", "app.ids"});
    BOOST_TEST(rings == 0u);
    answered({"INCRBY", "app.ids", "3"});
    BOOST_TEST(rings == 1u);
}

BOOST_AUTO_TEST_CASE(each_answer_is_counted_under_the_status_that_http_would_have) {
    publish(1, 100);
    for (const Words& words : std::vector<Words>{{"INCR", "app.ids"}, {"INCRBY", "app.ids", "9"}, {"PING"}})
        answered(words);
    BOOST_TEST(answers(200) == 3u);
    BOOST_TEST(offered->counters().requests(ListenerName::resp).ids(0) == 10u);
    for (const Words& words : std::vector<Words>{{"INCR", "x"}, {"FOO"}, {"SET", "a", "1"}, {"INCRBY", "app.ids", "x"}})
        answered(words);
    BOOST_TEST(answers(400) == 4u);
    answered({"INCRBY", "app.ids", "200"});  // parked: counted when it is answered
    std::string out;
    service->answer_dry(of(200), out);
    BOOST_TEST(answers(503) == 1u);
    service->answer_refused(of(200), out);
    BOOST_TEST(answers(400) == 5u);
    service->answer_taken(of(2), std::vector{Range{1, 1, 2}}, out);
    BOOST_TEST(answers(200) == 4u);
    BOOST_TEST(offered->counters().requests(ListenerName::resp).ids(0) == 12u);
    caller.token_needed = true;
    answered({"INCR", "app.ids"});
    answered({"AUTH", "x"});
    BOOST_TEST(answers(401) == 2u);
}

BOOST_AUTO_TEST_CASE(each_command_of_the_connection_is_answered_as_redis_does) {
    check({"PING"}, "+PONG\r\n");
    check({"ping", "a b"}, "$3\r\na b\r\n");
    check({"PING", "a", "b"}, "-ERR wrong number of arguments for 'ping' command\r\n");
    check({"ECHO", ""}, "$0\r\n\r\n");
    check({"SELECT", "0"}, "+OK\r\n");
    check({"SELECT", "1"}, "-ERR DB index is out of range\r\n");
    check({"SELECT", "x"}, "-ERR value is not an integer or out of range\r\n");
    check({"TIME"}, "*2\r\n$10\r\n1700000000\r\n$2\r\n42\r\n");
    check({"CLIENT", "ID"}, ":7\r\n");
    check({"CLIENT", "GETNAME"}, "$-1\r\n", "_\r\n");
    check({"client", "setname", "app-1"}, "+OK\r\n");
    check({"CLIENT", "GETNAME"}, "$5\r\napp-1\r\n");
    check({"CLIENT", "SETNAME", "a b"}, "-ERR Client name cannot contain spaces, newlines or special characters.\r\n");
    check({"CLIENT", "SETNAME", std::string(257, 'x')}, "-ERR Client name is longer than 256 bytes\r\n");
    check({"CLIENT", "GETNAME"}, "$5\r\napp-1\r\n");
    check({"CLIENT", "SETNAME", ""}, "+OK\r\n");
    check({"CLIENT", "GETNAME"}, "$-1\r\n", "_\r\n");
    check({"CLIENT", "SETINFO", "LIB-NAME", "lib"}, "+OK\r\n");
    check({"CLIENT", "SETINFO", "lib-ver", "1.0"}, "+OK\r\n");
    check({"CLIENT", "SETINFO", "lib-ver", "1 0"},
          "-ERR lib-ver cannot contain spaces, newlines or special characters.\r\n");
    check({"CLIENT", "SETINFO", "COLOUR", "red"}, "-ERR Unrecognized option 'COLOUR'\r\n");
    check({"CLIENT", "SETNAME"}, "-ERR wrong number of arguments for 'client|setname' command\r\n");
    check({"CLIENT", "KILL"}, "-ERR unknown subcommand 'KILL': there are CLIENT ID, GETNAME, SETNAME and SETINFO\r\n");
    check({"CLIENT"}, "-ERR wrong number of arguments for 'client' command\r\n");
    BOOST_TEST(!last);
}

BOOST_AUTO_TEST_CASE(hello_chooses_the_version) {
    const std::string tail =
        "$6\r\nserver\r\n$7\r\nnext-id\r\n$7\r\nversion\r\n$5\r\n" NEXT_ID_VERSION
        "\r\n$5\r\nproto\r\n:#\r\n$2\r\nid\r\n"
        ":7\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n";
    const auto in = [&](char version) { return std::string{tail}.replace(tail.find('#'), 1, 1, version); };
    BOOST_TEST(answered({"HELLO"}) == "*14\r\n" + in('2'));
    BOOST_TEST(answered({"HELLO", "3"}) == "%7\r\n" + in('3'));
    BOOST_TEST((client.version == RespVersion::resp3));
    BOOST_TEST(answered({"HELLO"}) == "%7\r\n" + in('3'));
    BOOST_TEST(answered({"hello", "2", "setname", "me"}) == "*14\r\n" + in('2'));
    BOOST_TEST(client.name == "me");
    for (const Words& words : {Words{"HELLO", "4"}, {"HELLO", "1"}, {"HELLO", "0"}})
        BOOST_TEST(answered(words) == "-NOPROTO unsupported protocol version\r\n");
    BOOST_TEST(answered({"HELLO", "x"}) == "-ERR Protocol version is not an integer or out of range\r\n");
    BOOST_TEST(answered({"HELLO", "3", "SETNAME"}) == "-ERR Syntax error in HELLO option 'SETNAME'\r\n");
    BOOST_TEST(answered({"HELLO", "3", "SETNAME", "a b"}).starts_with("-ERR Client name cannot"));
    BOOST_TEST((client.version == RespVersion::resp2));  // all or nothing
}

BOOST_AUTO_TEST_CASE(quit_closes_and_reset_begins_anew) {
    BOOST_TEST(answered({"QUIT"}) == "+OK\r\n");
    BOOST_TEST(last);
    answered({"HELLO", "3", "SETNAME", "me"});
    BOOST_TEST(answered({"RESET"}) == "+RESET\r\n");
    BOOST_TEST((client.version == RespVersion::resp2));
    BOOST_TEST(client.name == "");
    BOOST_TEST(client.id == 7u);
}

BOOST_AUTO_TEST_CASE(command_tells_what_there_is) {
    const std::size_t count = resp_commands().size();
    check({"COMMAND", "COUNT"}, ":" + std::to_string(count) + "\r\n");
    const std::string incr2 =
        "*10\r\n$4\r\nincr\r\n:2\r\n*2\r\n+fast\r\n+write\r\n:1\r\n:1\r\n:1\r\n*0\r\n*0\r\n*0\r\n*0\r\n";
    client.version = RespVersion::resp2;
    const std::string all2 = answered({"COMMAND"});
    BOOST_TEST(all2.starts_with("*" + std::to_string(count) + "\r\n" + incr2));
    BOOST_TEST(says(all2, "$4\r\nauth\r\n:-2\r\n*2\r\n+fast\r\n+no_auth\r\n:0\r\n:0\r\n:0\r\n"));
    const std::string docs =
        "$4\r\nincr\r\n#$7\r\nsummary\r\n$50\r\nTakes one ID from the sequence that the key names.\r\n"
        "$5\r\nsince\r\n$5\r\n1.0.0\r\n$5\r\ngroup\r\n$6\r\nstring\r\n";
    const auto with = [&](const char* map) { return std::string{docs}.replace(docs.find('#'), 1, map); };
    check({"COMMAND", "DOCS", "incr", "nonsense"}, "*2\r\n" + with("*6\r\n"), "%1\r\n" + with("%3\r\n"));
    client.version = RespVersion::resp3;
    BOOST_TEST(answered({"COMMAND", "DOCS"}).starts_with("%" + std::to_string(count) + "\r\n" + with("%3\r\n")));
    BOOST_TEST(answered({"COMMAND", "KEYS"}).starts_with("-ERR unknown subcommand 'KEYS': there are COMMAND, "));
}

BOOST_AUTO_TEST_CASE(info_tells_what_this_is) {
    const std::string persistence = "# Persistence\r\nloading:0\r\n";
    check({"INFO", "persistence"}, "$26\r\n" + persistence + "\r\n", "=30\r\ntxt:" + persistence + "\r\n");
    const std::string all = answered({"INFO"});
    for (const char* line : {"# Server\r\nredis_version:7.", "next_id_version:" NEXT_ID_VERSION "\r\n",
                             "\r\n\r\n# Persistence", "role:master\r\n", "sequence0:app.ids\r\n"})
        BOOST_TEST(says(all, line), line);
    BOOST_TEST(answered({"INFO", "everything"}) == all);
    check({"INFO", "nonsense"}, "$0\r\n\r\n", "=4\r\ntxt:\r\n");
}

BOOST_AUTO_TEST_CASE(what_would_break_the_promise_is_refused_and_says_why) {
    publish(1, 10);
    for (const Words& words : std::vector<Words>{{"SET", "app.ids", "1"},
                                                 {"getset", "app.ids", "1"},
                                                 {"DECR", "app.ids"},
                                                 {"DECRBY", "app.ids", "1"},
                                                 {"DEL", "app.ids"},
                                                 {"FLUSHALL"},
                                                 {"EXPIRE", "app.ids", "1"},
                                                 {"RENAME", "app.ids", "x"}}) {
        const std::string answer = answered(words);
        BOOST_TEST(answer.starts_with("-ERR '" + words[0] + "' is refused: "), answer);
        BOOST_TEST(answer.ends_with("IDs would be given out twice\r\n"), answer);
    }
    BOOST_TEST(answered({"GET", "app.ids"}).starts_with("-ERR 'GET' is refused: what a sequence stands at is no ID"));
    BOOST_TEST(answered({"INCRBYFLOAT", "app.ids", "0.5"}) ==
               "-ERR 'INCRBYFLOAT' is refused: IDs are whole numbers\r\n");
    BOOST_TEST(supply.window().left() == 10u);
}

BOOST_AUTO_TEST_CASE(what_is_unknown_is_answered_as_redis_does) {
    check({"FOO"}, "-ERR unknown command 'FOO', with args beginning with: \r\n");
    check({"foo", "a", "b c"}, "-ERR unknown command 'foo', with args beginning with: 'a' 'b c' \r\n");
    const std::string long_word(500, 'x');
    BOOST_TEST(answered({long_word, long_word, "b"}) == "-ERR unknown command '" + long_word.substr(0, 128) +
                                                            "', with args beginning with: '" +
                                                            long_word.substr(0, 128) + "' \r\n");
    check({""}, "-ERR unknown command '', with args beginning with: \r\n");
    check({"INCR"}, "-ERR wrong number of arguments for 'incr' command\r\n");
    check({"INCRBY", "app.ids"}, "-ERR wrong number of arguments for 'incrby' command\r\n");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct TokenFixture : RespFixture {
    TokenFixture() {
        set("secret\n");
        caller.token_needed = true;
        publish(1, 100);
    }
    void set(const char* tokens) { service->set_tokens(std::make_shared<const Tokens>(*Tokens::parse(tokens))); }

    const std::string no_auth = "-NOAUTH Authentication required.\r\n";
    const std::string wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(resp_token_tests, TokenFixture)

BOOST_AUTO_TEST_CASE(nothing_is_given_to_who_has_shown_no_token) {
    for (const Words& words : std::vector<Words>{{"INCR", "app.ids"},
                                                 {"INCRBY", "app.ids", "2"},
                                                 {"PING"},
                                                 {"ECHO", "x"},
                                                 {"SELECT", "0"},
                                                 {"CLIENT", "ID"},
                                                 {"COMMAND"},
                                                 {"INFO"},
                                                 {"TIME"}})
        BOOST_TEST(answered(words) == no_auth, words[0]);
    BOOST_TEST(answered({"HELLO", "3"}).starts_with("-NOAUTH HELLO is for those who have shown a token"));
    BOOST_TEST((client.version == RespVersion::resp2));
    BOOST_TEST(answered({"RESET"}) == "+RESET\r\n");
    BOOST_TEST(answered({"QUIT"}) == "+OK\r\n");
    BOOST_TEST(supply.window().left() == 100u);
}

BOOST_AUTO_TEST_CASE(a_token_opens_the_connection) {
    for (const Words& words : std::vector<Words>{{"AUTH", "wrong"},
                                                 {"AUTH", ""},
                                                 {"AUTH", "default", "wrong"},
                                                 {"AUTH", "admin", "secret"},
                                                 {"HELLO", "3", "AUTH", "default", "wrong"}})
        BOOST_TEST(answered(words) == wrong);
    BOOST_TEST(answered({"INCR", "app.ids"}) == no_auth);
    BOOST_TEST(answered({"AUTH", "a", "b", "c"}) == "-ERR syntax error\r\n");
    BOOST_TEST(answered({"AUTH", "secret"}) == "+OK\r\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":1\r\n");
    BOOST_TEST(answered({"AUTH", "wrong"}) == wrong);
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":2\r\n");  // as in Redis, a wrong try changes nothing
    BOOST_TEST(answered({"RESET"}) == "+RESET\r\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == no_auth);
    BOOST_TEST(answered({"AUTH", "default", "secret"}) == "+OK\r\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":3\r\n");
}

BOOST_AUTO_TEST_CASE(hello_may_show_the_token) {
    BOOST_TEST(answered({"HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"}).starts_with("%7\r\n"));
    BOOST_TEST(client.name == "me");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":1\r\n");
}

BOOST_AUTO_TEST_CASE(a_token_that_is_withdrawn_opens_nothing_any_more) {
    answered({"AUTH", "secret"});
    set("other\nsecret\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":1\r\n");
    set("other\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == no_auth);
    BOOST_TEST(answered({"AUTH", "other"}) == "+OK\r\n");
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":2\r\n");
}

BOOST_AUTO_TEST_CASE(while_there_are_no_tokens_nobody_comes_in_who_needs_one) {
    service->set_tokens(nullptr);
    BOOST_TEST(answered({"INCR", "app.ids"}) == no_auth);
    BOOST_TEST(answered({"AUTH", ""}) == wrong);
    BOOST_TEST(answered({"INCR", "app.ids"}) == no_auth);
}

BOOST_AUTO_TEST_CASE(where_none_is_needed_a_right_one_is_welcome_and_a_wrong_one_an_error) {
    caller.token_needed = false;
    BOOST_TEST(answered({"AUTH", "secret"}) == "+OK\r\n");
    BOOST_TEST(answered({"AUTH", "wrong"}) == wrong);
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":1\r\n");
    service->set_tokens(nullptr);
    BOOST_TEST(answered({"AUTH", "secret"})
                   .starts_with("-ERR AUTH <password> called without any password configured for the default user."));
}

BOOST_AUTO_TEST_CASE(whoever_asks_too_fast_is_told_and_wrong_tokens_count) {
    RateLimiter limiter{{.rate = {1, std::chrono::seconds{1}}, .burst = 3}, 42, 16};
    offer({{"app.ids"}, 100}, &limiter);
    set("secret\n");
    for (const Words& words : std::vector<Words>{{"AUTH", "wrong"}, {"NONSENSE"}, {"AUTH", "secret"}}) answered(words);
    BOOST_TEST(answered({"INCR", "app.ids"}) ==
               "-RATELIMITED this client has used up what it may ask for; there is enough again in 1 s\r\n");
    BOOST_TEST(answered({"AUTH", "wrong"}).starts_with("-RATELIMITED "));
    caller.now += std::chrono::seconds{1};
    BOOST_TEST(answered({"INCR", "app.ids"}) == ":1\r\n");
}

BOOST_AUTO_TEST_CASE(a_rate_of_ids_counts_the_ids) {
    RateLimiter limiter{{.rate = {1, std::chrono::seconds{1}}, .burst = 10, .of_ids = true}, 42, 16};
    offer({{"app.ids"}, 10}, &limiter);
    caller.token_needed = false;
    BOOST_TEST(answered({"INCRBY", "app.ids", "8"}) == ":8\r\n");
    BOOST_TEST(answered({"INCRBY", "app.ids", "3"}) ==
               "-RATELIMITED this client has used up what it may ask for; there is enough again in 1 s\r\n");
    BOOST_TEST(answered({"INCRBY", "app.ids", "2"}) == ":10\r\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
