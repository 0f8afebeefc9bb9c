#include "sidecar/window/waiting_list.h"

#include <algorithm>
#include <vector>

#include "sidecar/base/require.h"

namespace next_id {
namespace {

Taken take_for(const Waiter& waiter, WindowFile& window, std::span<Range> out) {
    return waiter.consecutive ? window.take_consecutive(waiter.ids, waiter.skip_max, out[0])
                              : window.take(waiter.ids, out);
}

// Nothing that is published later comes before what is there now: neither a full ring nor one that is too fragmented
// gets better while everybody waits behind this one.
bool is_hopeless(TakeResult result, const WindowFile& window) {
    return result == TakeResult::fragmented || (result == TakeResult::too_few && window.full());
}

}  // namespace

std::optional<WaitingList::Id> WaitingList::park(const Waiter& waiter) {
    require(waiter.ids != 0);
    const std::lock_guard lock{mutex_};
    if (waiters_.size() >= waiting_max_) return std::nullopt;
    const Id id = next_id_++;
    waiters_.emplace_hint(waiters_.end(), id, waiter);
    deadlines_.emplace(waiter.deadline, id);
    demand_ += waiter.ids;
    waiting_.store(waiters_.size(), std::memory_order_relaxed);
    return id;
}

Waiter WaitingList::remove(Waiters::iterator at) {
    const Waiter waiter = at->second;
    deadlines_.erase({waiter.deadline, at->first});
    waiters_.erase(at);
    demand_ -= waiter.ids;
    waiting_.store(waiters_.size(), std::memory_order_relaxed);
    return waiter;
}

std::uint64_t WaitingList::demand() const {
    const std::lock_guard lock{mutex_};
    return static_cast<std::uint64_t>(std::min<unsigned __int128>(demand_, ~std::uint64_t{0}));
}

Instant WaitingList::next_deadline() const {
    const std::lock_guard lock{mutex_};
    return deadlines_.empty() ? never : deadlines_.begin()->first;
}

WaitingList::Id WaitingList::newest() const {
    const std::lock_guard lock{mutex_};
    return next_id_ - 1;
}

WaitingList::Served WaitingList::serve(WindowFile& window, std::span<Range> scratch, const Deliver& deliver,
                                       Id newest) {
    require(!scratch.empty());
    for (Served served;;) {
        Waiter waiter;
        Taken taken;
        {
            // Taken under the lock: a waiter that is cancelled is removed before or after, so its IDs are not taken in
            // vain.
            const std::lock_guard lock{mutex_};
            if (waiters_.empty() || waiters_.begin()->first > newest) return served;
            taken = take_for(waiters_.begin()->second, window, scratch);
            served.wake |= taken.wake;
            if (taken.result != TakeResult::taken && !is_hopeless(taken.result, window)) return served;
            waiter = remove(waiters_.begin());
        }
        ++served.waiters;
        if (taken.result == TakeResult::taken)
            deliver(waiter, WaitResult::served, scratch.first(taken.ranges));
        else
            deliver(waiter, WaitResult::refused, {});
    }
}

std::size_t WaitingList::expire(Instant now, const Deliver& deliver) {
    std::vector<Waiter> expired;
    {
        const std::lock_guard lock{mutex_};
        while (!deadlines_.empty() && deadlines_.begin()->first <= now)
            expired.push_back(remove(waiters_.find(deadlines_.begin()->second)));
    }
    for (const Waiter& waiter : expired) deliver(waiter, WaitResult::expired, {});
    return expired.size();
}

std::size_t WaitingList::fail_all(const Deliver& deliver) {
    std::vector<Waiter> failed;
    {
        const std::lock_guard lock{mutex_};
        while (!waiters_.empty()) failed.push_back(remove(waiters_.begin()));
    }
    for (const Waiter& waiter : failed) deliver(waiter, WaitResult::failed, {});
    return failed.size();
}

bool WaitingList::cancel(Id id) {
    const std::lock_guard lock{mutex_};
    const auto at = waiters_.find(id);
    if (at == waiters_.end()) return false;
    remove(at);
    return true;
}

}  // namespace next_id
