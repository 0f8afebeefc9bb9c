#include "sidecar/serve/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sidecar/base/log.h"
#include "sidecar/serve/tls_session.h"

namespace next_id {

namespace {

constexpr std::size_t read_bytes_max = 64 * 1024;
// One for each thread is enough: what was read is used up, or copied by its owner, before the next read.
thread_local std::array<char, read_bytes_max> read_buffer;
constexpr std::size_t handshake_bytes_max =
    4 * 1024;  // of one read; they are kept while they wait for the handshake's turn

constexpr std::size_t encrypted_at_once_max = 256 * 1024;
// Of one call, too. Each holds little more than what is read, or encrypted, at once.
thread_local std::string plain_buffer, record_buffer;

// Bytes that the socket took. -1: it takes no more, ever.
ssize_t send_now(const FileDescriptor& socket, std::string_view bytes) {
    const ssize_t size = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return size < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : size;
}

// Of a handshake that is over.
HandshakeCounters::Result result_of(TlsSession::State state) {
    if (state == TlsSession::State::not_tls) return HandshakeCounters::Result::plain;
    if (state == TlsSession::State::failed) return HandshakeCounters::Result::failed;
    return HandshakeCounters::Result::ok;
}

}  // namespace

struct Stream::Tls final : HandshakeQueue::Waiter {
    Tls(Stream& owner, const TlsContext& context, HandshakeQueue& steps, HandshakeCounters& tally)
        : stream{owner}, queue{steps}, counters{tally}, session{std::make_unique<TlsSession>(context)} {}
    ~Tls() {
        if (!session) queue.remove(*this);
        if (handshaking()) counters.ended(HandshakeCounters::Result::abandoned);
    }

    bool handshaking() const { return !session || session->state() == TlsSession::State::handshaking; }
    void on_step(HandshakeQueue::Step done) override { stream.on_handshake(std::move(done)); }

    Stream& stream;
    HandshakeQueue& queue;
    HandshakeCounters& counters;
    std::unique_ptr<TlsSession> session;  // null: in the queue, and nothing more is read until it is back
};

std::unique_ptr<Stream> Stream::adopt(uv_loop_t* loop, Outbox& outbox, FileDescriptor descriptor, Listener& listener) {
    const int on = 1;
    setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a Unix socket refuses, and needs none
    std::unique_ptr<Stream> stream{new Stream{outbox, std::move(descriptor), listener}};
    stream->handle_ = make_handle<uv_poll_t>(
        stream.get(), [&](uv_poll_t* handle) { return uv_poll_init(loop, handle, stream->descriptor_.get()); });
    return stream->handle_ ? std::move(stream) : nullptr;
}

Stream::Stream(Outbox& outbox, FileDescriptor descriptor, Listener& listener)
    : outbox_{outbox}, listener_{listener}, descriptor_{std::move(descriptor)} {}

Stream::~Stream() {
    flush();
    if (!tls_ || !tls_->session || unwritten() != 0) return;
    record_buffer.clear();
    tls_->session->close(record_buffer);
    if (!record_buffer.empty()) send_now(descriptor_, record_buffer);
}

void Stream::secure(const TlsContext& context, HandshakeQueue& queue, HandshakeCounters& counters) {
    tls_ = std::make_unique<Tls>(*this, context, queue, counters);
}

bool Stream::handshaking() const {
    return tls_ && tls_->handshaking();
}

void Stream::start_reading() {
    reading_ = true;
    if (tls_ && tell_end()) return;
    watch();
}

void Stream::stop_reading() {
    reading_ = false;
    if (tls_ && !tls_->session) tls_->queue.remove(*tls_);
    watch();
}

// Has the loop look for what is waited for now.
void Stream::watch() {
    const bool reads = reading_ && !(tls_ && !tls_->session);
    const int events = (reads ? UV_READABLE : 0) | (unwritten() != 0 || calls_back_ ? UV_WRITABLE : 0);
    if (std::exchange(watched_, events) == events) return;
    uv_poll_start(handle_.get(), events, [](uv_poll_t* handle, int status, int ready) {
        if (auto* const self = static_cast<Stream*>(handle->data)) self->on_ready(status, ready);
    });
}

void Stream::on_ready(int status, int events) {
    if (status < 0) return lose();
    if ((events & UV_WRITABLE) != 0) on_writable();
    flush();  // a turn may bring something twice
    if ((events & watched_ & UV_READABLE) != 0) on_readable();
}

void Stream::on_readable() {
    const std::size_t most = handshaking() ? handshake_bytes_max : read_buffer.size();
    const ssize_t size = recv(descriptor_.get(), read_buffer.data(), most, 0);
    if (size > 0) return on_read({read_buffer.data(), static_cast<std::size_t>(size)});
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0) return lose();
    stop_reading();
    listener_.on_end();
}

void Stream::on_writable() {
    const ssize_t size = send_now(descriptor_, std::string_view{kept_}.substr(written_));
    if (size < 0) return lose();
    written_ += static_cast<std::size_t>(size);
    if (unwritten() != 0) return;
    written_ = 0;
    kept_ = {};
    calls_back_ = false;
    if (ends_) shutdown(descriptor_.get(), SHUT_WR);
    watch();
    listener_.on_drained();
}

// The peer is gone, and with it the use of what was kept for it.
void Stream::lose() {
    written_ = 0;
    kept_ = {};
    stop_reading();
    listener_.on_end();
}

void Stream::on_read(std::string_view bytes) {
    if (!tls_) return listener_.on_bytes(bytes);
    if (!handshaking()) return decrypt(bytes);
    HandshakeQueue::Step step{std::move(tls_->session), std::string{bytes}};
    watch();
    tls_->queue.add(*tls_, std::move(step));
}

void Stream::on_handshake(HandshakeQueue::Step step) {
    tls_->session = std::move(step.session);
    watch();
    send(step.out);
    const TlsSession::State state = tls_->session->state();
    if (state != TlsSession::State::handshaking) tls_->counters.ended(result_of(state));
    if (state == TlsSession::State::not_tls || state == TlsSession::State::failed) {
        log::debug("a TLS handshake failed", {{"reason", tls_->session->error()}});
        tls_.reset();
        return listener_.on_no_tls(state == TlsSession::State::not_tls);
    }
    hand_on(step.plain);
}

void Stream::decrypt(std::string_view bytes) {
    plain_buffer.clear();
    record_buffer.clear();
    tls_->session->receive(bytes, plain_buffer, record_buffer);
    send(record_buffer);
    hand_on(plain_buffer);
}

void Stream::hand_on(std::string_view plain) {
    if (!plain.empty())
        listener_.on_bytes(plain);
    else if (unwritten() != 0)
        listener_.on_blocked();  // by what TLS has to answer
    if (reading_) tell_end();
}

// True iff the TLS session is over; its listener hears of it only while it reads, as with the end of a socket.
bool Stream::tell_end() {
    if (handshaking()) return false;
    const TlsSession::State state = tls_->session->state();
    if (state != TlsSession::State::ended && state != TlsSession::State::failed) return false;
    listener_.on_end();
    return true;
}

void Stream::write(std::string_view bytes) {
    if (!tls_) return send(bytes);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(encrypted_at_once_max, bytes.size()))) {
        record_buffer.clear();
        tls_->session->write(bytes.substr(0, encrypted_at_once_max), record_buffer);
        send(record_buffer);
    }
}

// Not with TLS: to encrypt an answer takes so long that nothing is gained.
void Stream::write_in_this_turn(std::string_view bytes) {
    if (tls_ || bytes.size() >= Outbox::bytes_max) return write(bytes);
    if (bytes.empty()) return;
    in_outbox_ = true;
    outbox_.add(*this, bytes);
}

void Stream::flush() {
    if (in_outbox_) outbox_.flush();
}

void Stream::on_flush(std::string_view bytes) {
    in_outbox_ = false;
    send(bytes);
    if (unwritten() != 0) listener_.on_blocked();
}

// What the socket does not take is kept, also when the peer is gone: the owner hears of that from the loop, not in the
// middle of its work.
void Stream::send(std::string_view bytes) {
    if (bytes.empty()) return;
    flush();
    if (unwritten() == 0) {
        const ssize_t size = send_now(descriptor_, bytes);
        if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
        if (bytes.empty()) return;
    }
    kept_ += bytes;
    watch();
}

void Stream::end_writing() {
    if (tls_) {
        record_buffer.clear();
        tls_->session->close(record_buffer);
        send(record_buffer);
    }
    flush();
    ends_ = true;
    if (unwritten() == 0) shutdown(descriptor_.get(), SHUT_WR);
}

void Stream::call_back() {
    calls_back_ = true;
    watch();
}

// libuv's clock is the one behind Clock, in milliseconds.
Instant Stream::now() const {
    return Instant{std::chrono::milliseconds{uv_now(handle_->loop)}};
}

}  // namespace next_id
