#include "sidecar/admin/admin_handler.h"

#include "protocol/answers.h"
#include "protocol/http_response.h"
#include "sidecar/admin/status_page.h"
#include "sidecar/api/target.h"

namespace next_id {

namespace {

constexpr Duration turn_max = std::chrono::seconds{10};  // a loop that has not turned for so long hangs

constexpr std::string_view no_sniffing = "X-Content-Type-Options: nosniff\r\n";

}  // namespace

bool AdminHandler::handle(const HttpRequest& request, bool close, Connection&, std::string& out) {
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
                     .www_authenticate = page.status == 401,
                     .headers = page.headers},
                    page.body);
    return true;
}

AdminHandler::Page AdminHandler::page_of(const HttpRequest& request) const {
    const auto [path, query] = split_target(request.target);
    if (path == "/livez") return live();
    if (path == "/readyz") return ready();
    if (path == "/startupz") return {.body = "started\n"};  // the listeners are bound before this one answers
    if (path == "/status" || path == "/") return status(request, query);
    if (path == "/metrics") return metrics(request);
    return {.status = 404};
}

bool AdminHandler::admits(const HttpRequest& request) const {
    return !tokens_ || tokens_->admit(request);
}

AdminHandler::Page AdminHandler::token_wanted() {
    return {.status = 401, .error = "this page wants a token: send Authorization: Bearer TOKEN"};
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
        const std::string trouble = in_words(sequence->supply().trouble());
        page.status = 503;
        page.body += sequence->supply().sequence() + ": " + (trouble.empty() ? "the window is dry" : trouble) + "\n";
    }
    if (page.status == 200) page.body = "ready\n";
    return page;
}

AdminHandler::Page AdminHandler::metrics(const HttpRequest& request) const {
    if (!admits(request)) return token_wanted();
    return {.content_type = Exposition::content_type, .body = metrics_.text()};
}

// A browser gets the page, which holds nothing that is worth a token; its script asks for the rest.
AdminHandler::Page AdminHandler::status(const HttpRequest& request, std::string_view query) const {
    const StatusRequest wanted = read_status_request(query, request.accept);
    if (wanted.form == StatusRequest::Form::html)
        return {.content_type = html_type, .body = status_page(tokens_ != nullptr), .headers = status_page_headers()};
    if (!admits(request)) return token_wanted();
    const bool text = wanted.form == StatusRequest::Form::text;  // which draws all of the history
    const StatusReport report = board_.report(Clock::now(), text ? 0 : wanted.history_from);
    return {.text = text, .body = text ? to_text(report) : to_json(report, wanted.json()), .headers = no_sniffing};
}

}  // namespace next_id
