// The operator's pages: /livez, /startupz, /readyz, /metrics, and /status or / for short. On the refill thread, whose
// parts it reads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sidecar/admin/metrics_page.h"
#include "sidecar/admin/status_board.h"
#include "sidecar/api/tokens.h"
#include "sidecar/refill/refiller.h"
#include "sidecar/serve/http_handler.h"
#include "sidecar/serve/serve_thread.h"

namespace next_id {

class AdminHandler final : public HttpHandler {
 public:
    // All of them must outlive it.
    AdminHandler(const StatusBoard& board, const Refiller& refiller,
                 const std::vector<std::unique_ptr<ServeThread>>& threads, const MetricsPage& metrics)
        : board_{board}, refiller_{refiller}, threads_{threads}, metrics_{metrics} {}

    // From now on /metrics and what /status tells are only for those who show one of these. Health is for everyone.
    void set_tokens(std::shared_ptr<const Tokens> tokens) { tokens_ = std::move(tokens); }

    bool handle(const HttpRequest& request, bool close, Connection& connection, std::string& out) override;
    void forget(Connection&) override {}  // nothing is ever parked

 private:
    struct Page {
        int status = 200;
        bool text = true;
        std::string_view content_type = {};  // if neither text nor JSON
        std::string body = {};
        std::string_view headers = {};
        std::string_view error = "there are GET /livez, /startupz, /readyz, /metrics and /status";
    };

    Page page_of(const HttpRequest& request) const;
    Page live() const;   // do the loops turn? Never asks about PostgreSQL: a restart would not bring it back
    Page ready() const;  // can an ID be given out now, from every sequence?
    bool admits(const HttpRequest& request) const;
    static Page token_wanted();
    Page metrics(const HttpRequest& request) const;
    Page status(const HttpRequest& request, std::string_view query) const;

    const StatusBoard& board_;
    const Refiller& refiller_;
    const std::vector<std::unique_ptr<ServeThread>>& threads_;
    const MetricsPage& metrics_;
    std::shared_ptr<const Tokens> tokens_;  // null: none is wanted
};

}  // namespace next_id
