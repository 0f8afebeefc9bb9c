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

constexpr char lock_ending[] = ".lock", origin_ending[] = ".origin", longest_ending[] = ".window.new";

// `what` it is, and the `flag` that says where.
Expected<Nothing> make_directory(const std::filesystem::path& dir, mode_t mode, const char* what, const char* flag) {
    std::error_code error;
    if (dir.has_parent_path()) std::filesystem::create_directories(dir.parent_path(), error);
    struct stat status;
    const std::string name = std::string{what} + " " + dir.string();
    const bool is_new = ::mkdir(dir.c_str(), mode) == 0;
    if (is_new ? ::chmod(dir.c_str(), mode) != 0 : errno != EEXIST)  // whatever the umask
        return Unexpected{"cannot make the " + name + ": " + std::strerror(error ? error.value() : errno) +
                          "; make it, or give another (" + flag + ")"};
    if (::stat(dir.c_str(), &status) != 0) return Unexpected{"cannot use the " + name + ": " + std::strerror(errno)};
    if (!S_ISDIR(status.st_mode)) return Unexpected{"the " + name + " is not a directory; give another (" + flag + ")"};
    return Nothing{};
}

std::string disk_under(const std::filesystem::path& dir) {
    const FileDescriptor file{::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return file ? file_system_that_keeps(file.get()) : "";
}

// So that an operator who finds each start fresh is told why at the first.
std::string warning_about_disk(const std::filesystem::path& dir) {
    const std::string where = disk_under(dir);
    return where.empty() ? "" : "; one that lies on " + where + " is never adopted, put --state-dir on a tmpfs";
}

// A client takes from what it finds, sidecar or not: it must not find what is left of an earlier boot.
Expected<Nothing> make_share_dir(const std::filesystem::path& dir, const std::filesystem::path& state_dir) {
    if (auto made = make_directory(dir, 0755, "directory of shared windows", "--window-share"); !made) return made;
    if (std::filesystem::equivalent(dir, state_dir))
        return Unexpected{"the directory of shared windows " + dir.string() + " is the state directory " +
                          state_dir.string() + ", which no client may write; give another (--window-share)"};
    if (const std::string where = disk_under(dir); !where.empty())
        return Unexpected{"the directory of shared windows " + dir.string() + " lies on " + where +
                          ", where a window could outlive a boot; put it on a tmpfs, or give another (--window-share)"};
    return Nothing{};
}

}  // namespace

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
    if (!options.share_dir.has_filename()) options.share_dir = options.share_dir.parent_path();
    const bool shared = !options.share_dir.empty();
    if (auto made = make_directory(options.state_dir, 0700, "state directory", "--state-dir"); !made)
        return Unexpected{std::move(made.error())};
    if (shared)
        if (auto made = make_share_dir(options.share_dir, options.state_dir); !made)
            return Unexpected{std::move(made.error())};
    const std::filesystem::path path = (shared ? options.share_dir : options.state_dir) / (name + window_ending);
    auto lock = FileLock::acquire(options.state_dir / (name + lock_ending), "the window",
                                  "give this one a state directory of its own (--state-dir)");
    if (!lock) return Unexpected{std::move(lock.error())};
    std::unique_ptr<WindowFile> file{new WindowFile{std::move(options), path, std::move(*lock)}};
    if (auto begun = file->begin(); !begun) return Unexpected{std::move(begun.error())};
    return file;
}

std::filesystem::path WindowFile::beside_lock(const char* ending) const {
    return options_.state_dir / (file_name_of_sequence(options_.sequence) + ending);
}

std::optional<WindowMapping::Sharing> WindowFile::sharing() const {
    if (!origin_) return std::nullopt;
    return WindowMapping::Sharing{origin_->origin(), options_.share_mode | S_IRUSR | S_IWUSR};
}

Expected<Nothing> WindowFile::begin() {
    auto found = options_.share_dir.empty() ? find() : find_shared();
    if (!found) return Unexpected{std::move(found.error())};
    if (found->window) {
        start_ = Start::adopted;
        make_current(std::move(found->window));
        forget_shared();
        return Nothing{};
    }
    start_ = found->existed ? Start::discarded : Start::fresh;
    start_reason_ = found->reason;
    if (!found->existed) start_reason_ += warning_about_disk(options_.state_dir);
    const WindowOwner known = found->source_digest.empty() ? owner() : owner(found->source_digest);
    auto made = WindowMapping::create(path_, options_.slot_count, {known, found->identity, found->mark}, sharing());
    if (!made) return Unexpected{std::move(made.error())};
    make_current(std::move(*made));
    forget_shared();
    return Nothing{};
}

// A window that was shared before this one is never adopted again: what happened meanwhile it did not see.
void WindowFile::forget_shared() {
    if (!origin_) ::unlink(beside_lock(origin_ending).c_str());
}

// If the last window was shared, its mark goes on here.
Expected<WindowMapping::Found> WindowFile::find() {
    auto found = WindowMapping::adopt(path_, options_.slot_count, owner());
    const std::filesystem::path shared = beside_lock(origin_ending);
    if (!found || found->existed || !std::filesystem::exists(shared)) return found;
    auto file = OriginFile::open(shared);
    if (!file) return Unexpected{std::move(file.error())};
    found->keep_what_is_known((*file)->origin());
    return found;
}

// The other way round. Where both are found, the one that was not shared was the last.
Expected<WindowMapping::Found> WindowFile::find_shared() {
    auto file = OriginFile::open(beside_lock(origin_ending));
    if (!file) return Unexpected{std::move(file.error())};
    origin_ = std::move(*file);
    WindowOrigin& origin = origin_->origin();
    const std::filesystem::path unshared = beside_lock(window_ending);
    auto last = WindowMapping::adopt(unshared, options_.slot_count, owner());
    if (!last) return last;
    if (last->existed) {
        origin.inode = 0;  // of what was shared before nothing is adopted
        if (last->mark != Mark{} || last->identity != SourceIdentity{}) {
            write_owner(origin, owner(last->source_digest));
            write_mark(origin, last->mark);
            write_identity(origin, last->identity);
        }
        if (last->window) last->window->window().close([](const Range&) {});
        ::unlink(unshared.c_str());
    }
    auto found = WindowMapping::adopt(path_, options_.slot_count, owner(), sharing());
    if (found && !found->window && last->existed) found->existed = true, found->reason = "it was not shared";
    return found;
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

void WindowFile::set_identity(const SourceIdentity& identity) {
    write_identity(current().origin(), identity);
    if (source_changed()) write_owner(current().origin(), owner());
}

Expected<std::uint64_t> WindowFile::discard() {
    WindowMapping& old = current();
    old.window().close([this](const Range& rest) { thrown_away_ += rest.count; });
    const WindowOwner known = owner(read_source_digest(old.origin()));
    auto made = WindowMapping::create(path_, options_.slot_count,
                                      {known, read_identity(old.origin()), read_mark(old.origin())}, sharing());
    if (!made) return Unexpected{std::move(made.error())};
    make_current(std::move(*made));
    old.release_memory();
    return std::exchange(thrown_away_, 0);
}

}  // namespace next_id
