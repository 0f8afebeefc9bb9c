#include "sidecar/refill/pg_connection.h"

#include <libpq-fe.h>

namespace next_id {

PgConnection::PgConnection(uv_loop_t* loop, PgTarget target, Listener& listener)
    : query_timeout_{target.query_timeout},
      configured_{endpoint_of(target.parameters)},
      listener_{listener},
      connector_{loop, std::move(target), [this](Expected<PgHandle> outcome) { connected(std::move(outcome)); }},
      alarm_{loop},
      watch_{loop, [this] { read(); }} {}

PgState PgConnection::state() const {
    return state_ == PgState::connecting && connector_.resolving() ? PgState::resolving : state_;
}

PgEndpoint PgConnection::endpoint() const {
    const PGconn* const connection = connection_.get();
    if (connection == nullptr) return configured_;
    return {PQhost(connection), PQport(connection), PQdb(connection), PQuser(connection)};
}

void PgConnection::connect() {
    require(state_ == PgState::closed || state_ == PgState::broken);
    state_ = PgState::connecting;
    connector_.start();
}

void PgConnection::connected(Expected<PgHandle> outcome) {
    if (!outcome) return lose(outcome.error());
    connection_ = std::move(*outcome);
    farewell_.clear();
    PQsetNoticeReceiver(connection_.get(), &take_notice, this);
    if (!watch()) return lose("libuv refuses the socket");
    state_ = PgState::idle;
    listener_.on_connected();
}

void PgConnection::query(std::string_view sql, std::span<const std::string> parameters) {
    require(state_ == PgState::idle);
    state_ = PgState::busy;
    answer_ = {};
    warning_.clear();
    alarm_.set(query_timeout_, [this] { listener_.on_late(); });

    std::vector<const char*> values;
    for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
    watch_.pause();
    const bool sent = PQsendQueryParams(connection_.get(), std::string{sql}.c_str(), int(values.size()), nullptr,
                                        values.data(), nullptr, nullptr, 0) == 1;
    if (sent && watch()) return;
    alarm_.set(Duration::zero(), [this] { lose(one_line(PQerrorMessage(connection_.get()))); });
}

// Something came, or may be written, or the socket failed: libpq finds out which. Also while idle, to see the server
// go.
void PgConnection::read() {
    PGconn* const connection = connection_.get();
    watch_.pause();
    const bool received = PQconsumeInput(connection) == 1;
    const bool ended = collect();  // also when nothing more will come: the server may have said why
    // A lost connection ends a statement just as an answer does. Only a server that is ready again has committed.
    if (!received || PQstatus(connection) != CONNECTION_OK || !watch()) {
        if (farewell_.empty()) farewell_ = answer_.error;
        const std::string reason = one_line(PQerrorMessage(connection));
        const bool said = farewell_.empty() || reason.find(farewell_) != std::string::npos;
        return lose(said ? reason : farewell_ + "; " + reason);
    }
    if (state_ == PgState::busy && ended) answer();
}

// Takes what results there are. True iff no more will come.
bool PgConnection::collect() {
    while (PQisBusy(connection_.get()) == 0) {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQgetResult(connection_.get()), &PQclear};
        if (result == nullptr) return true;
        add_result(answer_, *result);
        const ExecStatusType status = PQresultStatus(result.get());
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH)
            return true;  // no end to it
    }
    return false;
}

void PgConnection::answer() {
    // A transaction that is still open is not committed, whoever left it open.
    if (answer_.error.empty() && PQtransactionStatus(connection_.get()) != PQTRANS_IDLE)
        answer_.error = "the server left the transaction open";
    if (answer_.error.empty()) answer_.error = warning_;
    answer_.ok = answer_.error.empty();
    if (!answer_.ok) answer_.rows.clear();
    alarm_.stop();
    state_ = PgState::idle;
    listener_.on_answer(std::exchange(answer_, {}));
}

void PgConnection::close() {
    connector_.cancel();
    alarm_.stop();
    watch_.close();
    connection_.reset();
    state_ = PgState::closed;
}

void PgConnection::lose(const std::string& reason) {
    close();
    state_ = PgState::broken;
    listener_.on_disconnected(reason);
}

// Sends what is left to send, then waits for the socket. False when the connection is beyond hope.
bool PgConnection::watch() {
    const int left = PQflush(connection_.get());
    if (left < 0) return false;
    return watch_.resume(PQsocket(connection_.get()), left == 0 ? UV_READABLE : UV_READABLE | UV_WRITABLE);
}

// Called within libpq, so it only takes notes.
void PgConnection::take_notice(void* self, const PGresult* notice) {
    auto* connection = static_cast<PgConnection*>(self);
    // The other severity field is translated by the server.
    const char* text = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const std::string_view severity = text != nullptr ? text : "";
    if (severity == "WARNING" && connection->state_ == PgState::busy && connection->warning_.empty()) {
        const char* sqlstate = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
        connection->warning_ = describe(*notice);
        if (connection->answer_.sqlstate.empty()) connection->answer_.sqlstate = sqlstate != nullptr ? sqlstate : "";
    }
    if (severity == "FATAL" || severity == "PANIC" || severity == "ERROR") connection->farewell_ = describe(*notice);
}

}  // namespace next_id
