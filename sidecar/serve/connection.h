// One client's session over a stream: pipelining, answers in the order of the requests, deadlines, the end. While a
// request is parked or the client does not read, nothing more is read from it, so its memory is bounded. On its loop's
// thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sidecar/serve/accepted.h"
#include "sidecar/serve/http_handler.h"
#include "sidecar/serve/resp_handler.h"
#include "sidecar/serve/session.h"
#include "sidecar/serve/stream.h"

namespace next_id {

class Connection final : Stream::Listener {
 public:
    // Called once, when the connection is over. Its owner destroys it in a later turn of the loop, not in the call.
    using Finished = std::function<void(Connection&)>;

    // Both handlers must outlive it. Without one of RESP its entrance speaks HTTP.
    Connection(HttpHandler& http, RespHandler* resp, Finished finished)
        : http_{http}, resp_{resp}, finished_{std::move(finished)} {}
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Begins to read; or, to one that is refused, says why and closes. False when the connection is to be dropped: the
    // system refuses, or one that is refused would first want a handshake.
    bool start(uv_loop_t* loop, Outbox& outbox, HandshakeQueue& handshakes, Accepted accepted);

    const Client& client() const { return client_; }
    const Entrance& entrance() const { return entrance_; }
    Instant now() const { return now_; }  // when its loop last brought something from it

    // Counts the answer to what was no request.
    void count(int status) {
        if (counters_ != nullptr) counters_->answered(status);
    }

    // The answer to the parked request. Not from within a call of its handler's handle().
    void resume(std::string_view response);

    bool closes_after_answer() const { return close_after_; }

    // Finishes what is in flight, says so in its last answer, and closes. A connection that is between requests closes
    // at once.
    void drain();

    // Called about once a second: ends what has lingered or been idle for long enough, and what makes no progress
    // because of its client.
    void sweep();

 private:
    enum class State : std::uint8_t {
        open,       // reads and answers
        parked,     // a request waits for IDs; nothing is read
        blocked,    // the client does not read its answers; nothing is read
        closing,    // the last answer has been given; closes when it is written
        lingering,  // all is written, and the client may still be sending; what it sends is thrown away
        finished,   // over; waits to be destroyed
    };

    // What it is that the client has to do next.
    enum class Turn : std::uint8_t {
        to_ask,    // nothing is under way
        to_go_on,  // has to send the rest of its request, or to read its answers
        to_shake_hands,
        to_leave,  // is lingering
        ours,
    };

    void on_bytes(std::string_view bytes) override;
    void on_end() override;
    void on_blocked() override;
    void on_drained() override;
    void on_no_tls(bool plain) override;

    void begin_session(char first_byte);  // which tells what is spoken on the Unix socket; else any will do
    bool mid_request() const { return session_ && session_->mid_request(); }
    void refuse(const HttpError& error);
    void answer(std::string_view bytes);
    void answer_all(std::string_view bytes);
    void answer_one(std::string_view& bytes, std::string& out);
    Turn turn() const;
    unsigned sweeps_max(Turn turn) const;
    void after_answers(std::string_view rest);
    void go_on();
    void close();
    void finish();

    HttpHandler& http_;
    RespHandler* const resp_;
    const Finished finished_;
    Client client_;
    Entrance entrance_;
    Admission::Seat seat_;
    Instant now_{};
    RequestCounters* counters_ = nullptr;  // null: nobody counts
    State state_ = State::open;
    bool draining_ = false;
    bool close_after_ = false;  // the request in hand is the last
    bool linger_ = false;       // the request in hand was refused before all of it was read
    Turn turn_ = Turn::to_ask;  // as the last sweep found it
    unsigned sweeps_ = 0;       // since then, or since the client last did its part
    std::size_t lingered_bytes_ = 0;
    std::unique_ptr<Session> session_;  // none before it is known what the client speaks
    std::optional<HttpError> refusal_;  // to be told, as soon as that is known
    std::string unread_;                // read from the client, but not yet looked at
    std::unique_ptr<Stream> stream_;
};

}  // namespace next_id
