#include "sidecar/serve/stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sidecar/base/log.h"
#include "sidecar/base/require.h"
#include "sidecar/serve/tls_session.h"

namespace next_id {

namespace {

constexpr std::size_t read_bytes_max = 64 * 1024;
// One for each thread is enough: what was read is used up, or copied by its owner, before the next read.
thread_local std::array<char, read_bytes_max> read_buffer;

constexpr std::size_t encrypted_at_once_max = 256 * 1024;
// Of one call, too. Each holds little more than what is read, or encrypted, at once.
thread_local std::string plain_buffer, record_buffer;

struct WriteRequest {
    uv_write_t request;
    std::string bytes;
};

bool is_unix_socket(int descriptor) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    return getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 && address.ss_family == AF_UNIX;
}

template <class H>
uv_stream_t* open_stream(uv_loop_t* loop, FileDescriptor descriptor) {
    auto handle = std::make_unique<H>();
    int failed;
    if constexpr (std::is_same_v<H, uv_pipe_t>)
        failed = uv_pipe_init(loop, handle.get(), 0);
    else
        failed = uv_tcp_init(loop, handle.get());
    if (failed != 0) return nullptr;
    auto* const stream = reinterpret_cast<uv_stream_t*>(handle.release());
    if constexpr (std::is_same_v<H, uv_pipe_t>) {
        failed = uv_pipe_open(reinterpret_cast<uv_pipe_t*>(stream), descriptor.get());
    } else {
        failed = uv_tcp_open(reinterpret_cast<uv_tcp_t*>(stream), descriptor.get());
        if (failed == 0) uv_tcp_nodelay(reinterpret_cast<uv_tcp_t*>(stream), 1);
    }
    stream->data = nullptr;
    if (failed == 0) return descriptor.release(), stream;
    uv_close(reinterpret_cast<uv_handle_t*>(stream), [](uv_handle_t* closed) { delete reinterpret_cast<H*>(closed); });
    return nullptr;
}

// Of a handshake that is over.
HandshakeCounters::Result result_of(TlsSession::State state) {
    if (state == TlsSession::State::not_tls) return HandshakeCounters::Result::plain;
    if (state == TlsSession::State::failed) return HandshakeCounters::Result::failed;
    return HandshakeCounters::Result::ok;
}

}  // namespace

struct Stream::Tls final : HandshakeQueue::Waiter {
    Tls(Stream& owner, const TlsContext& context, HandshakeQueue& turns, HandshakeCounters& tally)
        : stream{owner}, queue{turns}, counters{tally}, session{context} {}
    ~Tls() {
        queue.remove(*this);
        if (session.state() == TlsSession::State::handshaking) counters.ended(HandshakeCounters::Result::abandoned);
    }

    void on_turn() override {
        const std::string bytes = std::exchange(waiting, {});
        stream.start_reading();
        stream.decrypt(bytes);
    }

    Stream& stream;
    HandshakeQueue& queue;
    HandshakeCounters& counters;
    TlsSession session;
    std::string waiting;  // what the peer has sent of a handshake whose turn has not come; then nothing more is read
};

void Stream::CloseStream::operator()(uv_stream_t* handle) const noexcept {
    handle->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(handle), [](uv_handle_t* closed) {
        if (closed->type == UV_TCP)
            delete reinterpret_cast<uv_tcp_t*>(closed);
        else
            delete reinterpret_cast<uv_pipe_t*>(closed);
    });
}

std::unique_ptr<Stream> Stream::adopt(uv_loop_t* loop, FileDescriptor descriptor, Listener& listener) {
    uv_stream_t* const raw = is_unix_socket(descriptor.get()) ? open_stream<uv_pipe_t>(loop, std::move(descriptor))
                                                              : open_stream<uv_tcp_t>(loop, std::move(descriptor));
    if (raw == nullptr) return nullptr;
    std::unique_ptr<Stream> stream{new Stream{StreamHandle{raw}, listener}};
    raw->data = stream.get();
    return stream;
}

Stream::Stream(StreamHandle handle, Listener& listener) : listener_{listener}, handle_{std::move(handle)} {}

Stream::~Stream() {
    if (!tls_ || unwritten_ != 0) return;
    record_buffer.clear();
    tls_->session.close(record_buffer);
    uv_buf_t buffer = uv_buf_init(record_buffer.data(), static_cast<unsigned>(record_buffer.size()));
    if (buffer.len != 0) uv_try_write(handle_.get(), &buffer, 1);
}

void Stream::secure(const TlsContext& context, HandshakeQueue& queue, HandshakeCounters& counters) {
    tls_ = std::make_unique<Tls>(*this, context, queue, counters);
}

bool Stream::handshaking() const {
    return tls_ && tls_->session.state() == TlsSession::State::handshaking;
}

void Stream::start_reading() {
    reading_ = true;
    if (tls_ && tell_end()) return;
    uv_read_start(
        handle_.get(),
        [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
            *buffer = uv_buf_init(read_buffer.data(), read_buffer.size());
        },
        [](uv_stream_t* handle, ssize_t size, const uv_buf_t* buffer) {
            auto* const self = static_cast<Stream*>(handle->data);
            if (self == nullptr || size == 0) return;
            if (size > 0) return self->on_read({buffer->base, static_cast<std::size_t>(size)});
            self->stop_reading();
            size == UV_EOF ? self->listener_.on_end() : self->listener_.on_lost();
        });
}

void Stream::stop_reading() {
    reading_ = false;
    uv_read_stop(handle_.get());
    if (tls_) tls_->queue.remove(*tls_);
}

void Stream::on_read(std::string_view bytes) {
    if (!tls_) return listener_.on_bytes(bytes);
    if (!handshaking()) return decrypt(bytes);
    uv_read_stop(handle_.get());
    tls_->waiting = bytes;
    tls_->queue.add(*tls_);
}

void Stream::decrypt(std::string_view bytes) {
    plain_buffer.clear();
    record_buffer.clear();
    const bool was_handshaking = handshaking();
    const TlsSession::State state = tls_->session.receive(bytes, plain_buffer, record_buffer);
    send(record_buffer);
    if (was_handshaking && state != TlsSession::State::handshaking) tls_->counters.ended(result_of(state));
    if (was_handshaking && (state == TlsSession::State::not_tls || state == TlsSession::State::failed)) {
        log::debug("a TLS handshake failed", {{"reason", tls_->session.error()}});
        tls_.reset();
        return listener_.on_no_tls(state == TlsSession::State::not_tls);
    }
    if (!plain_buffer.empty()) listener_.on_bytes(plain_buffer);
    if (reading_) tell_end();
}

// True iff the TLS session is over; its listener hears of it only while it reads, as with the end of a socket.
bool Stream::tell_end() {
    const TlsSession::State state = tls_->session.state();
    if (state == TlsSession::State::ended) return listener_.on_end(), true;
    if (state == TlsSession::State::failed) return listener_.on_lost(), true;
    return false;
}

void Stream::write(std::string_view bytes) {
    if (!tls_) return send(bytes);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(encrypted_at_once_max, bytes.size()))) {
        record_buffer.clear();
        tls_->session.write(bytes.substr(0, encrypted_at_once_max), record_buffer);
        send(record_buffer);
    }
}

void Stream::send(std::string_view bytes) {
    if (bytes.empty()) return;
    if (unwritten_ == 0) {
        uv_buf_t buffer = uv_buf_init(const_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()));
        const int written = uv_try_write(handle_.get(), &buffer, 1);
        if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
        if (bytes.empty()) return;
    }
    keep(bytes);  // also when the peer is gone: the owner hears of it from the loop, not in the middle of its work
}

void Stream::end_writing() {
    if (tls_) {
        record_buffer.clear();
        tls_->session.close(record_buffer);
        send(record_buffer);
    }
    uv_os_fd_t descriptor = -1;
    if (uv_fileno(reinterpret_cast<const uv_handle_t*>(handle_.get()), &descriptor) == 0) shutdown(descriptor, SHUT_WR);
}

// libuv's clock is the one behind Clock, in milliseconds.
Instant Stream::now() const {
    return Instant{std::chrono::milliseconds{uv_now(handle_->loop)}};
}

void Stream::keep(std::string_view bytes) {
    auto kept = std::make_unique<WriteRequest>(WriteRequest{{}, std::string{bytes}});
    kept->request.data = this;
    unwritten_ += kept->bytes.size();
    const uv_buf_t buffer = uv_buf_init(kept->bytes.data(), static_cast<unsigned>(kept->bytes.size()));
    WriteRequest* const raw = kept.release();
    const int failed = uv_write(&raw->request, handle_.get(), &buffer, 1, [](uv_write_t* request, int status) {
        const std::unique_ptr<WriteRequest> done{reinterpret_cast<WriteRequest*>(request)};
        if (request->handle->data == nullptr) return;  // the stream has been destroyed
        static_cast<Stream*>(request->data)->on_written(done->bytes.size(), status);
    });
    require(failed == 0);  // what the peer brings about, the callback tells
}

void Stream::on_written(std::size_t size, int status) {
    unwritten_ -= size;
    if (status < 0) return listener_.on_lost();
    if (unwritten_ == 0) listener_.on_drained();
}

}  // namespace next_id
