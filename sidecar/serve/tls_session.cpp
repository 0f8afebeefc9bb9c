#include "sidecar/serve/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>

#include "sidecar/base/require.h"

namespace next_id {

namespace {

constexpr char handshake_record = 0x16;  // the first byte of TLS
constexpr std::size_t record_bytes_max = 16 * 1024;

}  // namespace

// OpenSSL's view of a Wire. Its own memory BIO would copy everything once more, and keep its largest size for as long
// as the connection lasts.
struct WireMethod {
    using Wire = TlsSession::Wire;

    static Wire& wire(BIO* bio) { return *static_cast<Wire*>(BIO_get_data(bio)); }

    static int read(BIO* bio, char* bytes, int size) {
        std::string_view& in = wire(bio).in;
        BIO_clear_retry_flags(bio);
        if (in.empty()) {
            BIO_set_retry_read(bio);
            return -1;
        }
        const std::size_t taken = in.copy(bytes, static_cast<std::size_t>(size));
        in.remove_prefix(taken);
        return static_cast<int>(taken);
    }

    static int write(BIO* bio, const char* bytes, int size) {
        std::string* const out = wire(bio).out;
        require(out != nullptr);
        out->append(bytes, static_cast<std::size_t>(size));
        return size;
    }

    static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

    static BIO_METHOD* get() {
        static BIO_METHOD* const method = [] {
            BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
            require(made != nullptr);
            BIO_meth_set_read(made, read);
            BIO_meth_set_write(made, write);
            BIO_meth_set_ctrl(made, control);
            return made;
        }();
        return method;
    }
};

void TlsSession::Free::operator()(ssl_st* session) const noexcept {
    SSL_free(session);
}

TlsSession::TlsSession(const TlsContext& context) : session_{SSL_new(context.get())} {
    BIO* const bio = BIO_new(WireMethod::get());
    require(session_ != nullptr && bio != nullptr);
    BIO_set_data(bio, &wire_);
    BIO_set_init(bio, 1);
    SSL_set_bio(session_.get(), bio, bio);
    SSL_set_accept_state(session_.get());
}

TlsSession::~TlsSession() = default;

TlsSession::State TlsSession::receive(std::string_view bytes, std::string& plain, std::string& out) {
    if (bytes.empty() || (state_ != State::handshaking && state_ != State::open)) return state_;
    if (!std::exchange(begun_, true) && bytes.front() != handshake_record) {
        error_ = "it begins with something else than TLS";
        return state_ = State::not_tls;
    }
    wire_ = {bytes, &out};
    ERR_clear_error();
    char record[record_bytes_max];
    int size;
    while ((size = SSL_read(session_.get(), record, sizeof record)) > 0)
        plain.append(record, static_cast<std::size_t>(size));
    // After the handshake, too, there are messages of its kind. OpenSSL writes nothing before it has read one to its
    // end, and only who means harm sends it in pieces.
    const int outcome = SSL_get_error(session_.get(), size);
    const bool may_write = SSL_is_init_finished(session_.get()) == 1;
    if (outcome == SSL_ERROR_WANT_READ && may_write)
        state_ = State::open;
    else if (outcome == SSL_ERROR_ZERO_RETURN && may_write)
        state_ = State::ended;
    else if (outcome != SSL_ERROR_WANT_READ || state_ != State::handshaking)
        fail();
    wire_ = {};
    return state_;
}

void TlsSession::write(std::string_view plain, std::string& out) {
    if (plain.empty() || (state_ != State::open && state_ != State::ended)) return;
    wire_ = {{}, &out};
    ERR_clear_error();
    std::size_t written = 0;
    const int done = SSL_write_ex(session_.get(), plain.data(), plain.size(), &written);
    require(done == 1 && written == plain.size());  // the wire takes all, and what the peer does receive() tells
    wire_ = {};
}

void TlsSession::close(std::string& out) {
    if (state_ != State::open && state_ != State::ended) return;
    if ((SSL_get_shutdown(session_.get()) & SSL_SENT_SHUTDOWN) != 0) return;
    wire_ = {{}, &out};
    ERR_clear_error();
    SSL_shutdown(session_.get());
    wire_ = {};
}

void TlsSession::fail() {
    const char* const reason = ERR_reason_error_string(ERR_peek_error());
    error_ = reason != nullptr ? reason : "unknown";
    ERR_clear_error();
    state_ = State::failed;
}

}  // namespace next_id
