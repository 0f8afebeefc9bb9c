// Which process of a line of forks this is, and objects that belong to one process. What fork() copies into a child may
// be a connection that its parent goes on using, IDs that its parent gives out, or a mutex whose holder did not come
// along: the child must touch none of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace next_id::client {

// A word that holds this process's number, or 0: process_number() has to be asked, by a child that has not done so yet
// or, where the kernel does not help, each time. Lives for ever.
const std::atomic<std::uint64_t>& process_word();

// Never 0, and never the number of a process that this one was forked from. Any thread.
std::uint64_t process_number();

// Holds one State for the process that uses it. A child gets a new one at its first use; the parent's stays where it
// is, unread, but for abandon(): that may be called at any moment of the parent's life, and only closes what the child
// should not hold open.
template <class State>
class PerProcess {
 public:
    // This process's, made of `arguments` at the first call. Any thread.
    template <class... Arguments>
    State& get(const Arguments&... arguments) {
        Owned* owned = owned_.load(std::memory_order_acquire);
        if (owned != nullptr && owned->process == process_.load(std::memory_order_relaxed)) [[likely]]
            return owned->state;
        return make(owned, arguments...);
    }

    PerProcess() = default;
    PerProcess(const PerProcess&) = delete;
    PerProcess& operator=(const PerProcess&) = delete;
    ~PerProcess() {
        Owned* const owned = owned_.load(std::memory_order_acquire);
        if (owned != nullptr && owned->process != process_number())
            leave_behind(owned);
        else
            delete owned;
    }

 private:
    struct Owned;

    template <class... Arguments>
    [[gnu::noinline]] State& make(Owned* owned, const Arguments&... arguments) {
        const std::uint64_t process = process_number();
        if (owned != nullptr && owned->process == process) return owned->state;
        auto made = std::make_unique<Owned>(process, arguments...);
        if (!owned_.compare_exchange_strong(owned, made.get(), std::memory_order_acq_rel)) return owned->state;
        if (owned != nullptr) leave_behind(owned);
        return made.release()->state;
    }

    struct Owned {
        template <class... Arguments>
        explicit Owned(std::uint64_t number, const Arguments&... arguments) : process{number}, state{arguments...} {}

        const std::uint64_t process;
        State state;
        Owned* behind = nullptr;
    };

    // Its memory stays, and can be reached, so that nobody takes it for a leak.
    static void leave_behind(Owned* owned) {
        owned->state.abandon();
        owned->behind = left_behind_.load(std::memory_order_relaxed);
        while (!left_behind_.compare_exchange_weak(owned->behind, owned, std::memory_order_relaxed)) {
        }
    }

    const std::atomic<std::uint64_t>& process_ = process_word();
    std::atomic<Owned*> owned_ = nullptr;
    static inline std::atomic<Owned*> left_behind_ = nullptr;
};

}  // namespace next_id::client
