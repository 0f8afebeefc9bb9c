// The window of a sidecar that shares it, mapped: IDs without asking anybody, and without a system call. Whoever finds
// nothing here asks the sidecar. One thread at a time; any number of processes beside.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "protocol/window_layout.h"

namespace next_id::client {

class MappedWindow {
 public:
    explicit MappedWindow(std::string path) : path_{std::move(path)} {}
    ~MappedWindow() { unmap(); }
    MappedWindow(const MappedWindow&) = delete;
    MappedWindow& operator=(const MappedWindow&) = delete;

    // As Window::take(). `dry` also while there is no window to be used; never `closed`.
    Taken take(std::uint64_t n, std::span<Range> out, bool some_will_do = false) {
        if (window_) [[likely]] {
            const Taken taken = window_->take(n, out, some_will_do);
            if (taken.result == TakeResult::taken) [[likely]]
                return taken;
        }
        return take_again(n, out, some_will_do);
    }

    bool is_mapped() const { return window_.has_value(); }

 private:
    using Instant = std::chrono::steady_clock::time_point;

    Taken take_again(std::uint64_t n, std::span<Range> out, bool some_will_do);
    bool was_replaced() const;
    void map();
    void unmap();

    const std::string path_;
    std::optional<Window<>> window_;
    std::span<std::byte> bytes_;
    std::uint64_t device_ = 0, inode_ = 0;
    Instant map_not_before_{};
};

}  // namespace next_id::client
