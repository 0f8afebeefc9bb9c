#include "protocol/resp_reply.h"

#include "protocol/decimal.h"

namespace next_id {

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view text_format = "txt:";

}  // namespace

void RespReply::line(char type, std::int64_t number) {
    char bytes[1 + int64_digits_max + line_end.size()];
    bytes[0] = type;
    char* const end = write_decimal(bytes + 1, number);
    end[0] = '\r';
    end[1] = '\n';
    out_.append(bytes, static_cast<std::size_t>(end + line_end.size() - bytes));
}

void RespReply::simple(std::string_view text) {
    out_.append(1, '+').append(text).append(line_end);
}

void RespReply::error(std::string_view code, std::string_view text) {
    error_code_ = code;
    out_.append(1, '-').append(code).append(1, ' ');
    for (const char c : text) out_.push_back(c == '\r' || c == '\n' ? ' ' : c);
    out_.append(line_end);
}

void RespReply::bulk(std::string_view text) {
    line('$', static_cast<std::int64_t>(text.size()));
    out_.append(text).append(line_end);
}

void RespReply::text(std::string_view text) {
    if (!resp3()) return bulk(text);
    line('=', static_cast<std::int64_t>(text_format.size() + text.size()));
    out_.append(text_format).append(text).append(line_end);
}

void RespReply::null() {
    out_.append(resp3() ? "_\r\n" : "$-1\r\n");
}

void RespReply::map(std::size_t keys) {
    if (resp3()) return line('%', static_cast<std::int64_t>(keys));
    array(2 * keys);
}

void RespReply::set(std::size_t elements) {
    line(resp3() ? '~' : '*', static_cast<std::int64_t>(elements));
}

}  // namespace next_id
