// The log: one line an event on stderr, for people (text) or for machines (JSON). Any thread may write; set_up() comes
// first, before there are other threads. Whatever bytes a message or a value holds, a line stays one line, and a JSON
// line stays valid JSON.
//
//     log::info("window adopted", {{"sequence", name}, {"ids", ids}});
//     2026-11-29T19:00:00.123Z info  window adopted sequence=global_id_seq ids=1000
//     {"time":"2026-11-29T19:00:00.123Z","level":"info","msg":"window adopted","sequence":"global_id_seq","ids":1000}
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace next_id::log {

enum class Level { trace, debug, info, warn, error, off };  // off: as a level to set, nothing is written
enum class Format { text, json };

// A key and its value. Keys are ours (snake_case, never from outside, none of time, level, msg, pod); integers stay
// exact.
struct Field {
    Field(std::string_view field_key, std::string_view value) : key{field_key}, text{value} {}
    Field(std::string_view field_key, const char* value) : key{field_key}, text{value} {}
    Field(std::string_view field_key, const std::string& value) : key{field_key}, text{value} {}
    Field(std::string_view field_key, bool value) : key{field_key}, text{value ? "true" : "false"}, bare{true} {}
    template <std::integral T>
    Field(std::string_view field_key, T value) : key{field_key}, text{std::to_string(value)}, bare{true} {}

    std::string_view key;
    std::string text;
    bool bare = false;  // a number or a truth value: JSON wants it without quotes
};

using Fields = std::initializer_list<Field>;

// In Kubernetes, each line ends with the pod it comes from; empty anywhere else.
void set_up(Level level, Format format, std::string pod = {});
bool enabled(Level level);  // for the caller who would have to work for a message

void write(Level level, std::string_view message, Fields fields);
inline void trace(std::string_view message, Fields fields = {}) {
    write(Level::trace, message, fields);
}
inline void debug(std::string_view message, Fields fields = {}) {
    write(Level::debug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) {
    write(Level::info, message, fields);
}
inline void warn(std::string_view message, Fields fields = {}) {
    write(Level::warn, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) {
    write(Level::error, message, fields);
}

// A warning or an error, as it was said.
struct Said {
    std::string time;  // as in a line
    Level level = Level::warn;
    std::string message;
    std::string fields;  // key=value, parted by blanks
};
inline constexpr std::size_t remembered_max = 20;
inline constexpr std::size_t remembered_bytes_max = 1000;  // of a message, and of its fields

// The last warnings and errors of this process, also those that the level kept from being written; the newest last.
std::vector<Said> last_warnings();

// UTC, as a line begins.
std::string utc(std::chrono::system_clock::time_point time);

// The line that write() writes, without its end. Pure.
std::string line(Format format, std::chrono::system_clock::time_point time, Level level, std::string_view message,
                 Fields fields, std::string_view pod = {});

}  // namespace next_id::log
