// The parts of the load generator that could make every figure wrong without anybody noticing.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>

#include "tests/bench/answer.h"
#include "tests/bench/histogram.h"
#include "tests/bench/requests.h"

using next_id::bench::Answer;
using next_id::bench::AnswerReader;
using next_id::bench::Histogram;
using next_id::bench::Requests;

BOOST_AUTO_TEST_SUITE(bench_histogram)

BOOST_AUTO_TEST_CASE(a_percentile_is_never_below_the_value_and_at_most_one_percent_above) {
    for (std::uint64_t value = 1; value < std::uint64_t{1} << 62; value += value / 3 + 1) {
        Histogram histogram;
        histogram.record(value);
        BOOST_TEST(histogram.percentile(0.5) >= value);
        BOOST_TEST(histogram.percentile(0.5) - value <= value / 100);
    }
}

BOOST_AUTO_TEST_CASE(percentiles_count_samples) {
    Histogram histogram;
    for (std::uint64_t value = 1; value <= 100; ++value) histogram.record(value);
    BOOST_TEST(histogram.percentile(0) == 1u);
    BOOST_TEST(histogram.percentile(0.5) == 50u);
    BOOST_TEST(histogram.percentile(0.99) == 99u);
    BOOST_TEST(histogram.percentile(1) == 100u);
}

BOOST_AUTO_TEST_CASE(the_ends_are_held) {
    Histogram histogram;
    BOOST_TEST(histogram.percentile(0.5) == 0u);
    histogram.record(std::numeric_limits<std::uint64_t>::max());
    BOOST_TEST(histogram.percentile(0.5) == std::numeric_limits<std::uint64_t>::max());
    histogram.record(0);
    BOOST_TEST(histogram.percentile(0.5) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(bench_answer)

// What the reader makes of `bytes` when they come one by one: it must wait for the last.
static Answer read_byte_by_byte(AnswerReader& reader, const std::string& bytes) {
    for (std::size_t length = 1; length < bytes.size(); ++length) {
        BOOST_TEST((reader.read(std::string_view{bytes}.substr(0, length)).state == Answer::State::incomplete));
    }
    return reader.read(bytes);
}

BOOST_AUTO_TEST_CASE(an_answer_over_resp_is_a_line) {
    AnswerReader reader;
    const std::string bytes = ":1234\r\n";
    const Answer number = read_byte_by_byte(reader, bytes);
    BOOST_TEST((number.state == Answer::State::complete));
    BOOST_TEST(number.status == 200);
    BOOST_TEST(number.size == 7u);
    BOOST_TEST(number.body == "1234");
    BOOST_TEST(reader.read("-TRYAGAIN dry\r\n:1\r\n").status == 500);
}

BOOST_AUTO_TEST_CASE(an_answer_with_a_length_is_cut_where_it_ends) {
    AnswerReader reader;
    const std::string bytes = "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-LENGTH: 5\r\n\r\nhello";
    for (int i = 0; i < 2; ++i) {  // the second time with the head remembered
        const Answer answer = read_byte_by_byte(reader, bytes);
        BOOST_TEST((answer.state == Answer::State::complete));
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.size == bytes.size());
        BOOST_TEST(reader.read(bytes + "HTTP/1.1 200 OK").size == bytes.size());
        BOOST_TEST(reader.read(bytes + bytes).body == "hello");
    }
}

BOOST_AUTO_TEST_CASE(another_head_is_read_anew) {
    AnswerReader reader;
    BOOST_TEST(reader.read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").size == 40u);
    const Answer refused = reader.read("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    BOOST_TEST(refused.status == 503);
    BOOST_TEST(refused.body.empty());
}

BOOST_AUTO_TEST_CASE(chunks_are_followed_to_the_last) {
    AnswerReader reader;
    const std::string bytes =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0\r\n\r\n56789\r\n0\r\n\r\n";
    const Answer answer = read_byte_by_byte(reader, bytes);
    BOOST_TEST((answer.state == Answer::State::complete));
    BOOST_TEST(answer.size == bytes.size());
}

BOOST_AUTO_TEST_CASE(what_has_no_end_is_refused) {
    for (const char* bytes : {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                              "+PONG\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n"}) {
        AnswerReader reader;
        BOOST_TEST((reader.read(bytes).state == Answer::State::malformed), bytes);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(bench_requests)

// What a connection sends that takes `piece` bytes at a time.
static std::string sent(const Requests& requests, std::size_t count, std::size_t piece) {
    std::string bytes;
    for (std::size_t at = 0, left = count * requests.size(); left != 0;) {
        const std::size_t now = std::min(piece, left);
        bytes += requests.from(at, now);
        at = requests.advanced(at, now);
        left -= now;
    }
    return bytes;
}

BOOST_AUTO_TEST_CASE(targets_take_turns_wherever_the_text_is_cut) {
    const Requests requests = Requests::over_http({"/a", "/b"}, "X: 1\r\n", false, 3);
    const auto request = [](const std::string& target) {
        return "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nX: 1\r\n\r\n";
    };
    const std::string expected = request("/a") + request("/b") + request("/a") + request("/b") + request("/a");
    for (std::size_t piece = 1; piece <= 3 * requests.size(); ++piece)
        BOOST_TEST_REQUIRE(sent(requests, 5, piece) == expected);
}

BOOST_AUTO_TEST_CASE(no_traced_request_is_like_the_one_before) {
    const Requests requests = Requests::over_http({"/a"}, "", true, 1);
    const std::string bytes = sent(requests, 3000, requests.size());
    for (std::size_t at = 0; at + 2 * requests.size() <= bytes.size(); at += requests.size())
        BOOST_TEST_REQUIRE(bytes.compare(at, requests.size(), bytes, at + requests.size(), requests.size()) != 0);
}

BOOST_AUTO_TEST_CASE(over_resp_a_key_is_incremented) {
    const Requests requests = Requests::over_resp("orders", 2);
    const std::string request = "*2\r\n$4\r\nINCR\r\n$6\r\norders\r\n";
    for (std::size_t piece = 1; piece <= 2 * requests.size(); ++piece)
        BOOST_TEST_REQUIRE(sent(requests, 3, piece) == request + request + request);
}

BOOST_AUTO_TEST_CASE(targets_of_different_lengths_are_refused) {
    BOOST_CHECK_THROW(Requests::over_http({"/a", "/bc"}, "", false, 1), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
