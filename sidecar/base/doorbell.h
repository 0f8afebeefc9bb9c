// Wakes a loop from any thread: rings that come close together may be heard as one.
#pragma once

#include <uv.h>

#include <functional>
#include <utility>

#include "sidecar/base/require.h"
#include "sidecar/base/uv_handle.h"

namespace next_id {

class Doorbell {
 public:
    // `on_ring` is called on the loop's thread, never after the doorbell is destroyed.
    Doorbell(uv_loop_t* loop, std::function<void()> on_ring) : on_ring_{std::move(on_ring)} {
        bell_ = make_handle<uv_async_t>(this, [loop](uv_async_t* handle) {
            return uv_async_init(loop, handle, [](uv_async_t* rung) {
                if (auto* const self = static_cast<Doorbell*>(rung->data)) self->on_ring_();
            });
        });
        require(bell_ != nullptr);
    }

    // Any thread.
    void ring() const { uv_async_send(bell_.get()); }

 private:
    const std::function<void()> on_ring_;
    Handle<uv_async_t> bell_;
};

}  // namespace next_id
