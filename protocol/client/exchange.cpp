#include "protocol/client/exchange.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "protocol/client/uncancelled.h"

namespace next_id::client {
namespace {

int remaining_ms(Instant deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return int(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

std::pair<dev_t, ino_t> identity_of(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 ? std::pair{status.st_dev, status.st_ino} : std::pair<dev_t, ino_t>{};
}

}  // namespace

void Exchange::begin(std::string request, std::size_t body_bytes_max) {
    if (state_ != State::idle && state_ != State::answered) disconnect();
    request_ = std::move(request);
    sent_ = 0;
    received_.clear();
    body_bytes_max_ = body_bytes_max;
    kept_ = socket_ >= 0 && is_still_good();
    if (kept_) {
        state_ = State::sending;
    } else {
        disconnect();
        connect();
    }
    advance();
}

// Neither closed by the other side, nor with bytes that nobody asked for.
bool Exchange::is_still_good() const {
    char byte;
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void Exchange::connect() {
    socket_ = ::socket(address_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return fail(errno);
    identity_ = identity_of(socket_);
    if (::connect(socket_, address_.get(), address_.size()) == 0)
        state_ = State::sending;
    else if (errno == EINPROGRESS || errno == EINTR)
        state_ = State::connecting;
    else
        fail(errno);  // EAGAIN: the backlog of the Unix socket is full
}

Exchange::State Exchange::advance() {
    if (state_ == State::connecting) {
        pollfd writable{socket_, POLLOUT, 0};
        if (::poll(&writable, 1, 0) != 1) return state_;
        int outcome = 0;
        socklen_t size = sizeof outcome;
        if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &outcome, &size) != 0) outcome = errno;
        if (outcome == 0)
            state_ = State::sending;
        else
            fail(outcome);
    }
    if (state_ == State::sending) send();
    if (state_ == State::receiving) receive();
    return state_;
}

Exchange::State Exchange::wait(Instant deadline) {
    while (advance() == State::connecting || state_ == State::sending || state_ == State::receiving) {
        pollfd ready{socket_, short(state_ == State::receiving ? POLLIN : POLLOUT), 0};
        const int timeout_ms = remaining_ms(deadline);
        if (timeout_ms == 0) break;
        if (::poll(&ready, 1, timeout_ms) < 0 && errno != EINTR) fail(errno);
    }
    return state_;
}

void Exchange::send() {
    while (sent_ < request_.size()) {
        const ssize_t n = ::send(socket_, request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) break;  // it may have said why before it closed
        if (n < 0) return fail(errno);
        sent_ += std::size_t(n);
    }
    state_ = State::receiving;
}

void Exchange::receive() {
    char chunk[16384];
    for (;;) {
        const ssize_t n = ::recv(socket_, chunk, sizeof chunk, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0) return fail(errno);
        if (n == 0) return fail(ECONNRESET);
        received_.append(chunk, std::size_t(n));
        const ReadAnswer read = read_answer(received_, body_bytes_max_);
        if (read.result == ReadAnswer::Result::broken) return fail(0, read.problem);
        if (read.result == ReadAnswer::Result::need_more) continue;
        answer_ = read.answer;
        if (answer_.closes) disconnect();
        state_ = State::answered;
        return;
    }
}

void Exchange::fail(int error, const char* problem) {
    disconnect();
    state_ = State::failed;
    error_ = error;
    problem_ = problem;
}

void Exchange::disconnect() {
    state_ = State::idle;
    const Uncancelled meanwhile;
    const int socket = socket_.exchange(-1);
    if (socket < 0) return;
    ::shutdown(socket, SHUT_RDWR);  // a child may have it open still
    ::close(socket);
}

// The child may have closed it already, and opened something else that got its number.
void Exchange::abandon() {
    const Uncancelled meanwhile;
    if (socket_ >= 0 && identity_of(socket_) == identity_) ::close(socket_);
}

}  // namespace next_id::client
