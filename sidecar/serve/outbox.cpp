#include "sidecar/serve/outbox.h"

#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr std::size_t entries_max = 64;  // so that the first does not wait long for the others

}  // namespace

Outbox::Outbox(uv_loop_t* loop) {
    after_reading_ = make_handle<uv_check_t>(this, [loop](uv_check_t* handle) { return uv_check_init(loop, handle); });
    before_waiting_ =
        make_handle<uv_prepare_t>(this, [loop](uv_prepare_t* handle) { return uv_prepare_init(loop, handle); });
    require(after_reading_ && before_waiting_);
    constexpr auto on_turn = [](auto* handle) {
        if (auto* const self = static_cast<Outbox*>(handle->data)) self->flush();
    };
    uv_check_start(after_reading_.get(), on_turn);
    uv_prepare_start(before_waiting_.get(), on_turn);
    // No reason for the loop to go on.
    uv_unref(reinterpret_cast<uv_handle_t*>(after_reading_.get()));
    uv_unref(reinterpret_cast<uv_handle_t*>(before_waiting_.get()));
    entries_.reserve(entries_max);
}

void Outbox::add(Writer& writer, std::string_view bytes) {
    entries_.push_back({&writer, bytes.size()});
    bytes_ += bytes;
    if (entries_.size() >= entries_max || bytes_.size() >= bytes_max) flush();
}

void Outbox::flush() {
    std::string_view left = bytes_;
    for (const Entry& entry : entries_) {
        entry.writer->on_flush(left.substr(0, entry.size));
        left.remove_prefix(entry.size);
    }
    entries_.clear();
    bytes_.clear();
}

}  // namespace next_id
