// A configured sequence as the serving and the refilling side share it: they know nothing else of each other. Serve
// threads take from the window, or park in the waiting list and ring; the refill thread publishes, serves those who
// wait, and says what troubles it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "sidecar/window/waiting_list.h"
#include "sidecar/window/window_file.h"

namespace next_id {

// Why no IDs come, as an answer tells it: a sentence that programs may compare, and the reason in PostgreSQL's or our
// words.
struct Trouble {
    std::string msg;
    std::string error;

    bool operator==(const Trouble&) const = default;
};

// "msg: error", or what there is of it.
inline std::string in_words(const Trouble& trouble) {
    return trouble.error.empty() ? trouble.msg : trouble.msg + ": " + trouble.error;
}

class Supply {
 public:
    // `ring` makes the refill thread look at this supply soon; `deliver` carries the end of a wait to the thread whose
    // request it is. Any thread may call either.
    struct Wiring {
        std::function<void()> ring;
        WaitingList::Deliver deliver;
    };

    Supply(std::string sequence, std::unique_ptr<WindowFile> window, Wiring wiring,
           std::size_t waiting_max = WaitingList::waiting_max_default)
        : sequence_{std::move(sequence)},
          window_{std::move(window)},
          wiring_{std::move(wiring)},
          waiting_{waiting_max} {}

    const std::string& sequence() const { return sequence_; }
    WindowFile& window() { return *window_; }
    WaitingList& waiting() { return waiting_; }
    void ring() const { wiring_.ring(); }
    const WaitingList::Deliver& deliver() const { return wiring_.deliver; }

    // Any thread. Empty when there is none.
    Trouble trouble() const {
        const std::scoped_lock lock{mutex_};
        return trouble_;
    }
    void set_trouble(Trouble trouble) {
        const std::scoped_lock lock{mutex_};
        trouble_ = std::move(trouble);
    }

 private:
    const std::string sequence_;
    const std::unique_ptr<WindowFile> window_;
    const Wiring wiring_;
    WaitingList waiting_;
    mutable std::mutex mutex_;
    Trouble trouble_{"connect postgresql failed", "not connected yet"};
};

}  // namespace next_id
