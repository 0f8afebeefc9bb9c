// Where a process's IDs come from: the mapped window as long as it has some, else the sidecar. One thread at a time, but
// for the session: another may wait in it meanwhile. Belongs to one process.
#pragma once

#include <array>
#include <optional>

#include "protocol/client/mapped_window.h"
#include "protocol/client/session.h"

namespace next_id::client {

class Source {
 public:
    // `settings` must outlive it.
    explicit Source(const Settings& settings) : session{settings} {
        if (!settings.window_path.empty()) window_.emplace(settings.window_path);
    }

    // Up to n IDs of the mapped window. False when there are none.
    bool take_mapped(std::uint64_t n, IdRange& out) {
        if (!window_) return false;
        Range range;
        if (window_->take(n, {&range, 1}, true).result != TakeResult::taken) return false;
        out = {range.first, range.step, range.count};
        return true;
    }

    // Exactly n IDs. Throws an Error.
    std::vector<IdRange> take(std::size_t n, Instant deadline) {
        if (window_) {
            std::array<Range, 64> ranges;  // the sidecar counts in more
            if (const Taken taken = window_->take(n, ranges); taken.result == TakeResult::taken) {
                std::vector<IdRange> all;
                for (const Range& range : std::span{ranges}.first(taken.ranges))
                    all.push_back({range.first, range.step, range.count});
                return all;
            }
        }
        return session.take(n, deadline);
    }

    bool is_mapped() const { return window_ && window_->is_mapped(); }
    void abandon() { session.abandon(); }

    Session session;

 private:
    std::optional<MappedWindow> window_;
};

}  // namespace next_id::client
