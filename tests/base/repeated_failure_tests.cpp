#include "sidecar/base/repeated_failure.h"

#include <boost/test/unit_test.hpp>

namespace next_id {
namespace {

using namespace std::chrono_literals;

const Instant start{1000s};

std::string or_silence(const std::optional<std::string>& line) {
    return line.value_or("(silence)");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(repeated_failure_tests)

BOOST_AUTO_TEST_CASE(the_first_failure_is_told_at_once) {
    RepeatedFailure failure;
    BOOST_TEST(or_silence(failure.failed("refused", start)) == "refused");
}

BOOST_AUTO_TEST_CASE(the_same_failure_is_told_once_a_minute_with_a_count) {
    RepeatedFailure failure;
    (void)failure.failed("refused", start);
    for (auto after = 10s; after < 60s; after += 10s)
        BOOST_TEST(or_silence(failure.failed("refused", start + after)) == "(silence)");
    BOOST_TEST(or_silence(failure.failed("refused", start + 60s)) == "refused (6 times more in 60 s)");
    BOOST_TEST(or_silence(failure.failed("refused", start + 119s)) == "(silence)");
    BOOST_TEST(or_silence(failure.failed("refused", start + 125s)) == "refused (2 times more in 65 s)");
}

BOOST_AUTO_TEST_CASE(failures_that_take_turns_are_told_apart) {
    RepeatedFailure failure;
    BOOST_TEST(or_silence(failure.failed("a: refused", start)) == "a: refused");
    BOOST_TEST(or_silence(failure.failed("b: timed out", start + 1s)) == "b: timed out");
    BOOST_TEST(or_silence(failure.failed("a: refused", start + 2s)) == "(silence)");
    BOOST_TEST(or_silence(failure.failed("b: timed out", start + 3s)) == "(silence)");
}

BOOST_AUTO_TEST_CASE(recovery_is_told_once_and_starts_afresh) {
    RepeatedFailure failure;
    BOOST_TEST(or_silence(failure.recovered(start)) == "(silence)");
    (void)failure.failed("refused", start);
    (void)failure.failed("refused", start + 1s);
    BOOST_TEST(or_silence(failure.recovered(start + 125s)) == "works again after 2 failures in 125 s");
    BOOST_TEST(or_silence(failure.recovered(start + 126s)) == "(silence)");
    BOOST_TEST(or_silence(failure.failed("refused", start + 127s)) == "refused");
    BOOST_TEST(or_silence(failure.recovered(start + 127s)) == "works again after 1 failure in 0 s");
}

BOOST_AUTO_TEST_CASE(memory_stays_bounded_when_every_failure_is_new) {
    RepeatedFailure failure;
    for (std::size_t i = 0; i <= RepeatedFailure::sentences_max; ++i)
        BOOST_TEST(or_silence(failure.failed(std::to_string(i), start)) == std::to_string(i));
    BOOST_TEST(or_silence(failure.failed("1", start)) == "(silence)");
    BOOST_TEST(or_silence(failure.failed("0", start)) == "0");  // the oldest was forgotten
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id
