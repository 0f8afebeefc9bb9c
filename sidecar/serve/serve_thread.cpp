#include "sidecar/serve/serve_thread.h"

#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr std::uint64_t heartbeat_ms = 1000;

thread_local const ServeThread* this_thread = nullptr;

}  // namespace

ServeThread::ServeThread(IdHandler handler) : handler_{std::move(handler)} {
    require(uv_loop_init(&loop_) == 0);
    bell_ = std::make_unique<Doorbell>(&loop_, [this] { on_inbox(); });
    heartbeat_ = make_handle<uv_timer_t>(this, [this](uv_timer_t* handle) { return uv_timer_init(&loop_, handle); });
    require(heartbeat_ != nullptr);
    const auto beat = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<ServeThread*>(handle->data))
            self->turned_at_ = Clock::now().time_since_epoch().count();
    };
    turned_at_ = Clock::now().time_since_epoch().count();
    uv_timer_start(heartbeat_.get(), beat, 0, heartbeat_ms);
    connections_ = std::make_unique<ConnectionSet>(&loop_, handler_, &handler_);
}

void ServeThread::stop() {
    if (!thread_.joinable()) return;
    post([](Inbox& inbox) { inbox.stop = true; });
    thread_.join();
}

ServeThread::~ServeThread() {
    stop();
    listeners_.clear();
    connections_.reset();
    bell_.reset();
    heartbeat_.reset();
    while (uv_run(&loop_, UV_RUN_DEFAULT) != 0) {
    }
    require(uv_loop_close(&loop_) == 0);
}

void ServeThread::listen(FileDescriptor socket, Entrance entrance, Listener::OnAccepted on_accepted) {
    listeners_.push_back(std::make_unique<Listener>(&loop_, std::move(socket), entrance, std::move(on_accepted)));
}

void ServeThread::start() {
    thread_ = std::thread{[this] {
        this_thread = this;
        uv_run(&loop_, UV_RUN_DEFAULT);
    }};
}

template <class Change>
void ServeThread::post(Change change) {
    {
        const std::scoped_lock lock{mutex_};
        change(inbox_);
    }
    bell_->ring();
}

void ServeThread::adopt(Accepted accepted) {
    if (this_thread == this) return connections_->adopt(std::move(accepted));
    post([&](Inbox& inbox) { inbox.accepted.push_back(std::move(accepted)); });
}

void ServeThread::deliver(std::uint64_t request, WaitResult result, std::span<const Range> ranges) {
    post([&](Inbox& inbox) { inbox.deliveries.push_back({request, result, {ranges.begin(), ranges.end()}}); });
}

void ServeThread::set_tokens(std::shared_ptr<const Tokens> tokens) {
    post([&](Inbox& inbox) { inbox.tokens = std::move(tokens); });
}

void ServeThread::drain(std::function<void()> drained) {
    post([&](Inbox& inbox) { inbox.drained = std::move(drained); });
}

void ServeThread::on_inbox() {
    Inbox inbox;
    {
        const std::scoped_lock lock{mutex_};
        std::swap(inbox, inbox_);
    }
    if (inbox.tokens) handler_.set_tokens(std::move(inbox.tokens));
    for (Accepted& accepted : inbox.accepted) connections_->adopt(std::move(accepted));
    for (const Delivery& delivery : inbox.deliveries)
        handler_.deliver(delivery.request, delivery.result, delivery.ranges);
    if (inbox.drained) {
        listeners_.clear();
        connections_->drain(std::move(inbox.drained));
    }
    if (inbox.stop) uv_stop(&loop_);
}

}  // namespace next_id
