// The running sidecar: opens the windows, binds the listeners, wires the parts together, turns the refill loop, and
// takes it all down again. On the main thread.
#pragma once

#include <uv.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sidecar/admin/admin_handler.h"
#include "sidecar/admin/status_board.h"
#include "sidecar/app/token_file.h"
#include "sidecar/base/doorbell.h"
#include "sidecar/base/expected.h"
#include "sidecar/config/config.h"
#include "sidecar/refill/refiller.h"
#include "sidecar/serve/connection_set.h"
#include "sidecar/serve/listener.h"
#include "sidecar/serve/serve_thread.h"
#include "sidecar/serve/socket.h"
#include "sidecar/serve/tls_server.h"
#include "sidecar/window/supply.h"

namespace next_id {

class Sidecar {
 public:
    // With `tls`, HTTP over TCP is HTTPS. Without a file of tokens (null) none are asked for.
    Sidecar(const Config& config, const PgTarget& target, std::unique_ptr<TlsServer> tls,
            std::unique_ptr<TokenFile> tokens, std::unique_ptr<TokenFile> admin_tokens);
    ~Sidecar();
    Sidecar(const Sidecar&) = delete;
    Sidecar& operator=(const Sidecar&) = delete;

    // Takes what the system must give: windows, ports, the socket. The error says what it refused.
    Expected<Nothing> open();

    // Serves until SIGTERM, SIGINT or SIGHUP, and then until what is in flight is answered.
    void run();

 private:
    Expected<Nothing> open_windows();
    Expected<Nothing> bind_listeners();
    Refiller::Settings refill_settings() const;
    void make_threads();
    void listen_for_admin();
    Entrance entrance(ListenerName listener, bool token_needed, Admission& admission) const;
    void watch_files();
    void look_at_files();
    void watch_signals();
    void on_signal();
    void drain();
    void end_waits();
    void stop(const char* how);

    const Config config_;
    const PgTarget target_;
    const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
    uv_loop_t loop_;
    const std::unique_ptr<TlsServer> tls_;                    // perhaps none
    const std::unique_ptr<TokenFile> tokens_, admin_tokens_;  // the same
    Admission admission_, admin_admission_;
    std::unique_ptr<RateLimiter> limiter_;
    std::unique_ptr<Doorbell> refill_bell_;
    std::vector<std::unique_ptr<Supply>> supplies_;

    std::unique_ptr<UnixSocket> socket_;
    FileDescriptor admin_;  // until the listener takes it

    std::unique_ptr<Refiller> refiller_;
    std::vector<std::unique_ptr<ServeThread>> threads_;
    std::size_t next_thread_ = 0;  // that gets a connection; only the accepting thread uses it

    std::unique_ptr<MetricsPage> metrics_page_;
    std::unique_ptr<StatusBoard> status_board_;
    std::unique_ptr<AdminHandler> admin_handler_;
    std::unique_ptr<ConnectionSet> admin_connections_;
    std::unique_ptr<Listener> admin_listener_;

    std::vector<Handle<uv_signal_t>> signals_;
    std::unique_ptr<Doorbell> drained_bell_;
    Handle<uv_timer_t> stop_timer_;  // until it drains, until it no longer waits for that, until the last are answered
    Handle<uv_timer_t> files_timer_;
    std::atomic<std::size_t> threads_draining_ = 0;
    bool stopping_ = false;
};

}  // namespace next_id
