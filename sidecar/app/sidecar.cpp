#include "sidecar/app/sidecar.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <random>

#include "sidecar/app/pg_source.h"
#include "sidecar/app/service_manager.h"
#include "sidecar/base/log.h"
#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr std::uint64_t files_interval_ms = 1000;
constexpr std::uint64_t last_answers_ms = 500;
constexpr std::size_t admin_connections_max = 100;

std::uint64_t burst_of(const Config& config) {
    return config.burst != 0 ? config.burst : config.rate->count;
}

// Null when no rate is limited.
std::unique_ptr<RateLimiter> limiter_of(const Config& config) {
    if (!config.rate) return nullptr;
    std::random_device random;
    const std::uint64_t seed = std::uint64_t{random()} << 32 | random();
    return std::make_unique<RateLimiter>(
        RateLimit{.rate = *config.rate, .burst = burst_of(config), .of_ids = config.rate_ids}, seed);
}

std::string printed(const HostPort& address, std::uint16_t port) {
    const bool ipv6 = address.host.find(':') != std::string::npos;
    return (ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(port);
}

std::string host_name() {
    char name[HOST_NAME_MAX + 1] = {};
    return gethostname(name, HOST_NAME_MAX) == 0 ? name : "";
}

void log_start(const std::string& sequence, WindowFile& window) {
    switch (window.start()) {
        case WindowFile::Start::fresh:
            return log::info("window made", {{"sequence", sequence}, {"file", window.path().string()}});
        case WindowFile::Start::adopted:
            return log::info("window adopted",
                             {{"sequence", sequence}, {"file", window.path().string()}, {"ids", window.left()}});
        case WindowFile::Start::discarded:
            return log::warn("window discarded: " + window.start_reason(),
                             {{"sequence", sequence}, {"file", window.path().string()}});
    }
}

}  // namespace

Sidecar::Sidecar(const Config& config, const PgTarget& target, std::unique_ptr<TlsServer> tls,
                 std::unique_ptr<TokenFile> tokens, std::unique_ptr<TokenFile> admin_tokens)
    : config_{config},
      target_{target},
      tls_{std::move(tls)},
      tokens_{std::move(tokens)},
      admin_tokens_{std::move(admin_tokens)},
      admission_{{config.connections_max, config.connections_per_client, config.socket_uids}},
      admin_admission_{{.connections_max = admin_connections_max}},
      limiter_{limiter_of(config)} {
    require(uv_loop_init(&loop_) == 0);
    refill_bell_ = std::make_unique<Doorbell>(&loop_, [this] {
        if (refiller_) refiller_->drive();
    });
}

Sidecar::~Sidecar() {
    socket_.reset();
    for (const auto& thread : threads_) thread->stop();  // before any is gone: the first one hands on to the others
    threads_.clear();
    admin_listener_.reset();
    admin_connections_.reset();
    status_board_.reset();
    refiller_.reset();
    signals_.clear();
    stop_timer_.reset();
    files_timer_.reset();
    drained_bell_.reset();
    refill_bell_.reset();
    while (uv_run(&loop_, UV_RUN_DEFAULT) != 0) {
    }
    require(uv_loop_close(&loop_) == 0);
}

Expected<Nothing> Sidecar::open() {
    watch_signals();  // before anybody can connect, and take it for ready to be stopped
    if (auto windows = open_windows(); !windows) return windows;
    make_threads();
    if (auto bound = bind_listeners(); !bound) return bound;
    std::vector<Supply*> supplies;
    for (const auto& supply : supplies_) supplies.push_back(supply.get());
    refiller_ = std::make_unique<Refiller>(&loop_, refill_settings(), supplies);
    watch_files();
    return Nothing{};
}

Expected<Nothing> Sidecar::open_windows() {
    const char* const pod_uid = std::getenv("POD_UID");
    for (const std::string& sequence : config_.pg_sequences) {
        auto window = WindowFile::open({.state_dir = config_.state_dir,
                                        .share_dir = config_.window_share,
                                        .share_mode = config_.window_share_mode,
                                        .sequence = sequence,
                                        .source_digest = source_digest(target_, sequence),
                                        .pod_uid = pod_uid != nullptr ? pod_uid : ""});
        if (!window) return Unexpected{window.error()};
        log_start(sequence, **window);
        supplies_.push_back(std::make_unique<Supply>(
            sequence, std::move(*window),
            Supply::Wiring{.ring = [this] { refill_bell_->ring(); },
                           .deliver =
                               [this](const Waiter& waiter, WaitResult result, std::span<const Range> ranges) {
                                   threads_[waiter.thread]->deliver(waiter.request, result, ranges);
                               }},
            config_.waiting_max));
    }
    return Nothing{};
}

void Sidecar::make_threads() {
    std::vector<Supply*> supplies;
    for (const auto& supply : supplies_) supplies.push_back(supply.get());
    const bool strict = config_.order == Order::strict;
    Catalog catalog{config_.pg_sequences, static_cast<std::uint64_t>(config_.window_ids_max), strict};
    // In strict order one statement has to bring what one request asks for; and no client ever has more than its burst.
    if (strict) catalog.count_max = std::min(catalog.count_max, SequenceRefill::statement_values_max);
    if (config_.rate_ids) catalog.count_max = std::min(catalog.count_max, burst_of(config_));
    for (unsigned i = 0; i < config_.threads; ++i) {
        IdService service{supplies, catalog, limiter_.get()};
        if (tokens_) service.set_tokens(tokens_->tokens());
        threads_.push_back(std::make_unique<ServeThread>(IdHandler{std::move(service), i, config_.wait_max}));
    }
}

Entrance Sidecar::entrance(ListenerName listener, bool token_needed, Admission& admission) const {
    const auto seconds = [](std::chrono::milliseconds time) {
        return static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(time).count());
    };
    return {.listener = listener,
            .token_needed = token_needed,
            .admission = &admission,
            .request_timeout_s = seconds(config_.request_timeout),
            .idle_timeout_s = seconds(config_.idle_timeout),
            .head_bytes_max = config_.head_bytes_max,
            .answers_bytes_max = config_.answers_bytes_max};
}

// The first serve thread accepts for all of them.
Expected<Nothing> Sidecar::bind_listeners() {
    const auto spread = [this](Accepted accepted) {
        threads_[next_thread_++ % threads_.size()]->adopt(std::move(accepted));
    };
    struct Tcp {
        const std::optional<HostPort>& address;
        ListenerName listener;
        const char *plain, *secured;
    };
    for (const Tcp& tcp : {Tcp{config_.http, ListenerName::http, "http", "https"},
                           Tcp{config_.resp, ListenerName::resp, "redis", "rediss"}}) {
        if (!tcp.address) continue;
        auto bound = listen_tcp(*tcp.address);
        if (!bound) return Unexpected{bound.error()};
        log::info("listening", {{tls_ ? tcp.secured : tcp.plain, printed(*tcp.address, bound_port(*bound))}});
        Entrance offered = entrance(tcp.listener, tokens_ != nullptr, admission_);
        offered.tls = tls_.get();
        threads_[0]->listen(std::move(*bound), offered, spread);
    }
    if (config_.socket_path) {
        auto socket = UnixSocket::listen(*config_.socket_path, config_.socket_mode);
        if (!socket) return Unexpected{socket.error()};
        log::info("listening", {{"socket", *config_.socket_path}});
        threads_[0]->listen(socket->take_descriptor(), entrance(ListenerName::socket, config_.socket_auth, admission_),
                            spread);
        socket_ = std::make_unique<UnixSocket>(std::move(*socket));
    }
    if (config_.admin) {
        auto admin = listen_tcp(*config_.admin);
        if (!admin) return Unexpected{admin.error()};
        log::info("listening", {{"admin", printed(*config_.admin, bound_port(*admin))}});
        admin_ = std::move(*admin);
    }
    return Nothing{};
}

Refiller::Settings Sidecar::refill_settings() const {
    return {.target = target_,
            .idle_close = config_.db_idle_close,
            .sequence = {.policy = {.reserve = config_.reserve,
                                    .window_min = static_cast<std::uint64_t>(config_.window_ids_min),
                                    .window_max = static_cast<std::uint64_t>(config_.window_ids_max)},
                         .mode = config_.increment,
                         .order = config_.order,
                         .linger = config_.db_idle_close}};
}

void Sidecar::listen_for_admin() {
    if (!admin_) return;
    metrics_page_ = std::make_unique<MetricsPage>(NEXT_ID_VERSION, started_,
                                                  MetricsPage::Sources{.refiller = *refiller_,
                                                                       .threads = threads_,
                                                                       .admission = admission_,
                                                                       .admin_admission = admin_admission_,
                                                                       .tls = tls_.get()});
    status_board_ = std::make_unique<StatusBoard>(&loop_,
                                                  StatusBoard::Process{.version = NEXT_ID_VERSION,
                                                                       .host = host_name(),
                                                                       .strict_order = config_.order == Order::strict,
                                                                       .started = started_},
                                                  *refiller_);
    admin_handler_ = std::make_unique<AdminHandler>(*status_board_, *refiller_, threads_, *metrics_page_);
    if (admin_tokens_) admin_handler_->set_tokens(admin_tokens_->tokens());
    admin_connections_ = std::make_unique<ConnectionSet>(&loop_, *admin_handler_);
    admin_listener_ =
        std::make_unique<Listener>(&loop_, std::move(admin_), entrance(ListenerName::admin, false, admin_admission_),
                                   [this](Accepted accepted) { admin_connections_->adopt(std::move(accepted)); });
}

void Sidecar::look_at_files() {
    if (tls_) tls_->refresh(Clock::now());
    if (tokens_ && tokens_->refresh())
        for (const auto& thread : threads_) thread->set_tokens(tokens_->tokens());
    if (admin_tokens_ && admin_tokens_->refresh()) admin_handler_->set_tokens(admin_tokens_->tokens());
}

void Sidecar::watch_signals() {
    drained_bell_ = std::make_unique<Doorbell>(&loop_, [this] {
        if (threads_draining_ == 0) stop("drained");
    });
    stop_timer_ = make_handle<uv_timer_t>(this, [this](uv_timer_t* handle) { return uv_timer_init(&loop_, handle); });
    require(stop_timer_ != nullptr);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        auto watch =
            make_handle<uv_signal_t>(this, [this](uv_signal_t* handle) { return uv_signal_init(&loop_, handle); });
        require(watch != nullptr);
        uv_signal_start(
            watch.get(),
            [](uv_signal_t* handle, int) {
                if (auto* const self = static_cast<Sidecar*>(handle->data)) self->on_signal();
            },
            signal);
        signals_.push_back(std::move(watch));
    }
}

void Sidecar::watch_files() {
    if (!tls_ && !tokens_ && !admin_tokens_) return;
    files_timer_ = make_handle<uv_timer_t>(this, [this](uv_timer_t* handle) { return uv_timer_init(&loop_, handle); });
    require(files_timer_ != nullptr);
    const auto look = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<Sidecar*>(handle->data)) self->look_at_files();
    };
    uv_timer_start(files_timer_.get(), look, files_interval_ms, files_interval_ms);
}

void Sidecar::run() {
    for (const auto& thread : threads_) thread->start();
    listen_for_admin();
    tell_service_manager("READY=1");
    refiller_->drive();
    uv_run(&loop_, UV_RUN_DEFAULT);
}

void Sidecar::on_signal() {
    if (std::exchange(stopping_, true)) return stop("stopped at once, at the second signal");
    tell_service_manager("STOPPING=1");
    if (config_.stop_delay.count() == 0) return drain();
    log::info("told to stop: going on for --stop-delay");
    const auto on_time = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<Sidecar*>(handle->data)) self->drain();
    };
    uv_timer_start(stop_timer_.get(), on_time, static_cast<std::uint64_t>(config_.stop_delay.count()), 0);
}

void Sidecar::drain() {
    log::info("stopping: no new connections; answering what is in flight");
    socket_.reset();
    threads_draining_ = threads_.size();
    for (const auto& thread : threads_)
        thread->drain([this] {
            --threads_draining_;
            drained_bell_->ring();
        });
    const auto on_deadline = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<Sidecar*>(handle->data)) self->end_waits();
    };
    uv_timer_start(stop_timer_.get(), on_deadline, static_cast<std::uint64_t>(config_.drain_max.count()), 0);
}

// At --drain-max: who waits for IDs is told that none will come, and gets a moment to read that.
void Sidecar::end_waits() {
    std::size_t ended = 0;
    for (const auto& supply : supplies_) ended += supply->waiting().fail_all(supply->deliver());
    const auto stop_now = [](uv_timer_t* handle) {
        if (auto* const self = static_cast<Sidecar*>(handle->data))
            self->stop("stopped at --drain-max, with requests in flight");
    };
    uv_timer_start(stop_timer_.get(), stop_now, ended == 0 ? 0 : last_answers_ms, 0);
}

void Sidecar::stop(const char* how) {
    log::info(how);
    uv_stop(&loop_);
}

}  // namespace next_id
