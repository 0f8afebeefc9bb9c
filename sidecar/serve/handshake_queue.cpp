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
        waiting_.push_back({&waiter, std::move(step)});
    }
    added_.notify_one();
}

void HandshakeQueue::remove(Waiter& waiter) {
    const auto is_its_own = [&](const Entry& entry) { return entry.waiter == &waiter; };
    const std::scoped_lock lock{mutex_};
    std::erase_if(waiting_, is_its_own);
    std::erase_if(done_, is_its_own);
    if (current_ == &waiter) current_ = nullptr;
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
        added_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        Entry entry = std::move(waiting_.front());
        waiting_.pop_front();
        current_ = entry.waiter;
        lock.unlock();
        take(entry.step);
        lock.lock();
        if (std::exchange(current_, nullptr) == nullptr) continue;
        done_.push_back(std::move(entry));
        bell_.ring();
    }
}

// One by one: what is told of may remove another.
void HandshakeQueue::on_done() {
    for (;;) {
        Entry entry;
        {
            const std::scoped_lock lock{mutex_};
            if (done_.empty()) return;
            entry = std::move(done_.front());
            done_.pop_front();
        }
        entry.waiter->on_step(std::move(entry.step));
    }
}

}  // namespace next_id
