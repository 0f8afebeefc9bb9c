#include "protocol/answers.h"

#include <rapidjson/writer.h>

#include <cstdlib>

#include "protocol/decimal.h"
#include "protocol/json_text.h"

namespace next_id {

namespace {

constexpr std::string_view success_front = R"({"code":0,"msg":"success","data":{)";
constexpr std::string_view success_back = "}}\n";

// Writes `number` between a pair of `quote`s (if any) and `behind` it.
void append_number(std::string& body, std::int64_t number, std::string_view quote, std::string_view behind) {
    char bytes[int64_digits_max];
    const auto size = static_cast<std::size_t>(write_decimal(bytes, number) - bytes);
    body.append(quote).append(bytes, size).append(quote).append(behind);
}

// Every ID in order, `behind` after each.
void append_each(std::string& body, std::span<const Range> ranges, std::string_view quote, char behind) {
    std::uint64_t count = 0;
    for (const Range& range : ranges) count += range.count;
    body.reserve(body.size() + count * (int64_digits_max + 2 * quote.size() + 1));
    char bytes[int64_digits_max + 3];
    for (const Range& range : ranges) {
        auto id = static_cast<std::uint64_t>(range.first);  // unsigned: one step beyond the last ID may not be an int64
        for (std::uint64_t i = 0; i < range.count; ++i, id += static_cast<std::uint64_t>(range.step)) {
            char* at = bytes;
            if (!quote.empty()) *at++ = quote.front();
            at = write_decimal(at, static_cast<std::int64_t>(id));
            if (!quote.empty()) *at++ = quote.front();
            *at++ = behind;
            body.append(bytes, static_cast<std::size_t>(at - bytes));
        }
    }
}

void append_ranges(std::string& body, std::span<const Range> ranges, std::string_view quote) {
    std::uint64_t count = 0;
    for (const Range& range : ranges) count += range.count;
    body.append(R"("count":)").append(std::to_string(count)).append(R"(,"ranges":[)");
    for (const Range& range : ranges) {
        body.push_back('[');
        append_number(body, range.first, quote, ",");
        append_number(body, last_of(range), quote, "");
        if (range.step != 1 && range.count != 1) {
            body.push_back(',');
            append_number(body, range.step, quote, "");
        }
        body.append("],");
    }
    body.back() = ']';
}

}  // namespace

void append_ids(std::string& body, std::span<const Range> ranges, Format format) {
    if (ranges.empty()) std::abort();
    const std::string_view quote = format.strings && !format.text ? "\"" : "";
    const Range first{ranges.front().first, 1, 1};
    if (format.text) {
        append_each(body, format.layout == Layout::single ? std::span{&first, 1} : ranges, quote, '\n');
        return;
    }
    body.append(success_front);
    switch (format.layout) {
        case Layout::single:
            body.append(R"("id":)");
            append_number(body, first.first, quote, "");
            break;
        case Layout::ids:
            body.append(R"("ids":[)");
            append_each(body, ranges, quote, ',');
            body.back() = ']';
            break;
        case Layout::ranges:
            append_ranges(body, ranges, quote);
            break;
    }
    body.append(success_back);
}

void append_error(std::string& body, int code, std::string_view msg, std::string_view error) {
    AppendTo out{body};
    rapidjson::Writer<AppendTo> writer{out};
    writer.StartObject();
    writer.Key("code");
    writer.Int(code);
    write_member(writer, "msg", msg);
    if (!error.empty()) write_member(writer, "error", error);
    writer.EndObject();
    body.push_back('\n');
}

std::string_view msg_of(int status) {
    switch (status) {
        case 400:
            return "bad request";
        case 401:
            return "unauthorized";
        case 403:
            return "forbidden";
        case 404:
            return "not found";
        case 405:
            return "method not allowed";
        case 413:
            return "content too large";
        case 414:
            return "uri too long";
        case 429:
            return "too many requests";
        case 431:
            return "request header fields too large";
        case 503:
            return "service unavailable";
        default:
            std::abort();
    }
}

}  // namespace next_id
