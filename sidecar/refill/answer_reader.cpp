#include "sidecar/refill/answer_reader.h"

#include <charconv>
#include <string_view>

namespace next_id {

namespace {

constexpr std::size_t reserve_columns = 13, inspect_columns = 11;

// Reads a row from left to right, and remembers whether all of it was what it should be.
class RowReader {
 public:
    explicit RowReader(const std::vector<std::optional<std::string>>& row) : row_{row} {}

    template <class Number>
    Number number() {
        return parsed<Number>(text());
    }

    std::optional<std::int64_t> number_or_null() {
        const auto& column = row_[next_++];
        return column ? std::optional{parsed<std::int64_t>(*column)} : std::nullopt;
    }

    // {1,2,3}
    std::vector<std::int64_t> numbers() {
        std::string_view list = text();
        std::vector<std::int64_t> numbers;
        if (list.size() < 2 || list.front() != '{' || list.back() != '}') return well_ = false, numbers;
        for (list = list.substr(1, list.size() - 2); !list.empty();) {
            const std::string_view part = list.substr(0, list.find(','));
            numbers.push_back(parsed<std::int64_t>(part));
            list.remove_prefix(part.size() == list.size() ? part.size() : part.size() + 1);
        }
        return numbers;
    }

    std::string_view text() {
        const auto& column = row_[next_++];
        if (!column) well_ = false;
        return column ? std::string_view{*column} : std::string_view{};
    }

    std::string text_or_null() {
        const auto& column = row_[next_++];
        return column ? *column : std::string{};
    }

    bool well() const { return well_; }

 private:
    template <class Number>
    Number parsed(std::string_view text) {
        Number value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size()) well_ = false;
        return value;
    }

    const std::vector<std::optional<std::string>>& row_;
    std::size_t next_ = 0;
    bool well_ = true;
};

void read_parameters(RowReader& row, SequenceParameters& parameters) {
    parameters.minimum = row.number<std::int64_t>();
    parameters.maximum = row.number<std::int64_t>();
    parameters.increment = row.number<std::int64_t>();
    parameters.cycles = row.text() != "f";
    parameters.cache = row.number<std::int64_t>();
}

void read_persistence_and_identity(RowReader& row, SequenceParameters& parameters, SourceIdentity& identity) {
    const std::string_view persistence = row.text();
    parameters.persistence = persistence.empty() ? '?' : persistence.front();
    // PostgreSQL shows the identifier, which is unsigned, as a bigint.
    identity.system_identifier = static_cast<std::uint64_t>(row.number<std::int64_t>());
    identity.database_oid = row.number<std::uint32_t>();
    identity.sequence_oid = row.number<std::uint32_t>();
}

bool has_shape(const PgAnswer& answer, std::size_t columns) {
    return answer.rows.size() == 1 && answer.rows[0].size() == columns;
}

Unexpected<std::string> unreadable() {
    return {"PostgreSQL's answer is not of the shape that the statement promises"};
}

}  // namespace

Expected<ReserveAnswer> read_reserve_answer(const PgAnswer& answer) {
    if (!has_shape(answer, reserve_columns)) return unreadable();
    RowReader row{answer.rows[0]};
    ReserveAnswer read;
    const auto values = row.numbers();
    const auto count = row.number<std::uint64_t>();
    read_parameters(row, read.parameters);
    read.last_value = row.number_or_null();
    read_persistence_and_identity(row, read.parameters, read.identity);
    read.uncalled = row.text() != "f";
    const bool only_first = values.size() == 1 && count > 1;
    if (!row.well() || (values.size() != count && !only_first)) return unreadable();
    if (count != 0 && !read.last_value) return unreadable();
    for (const std::int64_t value : values) append_value(read.runs, value, read.parameters.increment);
    if (only_first) read.runs.front().count = count;
    return read;
}

Expected<InspectAnswer> read_inspect_answer(const PgAnswer& answer) {
    if (!has_shape(answer, inspect_columns)) return unreadable();
    RowReader row{answer.rows[0]};
    InspectAnswer read;
    read_parameters(row, read.parameters);
    read.last_value = row.number_or_null();
    read_persistence_and_identity(row, read.parameters, read.identity);
    read.comment = row.text_or_null();
    if (!row.well()) return unreadable();
    return read;
}

}  // namespace next_id
