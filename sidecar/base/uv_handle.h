// Ownership of libuv handles. uv_close() is asynchronous: the owner dies now, the handle one loop turn later.
//
// Wrap a handle only after its uv_*_init() returned 0. Every callback begins by fetching `data` and returns when it is
// null. Requests (uv_write_t, uv_connect_t, uv_getaddrinfo_t) own what they need and never reach the owner when status
// is UV_ECANCELED. All of it belongs to the thread of the handle's loop, except uv_async_send().
#pragma once

#include <uv.h>

#include <memory>

namespace next_id {

template <class H>
struct CloseHandle {
    void operator()(H* handle) const noexcept {
        handle->data = nullptr;  // no callback may find its owner again
        uv_close(reinterpret_cast<uv_handle_t*>(handle),
                 [](uv_handle_t* closed) { delete reinterpret_cast<H*>(closed); });
    }
};

template <class H>
using Handle = std::unique_ptr<H, CloseHandle<H>>;

// Makes the handle with `init` (a uv_*_init bound to its loop), points its `data` to the owner. Null when libuv
// refused.
template <class H, class Init>
Handle<H> make_handle(void* owner, Init init) {
    auto raw = std::make_unique<H>();
    if (init(raw.get()) != 0) return nullptr;
    raw->data = owner;
    return Handle<H>{raw.release()};
}

}  // namespace next_id
