#include "sidecar/serve/listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "sidecar/base/log.h"
#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr int accepted_in_a_turn_max = 64;  // then the connections that are there have their turn
constexpr std::uint64_t pause_ms = 100;     // when the system has no descriptors or memory to give

}  // namespace

Listener::Listener(uv_loop_t* loop, FileDescriptor socket, Entrance entrance, OnAccepted on_accepted)
    : socket_{std::move(socket)}, entrance_{entrance}, on_accepted_{std::move(on_accepted)} {
    watch_ = make_handle<uv_poll_t>(this, [&](uv_poll_t* handle) { return uv_poll_init(loop, handle, socket_.get()); });
    pause_ = make_handle<uv_timer_t>(this, [loop](uv_timer_t* handle) { return uv_timer_init(loop, handle); });
    require(watch_ && pause_);
    resume();
}

void Listener::resume() {
    uv_poll_start(watch_.get(), UV_READABLE, [](uv_poll_t* handle, int, int) {
        if (auto* const self = static_cast<Listener*>(handle->data)) self->accept_all();
    });
}

void Listener::accept_all() {
    for (int i = 0; i < accepted_in_a_turn_max; ++i) {
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        FileDescriptor descriptor{
            accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (descriptor) {
            const Client client = client_of(descriptor, peer);
            hand_on({std::move(descriptor), client, entrance_});
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            return pause();
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

void Listener::hand_on(Accepted accepted) {
    if (entrance_.admission != nullptr) {
        Admission::Decision decision = entrance_.admission->decide(accepted.client, entrance_.listener);
        if (!decision.seat) return;
        accepted.seat = std::move(decision.seat);
        accepted.refusal = decision.refusal;
    }
    on_accepted_(std::move(accepted));
}

// The socket stays readable, so going on at once would only spin.
void Listener::pause() {
    if (auto line =
            failures_.failed(std::string{"cannot accept connections for now: "} + std::strerror(errno), Clock::now()))
        log::warn(*line);
    uv_poll_stop(watch_.get());
    const auto on_time = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<Listener*>(handle->data)) self->resume();
    };
    uv_timer_start(pause_.get(), on_time, pause_ms, 0);
}

}  // namespace next_id
