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
#include "sidecar/serve/outbox.h"
#include "sidecar/serve/tls_context.h"

namespace next_id {

class Stream final : Outbox::Writer {
 public:
    // Told of what happens. It destroys the stream in none of these calls.
    class Listener {
     public:
        virtual void on_bytes(std::string_view bytes) = 0;  // valid during the call
        virtual void on_end() = 0;                          // the peer sends no more, and may be gone altogether
        virtual void on_blocked() = 0;  // some had to be kept, and not by write(): of this turn's, or of what TLS says
        virtual void on_drained() = 0;  // all that was kept has been written, or call_back() was called
        // There will be no TLS with this peer, and what is written from now on goes out as it is. `plain`: it speaks
        // something else; otherwise it has been told what is wrong.
        virtual void on_no_tls(bool plain) = 0;

     protected:
        ~Listener() = default;
    };

    // Null when the system refuses. `outbox`, of the same loop, and `listener` must outlive the stream.
    static std::unique_ptr<Stream> adopt(uv_loop_t* loop, Outbox& outbox, FileDescriptor descriptor,
                                         Listener& listener);

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
    void write_in_this_turn(std::string_view bytes);  // when the loop has read all that came, or flush() says so
    void flush();
    void call_back();     // in the next turn, after what has come from others
    void end_writing();   // the peer sees the end; reading goes on
    Instant now() const;  // when the loop last looked at the clock
    std::size_t unwritten() const { return kept_.size() - written_; }  // bytes kept, as the network will see them

 private:
    struct Tls;

    Stream(Outbox& outbox, FileDescriptor descriptor, Listener& listener);
    void on_flush(std::string_view bytes) override;
    void watch();
    void on_ready(int status, int events);
    void on_readable();
    void on_writable();
    void on_read(std::string_view bytes);
    void on_handshake(HandshakeQueue::Step step);
    void decrypt(std::string_view bytes);
    void hand_on(std::string_view plain);
    bool tell_end();
    void send(std::string_view bytes);
    void lose();

    Outbox& outbox_;
    Listener& listener_;
    bool in_outbox_ = false;
    bool reading_ = false;
    bool calls_back_ = false;
    bool ends_ = false;         // when all is written
    int watched_ = 0;           // events that the loop looks for
    std::size_t written_ = 0;   // of what is kept
    std::string kept_;          // while there is any, what is written is appended
    std::unique_ptr<Tls> tls_;  // null: everything passes as it is
    FileDescriptor descriptor_;
    Handle<uv_poll_t> handle_;  // goes first
};

}  // namespace next_id
