#include "sidecar/window/window_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "sidecar/base/require.h"

namespace next_id {
namespace {

constexpr char window_ending[] = ".window", lock_ending[] = ".lock", longest_ending[] = ".window.new";

Expected<Nothing> make_state_dir(const std::filesystem::path& dir) {
    std::error_code error;
    if (dir.has_parent_path()) std::filesystem::create_directories(dir.parent_path(), error);  // mkdir says why, if not
    struct stat status;
    if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
        return Unexpected{"cannot make the state directory " + dir.string() + ": " + std::strerror(errno) +
                          "; make it, or give another (--state-dir)"};
    if (::stat(dir.c_str(), &status) != 0)
        return Unexpected{"cannot use the state directory " + dir.string() + ": " + std::strerror(errno)};
    if (!S_ISDIR(status.st_mode))
        return Unexpected{"the state directory " + dir.string() + " is not a directory; give another (--state-dir)"};
    return Nothing{};
}

// So that an operator who finds each start fresh is told why at the first.
std::string warning_about_disk(const std::filesystem::path& dir) {
    const FileDescriptor file{::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const std::string where = file ? file_system_that_keeps(file.get()) : "";
    return where.empty() ? "" : "; one that lies on " + where + " is never adopted, put --state-dir on a tmpfs";
}

}  // namespace

std::string file_name_of_sequence(const std::string& sequence) {
    constexpr std::string_view safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    constexpr char hex[] = "0123456789ABCDEF";
    std::string name;
    for (const char c : sequence) {
        if (safe.find(c) != std::string_view::npos)
            name += c;
        else
            name.append({'%', hex[static_cast<unsigned char>(c) >> 4], hex[c & 15]});
    }
    return name;
}

Expected<std::unique_ptr<WindowFile>> WindowFile::open(Options options) {
    require(Window<>::slot_count_is_valid(options.slot_count));
    const std::string name = file_name_of_sequence(options.sequence);
    if (name.empty()) return Unexpected{std::string{"the name of the sequence is empty; set PG_SEQUENCE"}};
    if (name.size() + sizeof longest_ending - 1 > NAME_MAX)
        return Unexpected{"the name of the sequence " + options.sequence + " is too long for a file name (" +
                          std::to_string(name.size()) + " bytes, at most " +
                          std::to_string(NAME_MAX - sizeof longest_ending + 1) + "); choose a shorter one"};
    if (auto error = too_long_for_header({options.source_digest, options.pod_uid, options.boot_id}); !error.empty())
        return Unexpected{std::move(error)};

    if (!options.state_dir.has_filename()) options.state_dir = options.state_dir.parent_path();  // "state/"
    if (auto made = make_state_dir(options.state_dir); !made) return Unexpected{std::move(made.error())};
    const std::filesystem::path path = options.state_dir / (name + window_ending);
    auto lock = FileLock::acquire(options.state_dir / (name + lock_ending), "the window",
                                  "give this one a state directory of its own (--state-dir)");
    if (!lock) return Unexpected{std::move(lock.error())};
    std::unique_ptr<WindowFile> file{new WindowFile{std::move(options), path, std::move(*lock)}};
    if (auto begun = file->begin(); !begun) return Unexpected{std::move(begun.error())};
    return file;
}

Expected<Nothing> WindowFile::begin() {
    auto found = WindowMapping::adopt(path_, options_.slot_count, owner());
    if (!found) return Unexpected{std::move(found.error())};
    if (found->window) {
        start_ = Start::adopted;
        make_current(std::move(found->window));
        return Nothing{};
    }
    start_ = found->existed ? Start::discarded : Start::fresh;
    start_reason_ = found->reason;
    if (!found->existed) start_reason_ += warning_about_disk(options_.state_dir);
    auto made = WindowMapping::create(path_, options_.slot_count, {owner(), found->identity, found->mark});
    if (!made) return Unexpected{std::move(made.error())};
    make_current(std::move(*made));
    return Nothing{};
}

void WindowFile::make_current(std::unique_ptr<WindowMapping> mapping) {
    mappings_.push_back(std::move(mapping));
    current_.store(mappings_.back().get(), std::memory_order_release);
}

template <class Take>
Taken WindowFile::take_from_current(Take take) {
    for (WindowMapping* mapping = current_.load(std::memory_order_acquire);;) {
        Taken taken = take(mapping->window());
        if (taken.result != TakeResult::closed) return taken;
        WindowMapping* const now = current_.load(std::memory_order_acquire);
        if (now == mapping) return {TakeResult::dry};
        mapping = now;
    }
}

Taken WindowFile::take(std::uint64_t n, std::span<Range> out, bool some_will_do) {
    return take_from_current([=](Window<>& window) { return window.take(n, out, some_will_do); });
}

Taken WindowFile::take_consecutive(std::uint64_t n, std::uint64_t skip_max, Range& out) {
    return take_from_current([=, &out](Window<>& window) { return window.take_consecutive(n, skip_max, out); });
}

std::uint64_t WindowFile::publish(const Range& range) {
    require(well_formed(range));
    // After 2^39 slots a window is full for ever. A new one costs a gap of what is left in it; if it cannot be made
    // now, the window is closed() and nothing is published.
    if (current().window().out_of_tickets()) (void)discard();
    return current().window().publish(range);
}

Expected<std::uint64_t> WindowFile::discard() {
    WindowMapping& old = current();
    old.window().close([this](const Range& rest) { thrown_away_ += rest.count; });
    auto made = WindowMapping::create(path_, options_.slot_count,
                                      {owner(), read_identity(old.origin()), read_mark(old.origin())});
    if (!made) return Unexpected{std::move(made.error())};
    make_current(std::move(*made));
    old.release_memory();
    return std::exchange(thrown_away_, 0);
}

}  // namespace next_id
