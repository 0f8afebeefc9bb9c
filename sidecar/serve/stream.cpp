#include "sidecar/serve/stream.h"

#include <sys/socket.h>

#include <array>

#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr std::size_t read_bytes_max = 64 * 1024;
// One for each thread is enough: what was read is used up, or copied by its owner, before the next read.
thread_local std::array<char, read_bytes_max> read_buffer;

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

}  // namespace

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

void Stream::start_reading() {
    uv_read_start(
        handle_.get(),
        [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
            *buffer = uv_buf_init(read_buffer.data(), read_buffer.size());
        },
        [](uv_stream_t* handle, ssize_t size, const uv_buf_t* buffer) {
            auto* const self = static_cast<Stream*>(handle->data);
            if (self == nullptr || size == 0) return;
            if (size > 0) return self->listener_.on_bytes({buffer->base, static_cast<std::size_t>(size)});
            self->stop_reading();
            size == UV_EOF ? self->listener_.on_end() : self->listener_.on_lost();
        });
}

void Stream::stop_reading() {
    uv_read_stop(handle_.get());
}

void Stream::write(std::string_view bytes) {
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
    uv_os_fd_t descriptor = -1;
    if (uv_fileno(reinterpret_cast<const uv_handle_t*>(handle_.get()), &descriptor) == 0) shutdown(descriptor, SHUT_WR);
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
