#include "sidecar/refill/refiller.h"

#include <algorithm>
#include <random>

#include "sidecar/base/require.h"

namespace next_id {

namespace {

double random_share() {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>{0, 1}(engine);
}

Refill::Settings refill_settings(const Refiller::Settings& settings) {
    return {.query_timeout = settings.target.query_timeout,
            .idle_close = settings.idle_close,
            .sequence = settings.sequence};
}

}  // namespace

Refiller::Refiller(uv_loop_t* loop, const Settings& settings, const std::vector<Supply*>& supplies)
    : connection_{loop, settings.target, *this},
      standing_{Clock::now()},
      refill_{connection_, refill_settings(settings), supplies, random_share} {
    timer_ = make_handle<uv_timer_t>(this, [loop](uv_timer_t* handle) { return uv_timer_init(loop, handle); });
    require(timer_ != nullptr);
}

void Refiller::drive() {
    const Instant now = Clock::now();
    standing_.observe(connection_.state(), now);  // before it connects anew
    const Instant again = refill_.drive(now);
    standing_.observe(connection_.state(), now);
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(std::max(again - now, Duration::zero()));
    const auto on_time = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<Refiller*>(handle->data)) self->drive();
    };
    uv_update_time(timer_->loop);
    uv_timer_start(timer_.get(), on_time, std::max<std::uint64_t>(static_cast<std::uint64_t>(wait.count()), 1), 0);
}

void Refiller::on_connected() {
    refill_.on_connected(Clock::now());
    drive();
}

void Refiller::on_disconnected(const std::string& reason) {
    refill_.on_disconnected(Clock::now(), reason);
    drive();
}

void Refiller::on_answer(PgAnswer answer) {
    refill_.on_answer(Clock::now(), answer);
    drive();
}

void Refiller::on_late() {
    refill_.on_late();
}

}  // namespace next_id
