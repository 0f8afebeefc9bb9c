#include "sidecar/base/escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace next_id {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

// Length of the UTF-8 character that `bytes` begins with, 0 when it begins with none: after table 3-7 of the Unicode
// standard, which leaves out overlong forms, surrogates and what lies beyond U+10FFFF.
std::size_t utf8_length(std::string_view bytes) {
    const unsigned lead = byte_at(bytes, 0);
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (bytes.size() < length) return 0;
    const unsigned second_min = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned second_max = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte_at(bytes, 1) < second_min || byte_at(bytes, 1) > second_max) return 0;
    const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
    return std::all_of(bytes.begin() + 2, bytes.begin() + std::ptrdiff_t(length), continues) ? length : 0;
}

// C0, DEL, and C1 (U+0080 to U+009F), which some terminals obey too.
bool is_control(std::string_view character) {
    const unsigned lead = byte_at(character, 0);
    return lead < 0x20 || lead == 0x7F || (lead == 0xC2 && byte_at(character, 1) < 0xA0);
}

void append_hex(std::string& out, const char* format, unsigned value) {
    char text[8];
    std::snprintf(text, sizeof text, format, value);
    out += text;
}

// The short form that C and JSON share, 0 when there is none.
char short_escape(char byte) {
    switch (byte) {
        case '\n':
            return 'n';
        case '\r':
            return 'r';
        case '\t':
            return 't';
        default:
            return 0;
    }
}

}  // namespace

std::string escape_text(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t valid = utf8_length(bytes);
        const std::string_view character = bytes.substr(0, std::max<std::size_t>(valid, 1));
        if (valid != 0 && !is_control(character)) {
            out += character;
        } else if (const char letter = short_escape(character[0])) {
            (out += '\\') += letter;
        } else {
            for (const char byte : character) append_hex(out, "\\x%02x", static_cast<unsigned char>(byte));
        }
        bytes.remove_prefix(character.size());
    }
    return out;
}

std::string escape_json(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t valid = utf8_length(bytes);
        const std::string_view character = bytes.substr(0, std::max<std::size_t>(valid, 1));
        if (valid == 0) {
            out += "\\ufffd";
        } else if (const char letter = short_escape(character[0])) {
            (out += '\\') += letter;
        } else if (character == "\"" || character == "\\") {
            (out += '\\') += character;
        } else if (valid == 1 && is_control(character)) {
            append_hex(out, "\\u%04x", byte_at(character, 0));
        } else {
            out += character;
        }
        bytes.remove_prefix(character.size());
    }
    return out;
}

}  // namespace next_id
