// A connected socket on a loop: bytes in, bytes out, through TLS where that is spoken. Writes what the socket takes at
// once and keeps the rest, so that the caller can stop making more until it has drained. On the loop's thread.
#pragma once

#include <uv.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sidecar/base/clock.h"
#include "sidecar/base/file_descriptor.h"
#include "sidecar/base/uv_handle.h"
#include "sidecar/metrics/handshake_counters.h"
#include "sidecar/serve/handshake_queue.h"
#include "sidecar/serve/tls_context.h"

namespace next_id {

class Stream {
 public:
    // Told of what happens. It destroys the stream in none of these calls.
    class Listener {
     public:
        virtual void on_bytes(std::string_view bytes) = 0;  // valid during the call
        virtual void on_end() = 0;                          // the peer sends no more; it may still read
        virtual void on_lost() = 0;                         // nothing can be read or written any more
        virtual void on_drained() = 0;                      // all that was kept has been written
        // There will be no TLS with this peer, and what is written from now on goes out as it is. `plain`: it speaks
        // something else; otherwise it has been told what is wrong.
        virtual void on_no_tls(bool plain) = 0;

     protected:
        ~Listener() = default;
    };

    // Null when the system refuses. `listener` must outlive the stream.
    static std::unique_ptr<Stream> adopt(uv_loop_t* loop, FileDescriptor descriptor, Listener& listener);

    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // From here on the network sees TLS. Before anything is read or written. `queue` and `counters` must outlive the
    // stream.
    void secure(const TlsContext& context, HandshakeQueue& queue, HandshakeCounters& counters);
    bool handshaking() const;

    void start_reading();
    void stop_reading();
    void write(std::string_view bytes);
    void end_writing();                                   // the peer sees the end; reading goes on
    Instant now() const;                                  // when the loop last looked at the clock
    std::size_t unwritten() const { return unwritten_; }  // bytes kept, as the network will see them

 private:
    // Which of the two kinds a socket is, libuv decides by its handle; the owner need not know.
    struct CloseStream {
        void operator()(uv_stream_t* handle) const noexcept;
    };
    using StreamHandle = std::unique_ptr<uv_stream_t, CloseStream>;
    struct Tls;

    Stream(StreamHandle handle, Listener& listener);
    void on_read(std::string_view bytes);
    void decrypt(std::string_view bytes);
    bool tell_end();
    void send(std::string_view bytes);
    void keep(std::string_view bytes);
    void on_written(std::size_t size, int status);

    Listener& listener_;
    bool reading_ = false;
    std::size_t unwritten_ = 0;
    std::unique_ptr<Tls> tls_;  // null: everything passes as it is
    StreamHandle handle_;
};

}  // namespace next_id
