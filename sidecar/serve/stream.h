// A connected socket on a loop: bytes in, bytes out. Writes what the socket takes at once and keeps the rest, so that
// the caller can stop making more until it has drained. On the loop's thread.
#pragma once

#include <uv.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sidecar/base/file_descriptor.h"
#include "sidecar/base/uv_handle.h"

namespace next_id {

class Stream {
 public:
    // Told of what happens. In each call it may destroy the stream.
    class Listener {
     public:
        virtual void on_bytes(std::string_view bytes) = 0;  // valid during the call
        virtual void on_end() = 0;                          // the peer sends no more; it may still read
        virtual void on_lost() = 0;                         // nothing can be read or written any more
        virtual void on_drained() = 0;                      // all that was kept has been written

     protected:
        ~Listener() = default;
    };

    // Null when the system refuses. `listener` must outlive the stream.
    static std::unique_ptr<Stream> adopt(uv_loop_t* loop, FileDescriptor descriptor, Listener& listener);

    void start_reading();
    void stop_reading();
    void write(std::string_view bytes);
    void end_writing();                                   // the peer sees the end; reading goes on
    std::size_t unwritten() const { return unwritten_; }  // bytes kept

 private:
    // Which of the two kinds a socket is, libuv decides by its handle; the owner need not know.
    struct CloseStream {
        void operator()(uv_stream_t* handle) const noexcept;
    };
    using StreamHandle = std::unique_ptr<uv_stream_t, CloseStream>;

    Stream(StreamHandle handle, Listener& listener) : listener_{listener}, handle_{std::move(handle)} {}
    void keep(std::string_view bytes);
    void on_written(std::size_t size, int status);

    Listener& listener_;
    std::size_t unwritten_ = 0;
    StreamHandle handle_;
};

}  // namespace next_id
