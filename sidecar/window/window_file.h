// The window of one sequence and the file that backs it: adopted from a sidecar that died, or made afresh, and replaced
// by another file when what is left in it must not be given out. Owned by app. Any thread takes; one thread, the
// refill's, is the publisher and calls all else.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "protocol/window_layout.h"
#include "protocol/window_name.h"
#include "sidecar/base/expected.h"
#include "sidecar/base/file_lock.h"
#include "sidecar/window/origin_file.h"
#include "sidecar/window/window_mapping.h"
#include "sidecar/window/window_source.h"

namespace next_id {

class WindowFile {
 public:
    struct Options {
        std::filesystem::path state_dir;
        // Not empty: where the window lies instead, for clients to map. The lock, the mark and whose it is stay in the
        // state directory.
        std::filesystem::path share_dir = {};
        unsigned share_mode = 0660;  // of the file: who may take from it
        std::string sequence;        // names the file
        std::string source_digest;   // of what is configured: a window from another source is never adopted, but its
                                     // mark is kept
        std::string pod_uid;         // may be empty
        std::string boot_id = current_boot_id();
        std::uint64_t slot_count = 32768;  // a power of two; 32 bytes each
    };

    enum class Start {
        fresh,      // there was no window
        adopted,    // nothing was lost
        discarded,  // there was one, and it was closed: a gap
    };

    // Makes the state directory (mode 0700) if it is missing, locks the window, adopts it or makes a new one. The error
    // is a sentence that says what happened, to what, and what to do.
    static Expected<std::unique_ptr<WindowFile>> open(Options);

    Start start() const { return start_; }
    const std::string& start_reason() const { return start_reason_; }  // why it was not adopted; empty when it was
    const std::filesystem::path& path() const { return path_; }

    std::uint64_t slot_count() const { return options_.slot_count; }  // the most ranges that a take can bring

    // Any thread. As in Window; never `closed`: `dry` until another window stands in its place.
    Taken take(std::uint64_t n, std::span<Range> out, bool some_will_do = false);
    Taken take_consecutive(std::uint64_t n, std::uint64_t skip_max, Range& out);

    // From here on: the publisher.
    std::uint64_t left() const { return current().window().left(); }  // IDs that can still be taken
    bool full() const { return current().window().full(); }           // nothing can be published until some are taken
    bool closed() const { return current().window().closed(); }       // a discard() failed; try it again

    // Publishes the range from its front as far as the ring has room; returns how many IDs. REQUIRES: a well-formed
    // range whose identity and mark were set before.
    std::uint64_t publish(const Range&);

    // From now on the take that leaves `ids` or fewer says `wake`. True iff no more are left already: nobody will say
    // it.
    bool wake_when_left(std::uint64_t ids) { return current().window().wake_when_left(ids); }

    Mark mark() const { return read_mark(current().origin()); }
    void set_mark(const Mark& mark) { write_mark(current().origin(), mark); }  // before publish() of what it covers
    // Other settings name another database: a new mark begins. Call it before set_identity(), so that a death between
    // the two leaves no mark under an identity that it does not belong to.
    void forget_mark() { write_mark(current().origin(), Mark{}); }

    SourceIdentity identity() const { return read_identity(current().origin()); }
    // Identity and mark are those that a sidecar with other settings left, until set_identity() is called. Nothing is
    // published before.
    bool source_changed() const { return read_source_digest(current().origin()) != options_.source_digest; }
    void set_identity(const SourceIdentity& identity);

    // Throws away what is left, for whoever maps the window, and puts a new one in its place; mark and identity stay.
    // Returns how many IDs were thrown away. On an error (the disk is full) the window stays closed, takes find it dry,
    // and discard() can be tried again.
    Expected<std::uint64_t> discard();

 private:
    WindowFile(Options options, std::filesystem::path path, FileLock lock)
        : options_{std::move(options)}, path_{std::move(path)}, lock_{std::move(lock)} {}

    WindowMapping& current() const { return *current_.load(std::memory_order_relaxed); }
    WindowOwner owner(const std::string& source_digest) const {
        return {source_digest, options_.pod_uid, options_.boot_id};
    }
    WindowOwner owner() const { return owner(options_.source_digest); }
    std::filesystem::path beside_lock(const char* ending) const;
    std::optional<WindowMapping::Sharing> sharing() const;
    Expected<Nothing> begin();
    Expected<WindowMapping::Found> find();
    Expected<WindowMapping::Found> find_shared();
    void forget_shared();
    void make_current(std::unique_ptr<WindowMapping>);
    template <class Take>
    Taken take_from_current(Take take);

    const Options options_;
    const std::filesystem::path path_;
    const FileLock lock_;
    std::unique_ptr<OriginFile> origin_;  // of a shared window
    // The last is the current one. The others were closed, and stay mapped (a page each) as long as this lives: a
    // thread may be taking from them, and to know that it has gone would cost every take more than the page.
    std::vector<std::unique_ptr<WindowMapping>> mappings_;
    std::atomic<WindowMapping*> current_ = nullptr;
    std::uint64_t thrown_away_ = 0;  // by a discard() that has not succeeded yet
    Start start_ = Start::fresh;
    std::string start_reason_;
};

}  // namespace next_id
