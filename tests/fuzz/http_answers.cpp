#include "tests/fuzz/http_answers.h"

#include <rapidjson/document.h>

#include <charconv>
#include <map>

#include "protocol/range.h"
#include "tests/fuzz/targets.h"

namespace next_id::test {
namespace {

std::int64_t number_in(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    promised(error == std::errc{} && end == text.data() + text.size(), "a number is a number: ", text);
    return number;
}

std::int64_t id_in(const rapidjson::Value& value) {
    if (value.IsString()) return number_in({value.GetString(), value.GetStringLength()});
    promised(value.IsInt64(), "an ID is a 64-bit integer");
    return value.GetInt64();
}

std::string_view line_of(std::string_view& head) {
    const std::size_t end = head.find("\r\n");
    promised(end != head.npos, "a line of the head ends in CR LF");
    const std::string_view line = head.substr(0, end);
    for (const char c : line) promised(c >= ' ' && c <= '~', "a line of the head is printable");
    head.remove_prefix(end + 2);
    return line;
}

void read_ranges(const rapidjson::Value& data, std::vector<std::int64_t>& ids) {
    std::uint64_t count = 0;
    for (const auto& range : data["ranges"].GetArray()) {
        promised(range.Size() == 2 || range.Size() == 3, "a range is first, last and perhaps step");
        const std::int64_t first = id_in(range[0]), last = id_in(range[1]),
                           step = range.Size() == 3 ? id_in(range[2]) : 1;
        for (Range one{first, step, 1};; ++one.count, ++count) {
            promised(one.count <= 1'000'000 && well_formed(one), "a range comes to its end");
            ids.push_back(last_of(one));
            if (last_of(one) == last) break;
        }
        ++count;
    }
    promised(data["count"].GetUint64() == count, "the count is that of the ranges");
}

std::vector<std::int64_t> ids_in_json(const rapidjson::Document& body) {
    std::vector<std::int64_t> ids;
    promised(body["code"].GetInt() == 0 && std::string_view{body["msg"].GetString()} == "success", "success says so");
    const auto& data = body["data"];
    if (data.HasMember("id")) ids.push_back(id_in(data["id"]));
    if (data.HasMember("ids"))
        for (const auto& id : data["ids"].GetArray()) ids.push_back(id_in(id));
    if (data.HasMember("ranges")) read_ranges(data, ids);
    promised(data.MemberCount() == (data.HasMember("ranges") ? 2u : 1u) && !ids.empty(), "data is as promised");
    return ids;
}

std::vector<std::int64_t> ids_in_text(std::string_view body) {
    std::vector<std::int64_t> ids;
    promised(body.ends_with('\n'), "text ends with a newline");
    for (; !body.empty(); body.remove_prefix(body.find('\n') + 1))
        ids.push_back(number_in(body.substr(0, body.find('\n'))));
    return ids;
}

}  // namespace

HttpAnswer read_answer(std::string_view& bytes, bool to_head) {
    const std::size_t head_end = bytes.find("\r\n\r\n");
    promised(head_end != bytes.npos, "a head ends: ", bytes);
    std::string_view head = bytes.substr(0, head_end + 2);
    bytes.remove_prefix(head_end + 4);

    HttpAnswer answer;
    const std::string_view status_line = line_of(head);
    promised(status_line.size() > 13 && status_line.starts_with("HTTP/1.1 ") && status_line[12] == ' ',
             "a status line");
    answer.status = static_cast<int>(number_in(status_line.substr(9, 3)));
    std::map<std::string_view, std::string_view> headers;
    while (!head.empty()) {
        const std::string_view line = line_of(head);
        const std::size_t colon = line.find(": ");
        promised(colon != 0 && colon != line.npos && colon + 2 < line.size(), "a header has a name and a value");
        promised(headers.emplace(line.substr(0, colon), line.substr(colon + 2)).second, "a header comes once");
    }
    answer.closes = headers.contains("Connection") && headers["Connection"] == "close";
    promised(headers.contains("Cache-Control"), "nobody keeps an answer");
    promised(headers.contains("Content-Length") != to_head, "all but an answer to HEAD has a length");
    promised((answer.status == 405) == headers.contains("Allow"), "405 says what is allowed");
    promised((answer.status == 503) == headers.contains("Retry-After"), "503 says when to come back");
    if (to_head) return answer;

    const auto length = static_cast<std::size_t>(number_in(headers["Content-Length"]));
    promised(length <= bytes.size(), "a body is as long as it says");
    const std::string_view body = bytes.substr(0, length);
    bytes.remove_prefix(length);
    if (headers["Content-Type"] == "text/plain; charset=utf-8") {
        promised(answer.status == 200, "an error is JSON");
        answer.ids = ids_in_text(body);
        return answer;
    }
    promised(headers["Content-Type"] == "application/json; charset=utf-8" && body.ends_with("}\n"), "or it is JSON");
    rapidjson::Document json;
    json.Parse<rapidjson::kParseValidateEncodingFlag>(body.data(), body.size());
    promised(!json.HasParseError() && json.IsObject(), "JSON is valid");
    if (answer.status == 200)
        answer.ids = ids_in_json(json);
    else
        promised(json["code"].GetInt() == answer.status && json["msg"].IsString(), "an error says which");
    return answer;
}

}  // namespace next_id::test
