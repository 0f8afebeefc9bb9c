#include "sidecar/serve/handshake_queue.h"

#include <sys/resource.h>

#include <string>
#include <system_error>
#include <utility>

#include "sidecar/base/clock.h"
#include "sidecar/base/log.h"

namespace next_id {

namespace {

// A tenth of the CPU is left to it when the loop's thread wants it all.
constexpr int niceness = 10;

void take(HandshakeQueue::Step& step) {
    step.session->receive(step.bytes, step.plain, step.out);
}

}  // namespace

HandshakeQueue::HandshakeQueue(uv_loop_t* loop) : bell_{loop, [this] { on_done(); }} {}

HandshakeQueue::~HandshakeQueue() {
    if (!thread_.joinable()) return;
    {
        const std::scoped_lock lock{mutex_};
        stopping_ = true;
    }
    added_.notify_one();
    thread_.join();
}

void HandshakeQueue::add(Waiter& waiter, Step step) {
    if (!thread_.joinable() && !start()) {
        take(step);
        return waiter.on_step(std::move(step));
    }
    {
        const std::scoped_lock lock{mutex_};
        waiter.place.list = step.session->begun() ? &begun_ : &new_;
        waiter.place.entry = waiter.place.list->insert(waiter.place.list->end(), {&waiter, std::move(step)});
    }
    added_.notify_one();
}

void HandshakeQueue::remove(Waiter& waiter) {
    const std::scoped_lock lock{mutex_};
    if (waiter.place.list == &current_)
        waiter.place.entry->waiter = nullptr;
    else if (waiter.place.list != nullptr)
        waiter.place.list->erase(waiter.place.entry);
    waiter.place.list = nullptr;
}

void HandshakeQueue::move_first(std::list<Entry>& from, std::list<Entry>& to) {
    from.front().waiter->place.list = &to;
    to.splice(to.end(), from, from.begin());
}

bool HandshakeQueue::start() {
    try {
        thread_ = std::thread{[this] { take_steps(); }};
        return true;
    } catch (const std::system_error& error) {
        const auto line = no_thread_.failed("TLS handshakes have no thread, so requests wait for them (" +
                                                error.code().message() + "); raise the limit of processes and threads",
                                            Clock::now());
        if (line) log::warn(*line);
        return false;
    }
}

void HandshakeQueue::take_steps() {
    setpriority(PRIO_PROCESS, 0, niceness);  // of this thread: Linux has a priority for each
    std::unique_lock lock{mutex_};
    for (;;) {
        added_.wait(lock, [this] { return stopping_ || !begun_.empty() || !new_.empty(); });
        if (stopping_) return;
        move_first(begun_.empty() ? new_ : begun_, current_);
        Step& step = current_.front().step;
        lock.unlock();
        take(step);
        lock.lock();
        if (current_.front().waiter == nullptr) {
            current_.clear();
        } else {
            move_first(current_, done_);
            bell_.ring();
        }
    }
}

// One by one: what is told of may remove another.
void HandshakeQueue::on_done() {
    for (;;) {
        Entry first{};
        {
            const std::scoped_lock lock{mutex_};
            if (done_.empty()) return;
            first = std::move(done_.front());
            done_.pop_front();
            first.waiter->place.list = nullptr;
        }
        first.waiter->on_step(std::move(first.step));
    }
}

}  // namespace next_id
