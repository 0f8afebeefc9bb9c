#include "sidecar/admin/admin_handler.h"

#include <cmath>

#include "protocol/answers.h"
#include "protocol/http_response.h"
#include "protocol/status_report.h"
#include "sidecar/api/target.h"
#include "sidecar/refill/guard.h"

namespace next_id {

namespace {

constexpr Duration turn_max = std::chrono::seconds{10};  // a loop that has not turned for so long hangs

std::string name_of(PgState state) {
    switch (state) {
        case PgState::closed:
            return "closed: no refill is due";
        case PgState::resolving:
        case PgState::connecting:
            return "connecting";
        case PgState::idle:
        case PgState::busy:
            return "connected";
        case PgState::broken:
            return "away";
    }
    return {};
}

std::string told(const Trouble& trouble) {
    return trouble.error.empty() ? trouble.msg : trouble.msg + ": " + trouble.error;
}

SequenceStatus status_of(SequenceRefill& sequence) {
    const double seconds_left = sequence.seconds_left();
    SequenceStatus status;
    status.sequence = sequence.supply().sequence();
    status.state = refill_state_names[static_cast<std::size_t>(sequence.state())];
    status.problem = sequence.problem();
    status.trouble = told(sequence.supply().trouble());
    status.ids_left = sequence.left();
    status.ids_target = sequence.policy().target();
    status.ids_issued = sequence.issued();
    status.ids_discarded = sequence.discarded();
    status.demand_per_second = sequence.policy().demand_per_second();
    if (std::isfinite(seconds_left)) status.seconds_left = seconds_left;
    if (const auto refilled_at = sequence.refilled_at())
        status.seconds_since_refill = std::chrono::duration<double>(Clock::now() - *refilled_at).count();
    status.requests_waiting = sequence.supply().waiting().size();
    if (const auto reach = reach_of(sequence.supply().window().mark())) {
        status.lowest_reserved = reach->lowest;
        status.highest_reserved = reach->highest;
    }
    return status;
}

}  // namespace

bool AdminHandler::handle(const HttpRequest& request, bool close, HttpConnection&, std::string& out) {
    const bool readable = request.method == HttpRequest::Method::get || request.method == HttpRequest::Method::head;
    Page page = readable ? page_of(request) : Page{.status = 405};
    if (page.body.empty()) {
        page.text = false;
        append_error(page.body, page.status, msg_of(page.status), page.error);
    }
    append_response(out,
                    {.status = page.status,
                     .text = page.text,
                     .content_type = page.content_type,
                     .close = close,
                     .http_1_0 = request.http_1_0,
                     .head_only = request.method == HttpRequest::Method::head,
                     .allow = readable ? "" : "GET, HEAD",
                     .www_authenticate = page.status == 401},
                    page.body);
    return true;
}

AdminHandler::Page AdminHandler::page_of(const HttpRequest& request) const {
    const auto [path, query] = split_target(request.target);
    if (path == "/livez") return live();
    if (path == "/readyz") return ready();
    if (path == "/startupz") return {.body = "started\n"};  // the listeners are bound before this one answers
    const bool is_page = path == "/status" || path == "/metrics";
    if (is_page && tokens_ && !tokens_->admit(request))
        return {.status = 401, .error = "this page wants a token: send Authorization: Bearer TOKEN"};
    if (path == "/status") return status(query == "format=text");
    if (path == "/metrics") return {.content_type = Exposition::content_type, .body = metrics_.text()};
    return {.status = 404};
}

AdminHandler::Page AdminHandler::live() const {
    const Instant now = Clock::now();
    for (std::size_t i = 0; i < threads_.size(); ++i)
        if (now - threads_[i]->turned_at() > turn_max)
            return {.status = 503, .body = "serve thread " + std::to_string(i) + " hangs\n"};
    return {.body = "alive\n"};
}

AdminHandler::Page AdminHandler::ready() const {
    Page page;
    for (const auto& sequence : refiller_.sequences()) {
        if (sequence->can_give()) continue;
        const std::string trouble = told(sequence->supply().trouble());
        page.status = 503;
        page.body += sequence->supply().sequence() + ": " + (trouble.empty() ? "the window is dry" : trouble) + "\n";
    }
    if (page.status == 200) page.body = "ready\n";
    return page;
}

AdminHandler::Page AdminHandler::status(bool text) const {
    StatusReport report{.version = version_, .postgresql = name_of(refiller_.connection_state()), .sequences = {}};
    for (const auto& sequence : refiller_.sequences()) report.sequences.push_back(status_of(*sequence));
    return {.text = text, .body = text ? to_text(report) : to_json(report)};
}

}  // namespace next_id
