#include "sidecar/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>

#include "sidecar/base/escape.h"

namespace next_id::log {
namespace {

constexpr std::array<std::string_view, 6> level_names{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<spdlog::level::level_enum, 6> spdlog_levels{spdlog::level::trace, spdlog::level::debug,
                                                                 spdlog::level::info,  spdlog::level::warn,
                                                                 spdlog::level::err,   spdlog::level::off};

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

    std::mutex mutex;
    std::deque<Said> warnings;  // under the mutex
};

// Never destroyed: a thread may still have something to say while the process ends.
Log& the_log() {
    static Log& log = *new Log;
    return log;
}

// " key=value"
void append_text(std::string& out, const Field& field) {
    (((out += ' ') += field.key) += '=') += text_value(field);
}

void remember(std::string time, Level level, std::string_view message, Fields fields) {
    Said said{std::move(time), level, std::string{message.substr(0, remembered_bytes_max)}, {}};
    for (const Field& field : fields) append_text(said.fields, field);
    said.fields = said.fields.substr(said.fields.empty() ? 0 : 1, remembered_bytes_max);
    Log& log = the_log();
    const std::scoped_lock lock{log.mutex};
    if (log.warnings.size() == remembered_max) log.warnings.pop_front();
    log.warnings.push_back(std::move(said));
}

}  // namespace

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

void set_up(Level level, Format format, std::string pod) {
    the_log().logger.set_level(spdlog_levels[std::size_t(level)]);
    the_log().format = format;
    the_log().pod = std::move(pod);
}

bool enabled(Level level) {
    return the_log().logger.should_log(spdlog_levels[std::size_t(level)]);
}

void write(Level level, std::string_view message, Fields fields) {
    const bool to_remember = level == Level::warn || level == Level::error;
    if (!to_remember && !enabled(level)) return;
    const auto now = std::chrono::system_clock::now();
    if (to_remember) remember(utc(now), level, message, fields);
    if (!enabled(level)) return;
    const std::string text = line(the_log().format, now, level, message, fields, the_log().pod);
    the_log().logger.log(spdlog_levels[std::size_t(level)], spdlog::string_view_t{text.data(), text.size()});
}

std::vector<Said> last_warnings() {
    Log& log = the_log();
    const std::scoped_lock lock{log.mutex};
    return {log.warnings.begin(), log.warnings.end()};
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
        for_each_field([&](const Field& field) { append_text(out, field); });
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
