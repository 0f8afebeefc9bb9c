#include "sidecar/serve/connection.h"

#include <limits>

#include "sidecar/base/require.h"
#include "sidecar/serve/http_session.h"
#include "sidecar/serve/resp_session.h"
#include "sidecar/serve/tls_server.h"

namespace next_id {

namespace {

constexpr std::size_t out_bytes_kept_max = 1024 * 1024;  // of the buffer's capacity, after an answer that was larger
constexpr std::size_t linger_bytes_max = 1024 * 1024;    // of a refused request, read and thrown away
constexpr unsigned linger_sweeps_max = 2;
constexpr unsigned handshake_sweeps_max = 10;

// Answers to what came in one read are written together. One buffer for each thread: it is empty between calls.
thread_local std::string out_buffer;

}  // namespace

Connection::~Connection() {
    if (state_ == State::parked) session_->forget();
}

bool Connection::start(uv_loop_t* loop, Outbox& outbox, HandshakeQueue& handshakes, Accepted accepted) {
    client_ = accepted.client;
    entrance_ = accepted.entrance;
    seat_ = std::move(accepted.seat);
    counters_ = http_.counters_of(entrance_.listener);
    stream_ = Stream::adopt(loop, outbox, std::move(accepted.descriptor), *this);
    if (!stream_) return false;
    if (accepted.refusal && entrance_.tls != nullptr) return false;  // a handshake only to be told no is not worth it
    refusal_ = accepted.refusal;
    if (entrance_.listener != ListenerName::socket) begin_session({});
    if (refusal_ && session_) return refuse(*refusal_), true;
    if (entrance_.tls != nullptr) stream_->secure(*entrance_.tls->context(), handshakes, entrance_.tls->handshakes());
    stream_->start_reading();
    return true;
}

void Connection::begin_session(char first_byte) {
    const bool resp = entrance_.listener == ListenerName::resp ||
                      (entrance_.listener == ListenerName::socket && first_byte == resp_first_byte);
    if (resp) {
        require(resp_ != nullptr);
        session_ = std::make_unique<RespSession>(*resp_, *this);
    } else {
        session_ = std::make_unique<HttpSession>(http_, *this);
    }
}

void Connection::refuse(const HttpError& error) {
    std::string out;
    session_->refuse(error, out);
    stream_->write(out);
    state_ = State::closing;
    linger_ = true;
    after_answers({});
}

void Connection::on_bytes(std::string_view bytes) {
    if (state_ == State::lingering) {
        lingered_bytes_ += bytes.size();
        if (lingered_bytes_ > linger_bytes_max) finish();
        return;
    }
    if (!session_) begin_session(bytes.front());
    if (refusal_) return refuse(*refusal_);
    answer(bytes);
}

void Connection::answer(std::string_view bytes) {
    now_ = stream_->now();
    if (counters_ == nullptr || !counters_->is_due(now_)) return answer_all(bytes);
    const Instant began = Clock::now();
    answer_all(bytes);
    counters_->took(Clock::now() - began);
}

void Connection::answer_all(std::string_view bytes) {
    std::string& out = out_buffer;
    out.clear();
    if (stream_->unwritten() == 0)
        while (!bytes.empty() && state_ == State::open && out.size() < entrance_.answers_bytes_max)
            answer_one(bytes, out);
    if (state_ == State::open && bytes.empty())
        stream_->write_in_this_turn(out);
    else
        stream_->write(out);
    if (out.capacity() > out_bytes_kept_max) std::string{}.swap(out);
    after_answers(bytes);
}

void Connection::answer_one(std::string_view& bytes, std::string& out) {
    close_after_ = draining_;
    switch (session_->answer_one(bytes, close_after_, out)) {
        case Session::Outcome::need_more:
            return;
        case Session::Outcome::answered:
            if (close_after_) state_ = State::closing;
            break;
        case Session::Outcome::parked:
            state_ = State::parked;
            break;
        case Session::Outcome::refused:
            state_ = State::closing;
            linger_ = true;
            return;
    }
    sweeps_ = 0;
}

void Connection::after_answers(std::string_view rest) {
    const bool written = stream_->unwritten() == 0;
    if (state_ == State::open) {
        if (rest.empty() && written) return;
        state_ = State::blocked;
    }
    stream_->stop_reading();
    unread_ = std::string{rest};
    if (!written) return;
    if (state_ == State::closing)
        close();
    else if (state_ == State::blocked)
        stream_->call_back();  // the others on this loop have their turn first
}

void Connection::resume(std::string_view response) {
    require(state_ == State::parked);
    state_ = close_after_ ? State::closing : State::blocked;
    stream_->write(response);
    if (stream_->unwritten() == 0) on_drained();
}

void Connection::on_blocked() {
    if (state_ == State::open) after_answers({});
}

void Connection::on_drained() {
    if (state_ == State::closing) return close();
    if (state_ == State::blocked) go_on();
}

// Answers what was left unread, then reads again.
void Connection::go_on() {
    state_ = State::open;
    sweeps_ = 0;
    const std::string unread = std::move(unread_);
    unread_.clear();
    if (!unread.empty()) answer(unread);
    if (state_ != State::open) return;
    if (draining_ && !mid_request()) return finish();
    stream_->start_reading();
}

// Reading stops while something is in flight: unless the peer is gone altogether, nothing is.
void Connection::on_end() {
    finish();
}

// What the peer may still be sending is not to destroy the answer, or the alert, on its way to it.
void Connection::on_no_tls(bool plain) {
    if (plain) return refuse({400, "this port speaks TLS, and the request came without it; ask https:// or rediss://"});
    state_ = State::closing;
    linger_ = true;
    after_answers({});
}

void Connection::drain() {
    draining_ = true;
    stream_->flush();
    if (state_ == State::parked) close_after_ = true;
    if (state_ == State::open && !mid_request()) finish();
}

// A client that is still sending would lose its answers to a reset, were the socket closed under it.
void Connection::close() {
    if (!linger_ && !draining_ && unread_.empty()) return finish();
    state_ = State::lingering;
    sweeps_ = 0;
    unread_ = {};
    stream_->end_writing();
    stream_->start_reading();
}

void Connection::sweep() {
    const Turn now = turn();
    if (std::exchange(turn_, now) != now) sweeps_ = 0;
    if (++sweeps_ > sweeps_max(now)) finish();
}

Connection::Turn Connection::turn() const {
    if (stream_->handshaking()) return Turn::to_shake_hands;
    switch (state_) {
        case State::open:
            if (refusal_) return Turn::to_leave;
            return mid_request() ? Turn::to_go_on : Turn::to_ask;
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

unsigned Connection::sweeps_max(Turn turn) const {
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

void Connection::finish() {
    if (state_ == State::finished) return;
    if (state_ == State::parked) session_->forget();
    state_ = State::finished;
    seat_ = {};  // in this turn, whoever has closed one connection may open the next
    stream_->stop_reading();
    finished_(*this);
}

}  // namespace next_id
