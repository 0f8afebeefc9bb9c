#include "sidecar/refill/pg_connector.h"

#include <libpq-fe.h>

#include "sidecar/refill/pg_answer.h"

namespace next_id {
namespace {

constexpr std::size_t reasons_bytes_max = 4096;

std::string in_words(Duration duration) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

void PgFinish::operator()(pg_conn* connection) const noexcept {
    PQfinish(connection);
}

PgConnector::PgConnector(uv_loop_t* loop, PgTarget target, Done done)
    : target_{std::move(target)}, done_{std::move(done)}, lookup_{loop}, alarm_{loop}, watch_{loop, [this] {
                                                                                                  poll();
                                                                                              }} {}

void PgConnector::start() {
    resolving_ = true;
    alarm_.set(Duration::zero(), [this] { begin(); });
}

void PgConnector::cancel() {
    alarm_.stop();
    lookup_.cancel();
    watch_.close();
    connection_.reset();
    password_.reset();
}

void PgConnector::begin() {
    reasons_.clear();
    next_host_ = 0;
    auto hosts = hosts_of(target_.parameters);
    if (!hosts) return end(Unexpected{hosts.error()});
    hosts_ = std::move(*hosts);

    if (target_.read_password) {
        auto password = target_.read_password();
        if (!password) return end(Unexpected{password.error()});
        password_ = std::move(*password);
    }
    try_next_host();
}

void PgConnector::try_next_host() {
    if (next_host_ == hosts_.size()) return end(Unexpected{reasons_});
    const PgHost& host = hosts_[next_host_++];
    next_address_ = 0;
    if (!needs_lookup(host)) {
        addresses_ = {host.address};
        return try_next_address();
    }

    resolving_ = true;
    addresses_.clear();
    alarm_.set(target_.connect_timeout, [this] {
        lookup_.cancel();
        failed("the name was not looked up within " + in_words(target_.connect_timeout));
    });
    const int error = lookup_.start(host.name, [this](Expected<std::vector<std::string>> found) {
        if (!found) return failed("cannot look up the name: " + found.error());
        addresses_ = std::move(*found);
        try_next_address();
    });
    if (error != 0) failed(std::string{"cannot look up the name: "} + uv_strerror(error));
}

void PgConnector::try_next_address() {
    if (next_address_ == addresses_.size()) return try_next_host();
    const std::string& address = addresses_[next_address_++];
    resolving_ = false;

    const PgParameters parameters = parameters_for(target_, hosts_[next_host_ - 1], address, password_);
    std::vector<const char*> keywords, values;
    for (const auto& [key, value] : parameters) {
        keywords.push_back(key.c_str());
        values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectStartParams(keywords.data(), values.data(), 0));
    if (connection_ == nullptr) return failed("out of memory");
    PQsetNoticeReceiver(
        connection_.get(), [](void*, const PGresult*) {}, nullptr);  // the default prints to stderr
    if (PQstatus(connection_.get()) == CONNECTION_BAD) return failed(PQerrorMessage(connection_.get()));

    alarm_.set(target_.connect_timeout,
               [this] { failed("not connected within " + in_words(target_.connect_timeout)); });
    if (!watch(UV_WRITABLE)) failed("libuv refuses the socket");  // the first step is a write, as libpq's manual says
}

void PgConnector::poll() {
    watch_.pause();
    switch (PQconnectPoll(connection_.get())) {
        case PGRES_POLLING_READING:
            if (!watch(UV_READABLE)) failed("libuv refuses the socket");
            return;
        case PGRES_POLLING_WRITING:
            if (!watch(UV_WRITABLE)) failed("libuv refuses the socket");
            return;
        case PGRES_POLLING_OK:
            return established();
        default:
            return failed(PQerrorMessage(connection_.get()));
    }
}

void PgConnector::established() {
    // Only now: until here PQconnectPoll() minds the mode itself.
    if (PQsetnonblocking(connection_.get(), 1) != 0) return failed(PQerrorMessage(connection_.get()));
    watch_.close();
    end(std::move(connection_));
}

void PgConnector::failed(std::string_view reason) {
    std::string line = one_line(reason);
    if (line.find("connection to server") == std::string::npos) line = where() + ": " + line;  // libpq mostly names it
    if (reasons_.size() < reasons_bytes_max) reasons_ += (reasons_.empty() ? "" : "; ") + line;
    watch_.close();
    connection_.reset();
    try_next_address();
}

void PgConnector::end(Expected<PgHandle> outcome) {
    cancel();
    const Done done = done_;  // a copy: the call may destroy the connector
    done(std::move(outcome));
}

bool PgConnector::watch(int events) {
    return watch_.resume(PQsocket(connection_.get()), events);
}

std::string PgConnector::where() const {
    const PgHost& host = hosts_[next_host_ - 1];
    const std::string address = next_address_ == 0 ? host.address : addresses_[next_address_ - 1];
    std::string text = host.name.empty() ? address : host.name;
    if (!address.empty() && address != text) text += " (" + address + ")";
    return text + ", port " + host.port;
}

}  // namespace next_id
