#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "protocol/status_report.h"

namespace next_id {

namespace {

constexpr std::size_t bar_cells = 20;
constexpr std::size_t spark_cells = 30;
constexpr std::size_t past_lines_max = 5;

std::string formatted(const char* format, double number) {
    char text[64];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

std::string duration_text(double seconds) {
    if (seconds < 9.95) return formatted("%.1f s", seconds);
    if (seconds < 119.5) return formatted("%.0f s", seconds);
    const auto minutes = static_cast<std::uint64_t>(seconds / 60);
    const auto two = [](std::uint64_t whole, const char* unit, std::uint64_t rest, const char* rest_unit) {
        return std::to_string(whole) + unit + (rest == 0 ? "" : " " + std::to_string(rest) + rest_unit);
    };
    if (minutes < 60) return std::to_string(minutes) + " min";
    if (minutes < 48 * 60) return two(minutes / 60, " h", minutes % 60, " min");
    return two(minutes / 60 / 24, " days", minutes / 60 % 24, " h");
}

std::string rate_text(double per_second) {
    static constexpr std::string_view units[] = {"", " k", " M", " G"};
    std::size_t unit = 0;
    for (; per_second >= 9999.5 && unit + 1 < std::size(units); ++unit) per_second /= 1000;
    return formatted(per_second < 99.95 ? "%.1f" : "%.0f", per_second) + std::string{units[unit]} + " IDs/s";
}

std::string line(const char* name, const std::string& value) {
    char head[16];
    std::snprintf(head, sizeof head, "  %-10s ", name);
    return value.empty() ? "" : head + value + "\n";
}

std::string bar_text(std::uint64_t part, std::uint64_t whole) {
    const double share = whole == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
    const auto full = static_cast<std::size_t>(std::lround(share * bar_cells));
    return "[" + std::string(full, '#') + std::string(bar_cells - full, '-') + "] ";
}

// What was issued in the seconds of the history, as blocks of eight heights: the newest at the right.
std::string spark_text(const HistoryPoints& history) {
    static constexpr std::string_view blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const std::size_t points_in_cell = (history.size() + spark_cells - 1) / spark_cells;
    if (points_in_cell == 0) return {};
    std::vector<std::optional<double>> cells;
    for (std::size_t end = history.size(); end > 0; end -= std::min(end, points_in_cell)) {
        double sum = 0, points = 0;
        for (std::size_t i = end - std::min(end, points_in_cell); i < end; ++i) {
            if (!history[i]) continue;
            sum += static_cast<double>(history[i]->issued_per_second);
            ++points;
        }
        cells.insert(cells.begin(), points == 0 ? std::nullopt : std::optional{sum / points});
    }
    const double most = std::ranges::max(cells).value_or(0);
    std::string text = "  ";
    for (const auto& cell : cells)
        text += cell ? blocks[most > 0 ? static_cast<std::size_t>(std::lround(*cell / most * 7)) : 0] : " ";
    return text + " in " + duration_text(static_cast<double>(history.size()));
}

std::string connection_text(const PostgresqlStatus& postgresql) {
    const std::string host = postgresql.host.empty() ? "the local socket" : postgresql.host;
    std::string state = postgresql.state;
    state.insert(std::min(state.find(':'), state.size()), " for " + duration_text(postgresql.seconds));
    return state + "; " + host + " port " + postgresql.port + ", database " + postgresql.database + ", user " +
           postgresql.user;
}

std::string window_text(const SequenceStatus& status) {
    return bar_text(status.ids_left, status.ids_target) + std::to_string(status.ids_left) + " of " +
           std::to_string(status.ids_target) + " IDs" +
           (status.seconds_left ? "; lasts " + duration_text(*status.seconds_left) : "");
}

std::string sequence_text(const SequenceStatus& status, bool strict_order) {
    const std::string refilled =
        status.seconds_since_refill ? duration_text(*status.seconds_since_refill) + " ago" : "not yet";
    const std::string mark =
        status.lowest_reserved && status.highest_reserved
            ? std::to_string(*status.lowest_reserved) + " to " + std::to_string(*status.highest_reserved)
            : "none yet";
    return status.sequence + ": " + status.state + "\n" +
           line("window", strict_order ? "none, by --order strict" : window_text(status)) +
           line("demand", rate_text(status.demand_per_second) + spark_text(status.history)) +
           line("issued", std::to_string(status.ids_issued)) + line("discarded", std::to_string(status.ids_discarded)) +
           line("reserved", mark) + line("refilled", refilled) +
           line("waiting", std::to_string(status.requests_waiting) + " requests") + line("problem", status.problem) +
           line("trouble", status.trouble) + line("to do", status.advice);
}

std::string past_text(const std::vector<PastTrouble>& past_troubles) {
    std::string text = past_troubles.empty() ? "" : "went wrong lately, the newest first:\n";
    for (std::size_t i = 0; i < std::min(past_troubles.size(), past_lines_max); ++i) {
        const PastTrouble& past = past_troubles[i];
        text += "  " + past.time + " " + past.level + " " + past.message + (past.fields.empty() ? "" : " ") +
                past.fields + "\n" + line("  to do", past.advice);
    }
    return text;
}

}  // namespace

std::string to_text(const StatusReport& report) {
    std::string text = "next-id " + report.version + " on " + report.host + ": " + report.health + "\n" +
                       line("summary", report.summary) + line("up", duration_text(report.uptime_seconds)) +
                       line("PostgreSQL", connection_text(report.postgresql));
    for (const SequenceStatus& status : report.sequences) text += sequence_text(status, report.strict_order);
    return text + past_text(report.past_troubles);
}

}  // namespace next_id
