#include "sidecar/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <memory>

#include "sidecar/base/escape.h"

namespace next_id::log {
namespace {

constexpr std::array<std::string_view, 6> level_names{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<spdlog::level::level_enum, 6> spdlog_levels{spdlog::level::trace, spdlog::level::debug,
                                                                 spdlog::level::info,  spdlog::level::warn,
                                                                 spdlog::level::err,   spdlog::level::off};

std::string utc(std::chrono::system_clock::time_point time) {
    const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
    const std::time_t unix_time = seconds.count();
    std::tm calendar{};
    gmtime_r(&unix_time, &calendar);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &calendar);
    char text[48];
    std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>((since_epoch - seconds).count()));
    return text;
}

// Bare where that can be read back, else in quotes: key=value key="two words".
std::string text_value(const Field& field) {
    const bool plain = !field.text.empty() && field.text.find_first_of(" \"=\\") == std::string::npos;
    const std::string escaped = escape_text(field.text);
    if (field.bare || plain) return escaped;
    std::string quoted = "\"";
    for (const char byte : escaped) {
        if (byte == '"') quoted += '\\';
        quoted += byte;
    }
    return quoted += '"';
}

// spdlog gives what is easy to get wrong: whole lines from any thread, and a full disk or a closed stderr that harms
// nobody. The line itself is made here, since its patterns know no JSON.
struct Log {
    Log() : logger{"next-id", std::make_shared<spdlog::sinks::stderr_sink_mt>()} {
        logger.set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
        logger.set_level(spdlog::level::info);
    }
    spdlog::logger logger;
    std::atomic<Format> format{Format::text};
    std::string pod;
};

// Never destroyed: a thread may still have something to say while the process ends.
Log& the_log() {
    static Log& log = *new Log;
    return log;
}

}  // namespace

void set_up(Level level, Format format, std::string pod) {
    the_log().logger.set_level(spdlog_levels[std::size_t(level)]);
    the_log().format = format;
    the_log().pod = std::move(pod);
}

bool enabled(Level level) {
    return the_log().logger.should_log(spdlog_levels[std::size_t(level)]);
}

void write(Level level, std::string_view message, Fields fields) {
    if (!enabled(level)) return;
    const std::string text =
        line(the_log().format, std::chrono::system_clock::now(), level, message, fields, the_log().pod);
    the_log().logger.log(spdlog_levels[std::size_t(level)], spdlog::string_view_t{text.data(), text.size()});
}

std::string line(Format format, std::chrono::system_clock::time_point time, Level level, std::string_view message,
                 Fields fields, std::string_view pod) {
    const std::string_view name = level_names[std::size_t(level)];
    const auto for_each_field = [&](auto add) {
        for (const Field& field : fields) add(field);
        if (!pod.empty()) add(Field{"pod", pod});
    };
    std::string out;
    if (format == Format::text) {
        (((out += utc(time)) += ' ') += name).append(6 - name.size(), ' ') += escape_text(message);
        for_each_field([&](const Field& field) { (((out += ' ') += field.key) += '=') += text_value(field); });
        return out;
    }
    ((((out += "{\"time\":\"") += utc(time)) += "\",\"level\":\"") += name) += "\",\"msg\":\"";
    (out += escape_json(message)) += '"';
    for_each_field([&](const Field& field) {
        const char* quote = field.bare ? "" : "\"";
        ((out += ",\"") += escape_json(field.key)) += "\":";
        ((out += quote) += field.bare ? field.text : escape_json(field.text)) += quote;
    });
    return out += '}';
}

}  // namespace next_id::log
