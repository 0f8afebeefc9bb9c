#include "sidecar/metrics/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace next_id {

namespace {

struct Stat {
    std::uint64_t threads = 0, virtual_bytes = 0, resident_pages = 0;
};

// The fields of /proc/self/stat that stand behind the program's name, in parentheses, which may hold anything.
std::optional<Stat> read_stat() {
    std::string text;
    std::getline(std::ifstream{"/proc/self/stat"}, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields{text.substr(name_end + 1)};
    constexpr int threads_field = 20, virtual_field = 23, resident_field = 24;  // as proc(5) numbers them
    Stat stat;
    std::string field;
    for (int number = 3; fields >> field; ++number) {
        if (number == threads_field) stat.threads = std::stoull(field);
        if (number == virtual_field) stat.virtual_bytes = std::stoull(field);
        if (number != resident_field) continue;
        stat.resident_pages = std::stoull(field);
        return stat;
    }
    return std::nullopt;
}

std::optional<double> cpu_seconds() {
    rusage used{};
    if (getrusage(RUSAGE_SELF, &used) != 0) return std::nullopt;
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::optional<double> open_descriptors() {
    std::error_code failed;
    std::filesystem::directory_iterator at{"/proc/self/fd", failed};
    double count = -1;  // the directory's own is among them
    for (; !failed && at != std::filesystem::directory_iterator{}; at.increment(failed)) ++count;
    return failed ? std::nullopt : std::optional{count};
}

std::optional<double> limit_of(__rlimit_resource resource) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) return std::nullopt;
    return limit.rlim_cur == RLIM_INFINITY ? -1
                                           : static_cast<double>(limit.rlim_cur);  // -1: as the client libraries do
}

}  // namespace

void add_process_figures(Exposition& out, std::chrono::system_clock::time_point started) {
    const auto tell = [&](std::optional<double> value) {
        if (value) out.add({}, *value);
    };
    out.counter("process_cpu_seconds_total", "CPU time used, in user space and in the system.");
    tell(cpu_seconds());
    out.gauge("process_open_fds", "Open file descriptors.");
    tell(open_descriptors());
    out.gauge("process_max_fds", "File descriptors that may be open.");
    tell(limit_of(RLIMIT_NOFILE));
    out.gauge("process_virtual_memory_max_bytes", "Address space that may be used; -1: no limit.");
    tell(limit_of(RLIMIT_AS));
    out.gauge("process_start_time_seconds", "When the process began, in Unix time.");
    out.add({}, std::chrono::duration<double>(started.time_since_epoch()).count());
    const auto stat = read_stat();
    if (!stat) return;
    out.gauge("process_virtual_memory_bytes", "Address space in use.");
    out.add({}, stat->virtual_bytes);
    out.gauge("process_resident_memory_bytes", "Memory in use, with what is shared: the window among it.");
    out.add({}, stat->resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
    out.gauge("process_threads", "Threads.");
    out.add({}, stat->threads);
}

}  // namespace next_id
