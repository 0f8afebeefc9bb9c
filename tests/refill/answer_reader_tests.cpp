#include "sidecar/refill/answer_reader.h"

#include <boost/test/unit_test.hpp>

namespace next_id::test {
namespace {

using Row = std::vector<std::optional<std::string>>;

// values, count, minimum, maximum, increment, cycle, cache, last value, persistence, system identifier, database,
// sequence, uncalled
const Row reserved{"{1,3,50}", "3",     "1", "9223372036854775807", "2", "f", "1", "54", "p", "7290000000000000001",
                   "5",        "16384", "f"};
// minimum, maximum, increment, cycle, cache, last value, persistence, system identifier, database, sequence, comment
const Row inspected{"1", "1000", "2", "f", "20", "54", "p", "7290000000000000001", "5", "16384", "a comment"};

PgAnswer answer(const Row& row) {
    return {.ok = true, .rows = {row}, .sqlstate = "", .error = ""};
}

Row with(Row row, std::size_t column, std::optional<std::string> text) {
    row[column] = std::move(text);
    return row;
}

bool readable(const Row& row) {
    return read_reserve_answer(answer(row)).has_value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(answer_reader_tests)

BOOST_AUTO_TEST_CASE(a_reservation_is_read) {
    const auto read = read_reserve_answer(answer(reserved));
    BOOST_REQUIRE(read);
    BOOST_REQUIRE(read->runs.size() == 2u);
    BOOST_TEST(read->runs[0].first == 1);
    BOOST_TEST(read->runs[0].count == 2u);
    BOOST_TEST(read->runs[1].first == 50);
    BOOST_TEST(read->runs[1].count == 1u);
    BOOST_TEST(read->parameters.minimum == 1);
    BOOST_TEST(read->parameters.maximum == INT64_MAX);
    BOOST_TEST(read->parameters.increment == 2);
    BOOST_TEST(!read->parameters.cycles);
    BOOST_TEST(read->parameters.cache == 1);
    BOOST_TEST(read->parameters.persistence == 'p');
    BOOST_TEST(read->last_value.value_or(0) == 54);
    BOOST_CHECK((read->identity == SourceIdentity{7290000000000000001, 5, 16384}));
    BOOST_TEST(!read->uncalled);
    BOOST_TEST(read_reserve_answer(answer(with(reserved, 12, "t")))->uncalled);
}

BOOST_AUTO_TEST_CASE(a_first_value_alone_stands_for_those_that_follow_it) {
    const auto read = read_reserve_answer(answer(with(with(reserved, 0, "{7}"), 1, "1000")));
    BOOST_REQUIRE(read);
    BOOST_REQUIRE(read->runs.size() == 1u);
    BOOST_TEST(read->runs[0].first == 7);
    BOOST_TEST(read->runs[0].count == 1000u);
}

BOOST_AUTO_TEST_CASE(nothing_may_have_been_taken_and_then_there_need_be_no_last_value) {
    const Row nothing = with(with(reserved, 0, "{}"), 1, "0");
    for (const Row& row : {nothing, with(nothing, 7, std::nullopt)}) {
        const auto read = read_reserve_answer(answer(row));
        BOOST_REQUIRE(read);
        BOOST_TEST(read->runs.empty());
    }
}

BOOST_AUTO_TEST_CASE(an_inspection_is_read) {
    const auto read = read_inspect_answer(answer(inspected));
    BOOST_REQUIRE(read);
    BOOST_TEST(read->parameters.increment == 2);
    BOOST_TEST(read->parameters.cache == 20);
    BOOST_TEST(read->last_value.value_or(0) == 54);
    BOOST_TEST(read->comment == "a comment");
    const auto fresh = read_inspect_answer(answer(with(with(inspected, 5, std::nullopt), 10, std::nullopt)));
    BOOST_REQUIRE(fresh);
    BOOST_TEST(!fresh->last_value);
    BOOST_TEST(fresh->comment == "");
}

BOOST_AUTO_TEST_CASE(numbers_are_exact_at_the_ends_of_int64) {
    const auto read =
        read_reserve_answer(answer(with(with(reserved, 0, "{-9223372036854775808,9223372036854775807}"), 1, "2")));
    BOOST_REQUIRE(read);
    BOOST_TEST(read->runs[0].first == INT64_MIN);
    BOOST_TEST(read->runs[1].first == INT64_MAX);
    const auto beyond_2_53 = read_reserve_answer(answer(with(reserved, 0, "{9007199254740993,9007199254740999,1}")));
    BOOST_REQUIRE(beyond_2_53);
    BOOST_TEST(beyond_2_53->runs[0].first == 9007199254740993);
}

BOOST_AUTO_TEST_CASE(a_system_identifier_beyond_bigint_comes_as_a_negative_number) {
    const auto read = read_reserve_answer(answer(with(reserved, 9, "-1")));
    BOOST_REQUIRE(read);
    BOOST_TEST(read->identity.system_identifier == UINT64_MAX);
}

BOOST_AUTO_TEST_CASE(what_means_care_is_believed_in_doubt) {
    BOOST_TEST(read_reserve_answer(answer(with(reserved, 5, "t")))->parameters.cycles);
    BOOST_TEST(read_reserve_answer(answer(with(reserved, 5, "false")))->parameters.cycles);
    BOOST_TEST(read_reserve_answer(answer(with(reserved, 12, "false")))->uncalled);
}

BOOST_AUTO_TEST_CASE(what_is_not_of_the_promised_shape_is_an_error) {
    BOOST_TEST(readable(reserved));
    for (std::size_t column = 0; column < reserved.size(); ++column) {
        BOOST_TEST(!readable(with(reserved, column, std::nullopt)), "null in column " << column);
        if (column != 5 && column != 8 && column != 12)
            BOOST_TEST(!readable(with(reserved, column, "x")), "x in column " << column);
    }
    for (const char* values : {"", "{", "{}", "{1,2}", "{1,2,3,4}", "{1,2,x}", "{1,,2}", "{NULL,2,3}", "1,2,3",
                               "{1, 2,3}", "{1,2,9223372036854775808}"})
        BOOST_TEST(!readable(with(reserved, 0, values)), values);
    for (const char* count : {"-3", "18446744073709551616", "0", "1", "4"})
        BOOST_TEST(!readable(with(reserved, 1, count)), count);

    Row wide = reserved;
    wide.emplace_back("1");
    BOOST_TEST(!readable(wide));
    BOOST_TEST(!readable({}));
    PgAnswer two = answer(reserved);
    two.rows.push_back(reserved);
    BOOST_TEST(!read_reserve_answer(two));
    two.rows.clear();
    BOOST_TEST(!read_reserve_answer(two));
    BOOST_TEST(!read_inspect_answer(answer(reserved)));
    BOOST_TEST(!read_inspect_answer(answer(with(inspected, 5, "x"))));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace next_id::test
