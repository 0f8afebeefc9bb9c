#include "sidecar/serve/http_connection.h"

#include <limits>

#include "protocol/answers.h"
#include "protocol/http_response.h"
#include "sidecar/base/require.h"
#include "sidecar/serve/tls_server.h"

namespace next_id {

namespace {

constexpr std::size_t out_bytes_kept_max = 1024 * 1024;  // of the buffer's capacity, after an answer that was larger
constexpr std::size_t linger_bytes_max = 1024 * 1024;    // of a refused request, read and thrown away
constexpr unsigned linger_sweeps_max = 2;
constexpr unsigned handshake_sweeps_max = 10;
constexpr std::uint32_t refused_retry_after_s = 1;

// Answers to what came in one read are written at once. One buffer for each thread: it is empty between calls.
thread_local std::string out_buffer;

}  // namespace

HttpConnection::~HttpConnection() {
    if (state_ == State::parked) handler_.forget(*this);
}

bool HttpConnection::start(uv_loop_t* loop, HandshakeQueue& handshakes, Accepted accepted) {
    client_ = accepted.client;
    entrance_ = accepted.entrance;
    parser_.set_head_bytes_max(entrance_.head_bytes_max);
    seat_ = std::move(accepted.seat);
    counters_ = handler_.counters_of(entrance_.listener);
    stream_ = Stream::adopt(loop, std::move(accepted.descriptor), *this);
    if (!stream_) return false;
    if (accepted.refusal && entrance_.tls != nullptr) return false;  // a handshake only to be told no is not worth it
    if (accepted.refusal) return refuse(*accepted.refusal), true;
    if (entrance_.tls != nullptr) stream_->secure(*entrance_.tls->context(), handshakes, entrance_.tls->handshakes());
    stream_->start_reading();
    return true;
}

void HttpConnection::refuse(const HttpError& error) {
    std::string out;
    answer_error(error, out);
    stream_->write(out);
    if (stream_->unwritten() == 0) close();
}

void HttpConnection::on_bytes(std::string_view bytes) {
    if (state_ == State::lingering) {
        lingered_bytes_ += bytes.size();
        if (lingered_bytes_ > linger_bytes_max) finish();
        return;
    }
    answer(bytes);
}

void HttpConnection::answer(std::string_view bytes) {
    now_ = stream_->now();
    if (counters_ == nullptr || !counters_->is_due(now_)) return answer_all(bytes);
    const Instant began = Clock::now();
    answer_all(bytes);
    counters_->took(Clock::now() - began);
}

void HttpConnection::answer_all(std::string_view bytes) {
    std::string& out = out_buffer;
    bool more = true;
    while (more && state_ == State::open && stream_->unwritten() == 0) {
        out.clear();
        while (more && state_ == State::open && out.size() < entrance_.answers_bytes_max)
            more = !bytes.empty() && answer_one(bytes, out);
        stream_->write(out);
    }
    if (out.capacity() > out_bytes_kept_max) std::string{}.swap(out);
    after_answers(bytes);
}

// False when `bytes` hold no further whole request.
bool HttpConnection::answer_one(std::string_view& bytes, std::string& out) {
    std::size_t consumed = 0;
    const HttpParser::Result result = parser_.parse(bytes, consumed);
    bytes.remove_prefix(consumed);
    if (result == HttpParser::Result::need_more) return false;
    if (result == HttpParser::Result::error) {
        if (counters_ != nullptr) counters_->answered(parser_.error().status);
        answer_error(parser_.error(), out);
        return false;
    }
    sweeps_ = 0;
    close_after_ = draining_ || !parser_.request().keep_alive;
    if (!handler_.handle(parser_.request(), close_after_, *this, out))
        state_ = State::parked;
    else if (close_after_)
        state_ = State::closing;
    return true;
}

void HttpConnection::answer_error(const HttpError& error, std::string& out) {
    std::string body;
    append_error(body, error.status, msg_of(error.status), error.sentence);
    append_response(out,
                    {.status = error.status,
                     .close = true,
                     .allow = error.status == 405 ? "GET, HEAD, POST" : "",
                     .retry_after_seconds = error.status == 503 ? refused_retry_after_s : 0},
                    body);
    state_ = State::closing;
    linger_ = true;
}

void HttpConnection::after_answers(std::string_view rest) {
    const bool written = stream_->unwritten() == 0;
    if (state_ == State::open) {
        if (rest.empty() && written) return;
        state_ = State::blocked;
    }
    stream_->stop_reading();
    unread_ = std::string{rest};
    if (state_ == State::closing && written) close();
}

void HttpConnection::resume(std::string_view response) {
    require(state_ == State::parked);
    state_ = close_after_ ? State::closing : State::blocked;
    stream_->write(response);
    if (stream_->unwritten() == 0) on_drained();
}

void HttpConnection::on_drained() {
    if (state_ == State::closing) return close();
    if (state_ == State::blocked) go_on();
}

// Answers what was left unread, then reads again.
void HttpConnection::go_on() {
    state_ = State::open;
    sweeps_ = 0;
    const std::string unread = std::move(unread_);
    unread_.clear();
    if (!unread.empty()) answer(unread);
    if (state_ != State::open) return;
    if (draining_ && !parser_.mid_request()) return finish();
    stream_->start_reading();
}

void HttpConnection::on_end() {
    finish();
}  // reading stops while something is in flight, so nothing is
void HttpConnection::on_lost() {
    finish();
}

// What the peer may still be sending is not to destroy the answer, or the alert, on its way to it.
void HttpConnection::on_no_tls(bool plain) {
    std::string out;
    if (plain) answer_error({400, "this port speaks HTTPS, and the request came without TLS; ask https://"}, out);
    stream_->write(out);
    state_ = State::closing;
    linger_ = true;
    after_answers({});
}

void HttpConnection::drain() {
    draining_ = true;
    if (state_ == State::parked) close_after_ = true;
    if (state_ == State::open && !parser_.mid_request()) finish();
}

// A client that is still sending would lose its answers to a reset, were the socket closed under it.
void HttpConnection::close() {
    if (!linger_ && !draining_ && unread_.empty()) return finish();
    state_ = State::lingering;
    sweeps_ = 0;
    unread_ = {};
    stream_->end_writing();
    stream_->start_reading();
}

void HttpConnection::sweep() {
    const Turn now = turn();
    if (std::exchange(turn_, now) != now) sweeps_ = 0;
    if (++sweeps_ > sweeps_max(now)) finish();
}

HttpConnection::Turn HttpConnection::turn() const {
    if (stream_->handshaking()) return Turn::to_shake_hands;
    switch (state_) {
        case State::open:
            return parser_.mid_request() ? Turn::to_go_on : Turn::to_ask;
        case State::blocked:
        case State::closing:
            return Turn::to_go_on;
        case State::lingering:
            return Turn::to_leave;
        case State::parked:
        case State::finished:
            break;
    }
    return Turn::ours;
}

unsigned HttpConnection::sweeps_max(Turn turn) const {
    switch (turn) {
        case Turn::to_ask:
            return entrance_.idle_timeout_s;
        case Turn::to_go_on:
            return entrance_.request_timeout_s;
        case Turn::to_shake_hands:
            return handshake_sweeps_max;
        case Turn::to_leave:
            return linger_sweeps_max;
        case Turn::ours:
            break;
    }
    return std::numeric_limits<unsigned>::max();
}

void HttpConnection::finish() {
    if (state_ == State::finished) return;
    if (state_ == State::parked) handler_.forget(*this);
    state_ = State::finished;
    stream_->stop_reading();
    finished_(*this);
}

}  // namespace next_id
