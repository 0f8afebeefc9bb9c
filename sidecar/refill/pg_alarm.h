// One timer of one owner: a deadline, or a step to be taken in the next turn of the loop. Setting it anew forgets what
// was set.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "sidecar/base/clock.h"
#include "sidecar/base/require.h"
#include "sidecar/base/uv_handle.h"

namespace next_id {

class PgAlarm {
 public:
    explicit PgAlarm(uv_loop_t* loop)
        : timer_{make_handle<uv_timer_t>(this, [loop](uv_timer_t* raw) { return uv_timer_init(loop, raw); })} {
        require(timer_ != nullptr);
    }
    PgAlarm(const PgAlarm&) = delete;
    PgAlarm& operator=(const PgAlarm&) = delete;

    void set(Duration delay, std::function<void()> ring) {
        ring_ = std::move(ring);
        uv_update_time(timer_->loop);
        uv_timer_start(timer_.get(), &on_timer,
                       std::uint64_t(std::chrono::ceil<std::chrono::milliseconds>(delay).count()), 0);
    }
    void stop() { uv_timer_stop(timer_.get()); }

 private:
    static void on_timer(uv_timer_t* timer) noexcept {
        auto* alarm = static_cast<PgAlarm*>(timer->data);
        if (alarm == nullptr) return;
        const auto ring = std::move(alarm->ring_);  // taken out: the call may set or destroy the alarm
        ring();
    }

    Handle<uv_timer_t> timer_;
    std::function<void()> ring_;
};

}  // namespace next_id
