// Small answers wait here until their loop has read all that came, and are written together: a client that is woken by
// the first finds the others there, and the server need not wake it for each. One a loop, on its thread.
#pragma once

#include <uv.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sidecar/base/uv_handle.h"

namespace next_id {

class Outbox {
 public:
    class Writer {
     public:
        virtual void on_flush(std::string_view bytes) = 0;  // what it added, once for each time; it adds nothing in it

     protected:
        ~Writer() = default;
    };

    static constexpr std::size_t bytes_max = 64 * 1024;  // no more than so many are worth keeping back

    explicit Outbox(uv_loop_t* loop);

    // Until the end of this turn of the loop, or until there is much. `writer` must live until then.
    void add(Writer& writer, std::string_view bytes);
    void flush();

 private:
    struct Entry {
        Writer* writer;
        std::size_t size;
    };

    std::vector<Entry> entries_;
    std::string bytes_;  // theirs, in their order
    Handle<uv_check_t> after_reading_;
    Handle<uv_prepare_t> before_waiting_;  // for what timers have brought about
};

}  // namespace next_id
