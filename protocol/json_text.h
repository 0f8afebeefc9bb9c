// JSON that is valid whatever bytes its text holds, appended to a string by RapidJSON. For the files here that write
// JSON.
#pragma once

#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>

#include <string>
#include <string_view>

namespace next_id {

// Every byte that does not belong to a well-formed character is replaced by U+FFFD.
inline std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        rapidjson::MemoryStream in{text.data(), text.size()};
        unsigned code_point = 0;
        const bool well_formed = rapidjson::UTF8<>::Decode(in, &code_point);
        const std::size_t bytes = well_formed ? in.Tell() : 1;
        valid.append(well_formed ? text.substr(0, bytes) : "\xEF\xBF\xBD");
        text.remove_prefix(bytes);
    }
    return valid;
}

struct AppendTo {  // a RapidJSON output stream
    using Ch = char;
    std::string& out;
    void Put(char c) { out.push_back(c); }
    void Flush() {}
};

template <class Writer>
void write_member(Writer& writer, const char* name, std::string_view value) {
    const std::string valid = valid_utf8(value);
    writer.Key(name);
    writer.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}

}  // namespace next_id
