#include "protocol/http_request.h"

#include <algorithm>

#include "protocol/ascii.h"

namespace next_id {

static_assert(LLHTTP_VERSION_MAJOR >= 8, "older llhttp lets smuggled requests through");

namespace {

constexpr std::size_t repeat_bytes_max = 512;  // a request that is longer is parsed anew each time

constexpr HttpError malformed{400, "this is not a well-formed HTTP/1.1 request"};
constexpr HttpError not_http{400, "the request does not begin with an HTTP method; speak plain HTTP/1.1 to this port"};
constexpr HttpError wrong_version{400,
                                  "only HTTP/1.0 and HTTP/1.1 are spoken here: METHOD SP TARGET SP HTTP/1.1 CR LF"};
constexpr HttpError after_close{
    400, "there is data after a request that said Connection: close; send it first, or not at all"};
constexpr HttpError line_end{400,
                             "a line of the head is folded, has no name, ends without CR LF, or holds NUL or a lone "
                             "CR; send each header as Name: value CR LF"};
constexpr HttpError no_host{400, "HTTP/1.1 requires a Host header"};
constexpr HttpError bad_host{400, "the Host header is neither a name nor an address, with or without a port"};
constexpr HttpError host_twice{400, "the Host header is given twice; send it once"};
constexpr HttpError field_twice{
    400, "Origin, Sec-Fetch-Site, Authorization or X-Api-Token is given twice; send each at most once"};
constexpr HttpError bad_target{400,
                               "the target is neither a path nor an http or https URL with a host and no user name"};
constexpr HttpError connect_refused{405, "CONNECT is not supported: this is no proxy; use GET, HEAD or POST"};
constexpr HttpError body_refused{413, "a request body is not accepted; send none, parameters belong into the query"};
// fail() puts the limit in place of the #.
constexpr HttpError target_too_long{414, "the request target is longer than # bytes; shorten it"};
constexpr HttpError head_too_large{431,
                                   "request line and headers are longer than # bytes; send fewer or shorter headers"};

std::string_view trimmed(std::string_view value) {
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    return value;  // llhttp leaves out what is in front
}

// host, [address], and either with :port, where nothing could end it for someone else who reads it: no white space,
// comma, slash, user name. Empty is well: so Host is sent for a target without an authority (RFC 9112, 3.2).
bool is_host_and_port(std::string_view text) {
    static constexpr auto allowed = [] {
        std::array<bool, 256> table{};
        for (const char c : std::string_view{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:_[]~%"})
            table[static_cast<unsigned char>(c)] = true;
        return table;
    }();
    if (!std::ranges::all_of(text, [](char c) { return allowed[static_cast<unsigned char>(c)]; })) return false;
    std::size_t host_bytes = 0;
    if (text.starts_with('[')) {
        host_bytes = text.find(']') + 1;  // 0: there is none
    } else {
        host_bytes = std::min(text.find_first_of(":[]"), text.size());
    }
    const std::string_view rest = text.substr(host_bytes);
    if (rest.empty()) return true;
    return host_bytes != 0 && rest.front() == ':' &&
           std::ranges::all_of(rest.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

// True iff each CR and LF is half of a CR LF, no line begins with white space or a colon, and no byte is NUL. llhttp 8
// lets folded lines, bare LFs and headers without a name through, and a proxy in front of us may read those otherwise
// than we do. By searches, which skip many bytes at a time.
bool lines_are_clean(std::string_view head) {
    if (head.find('\0') != head.npos) return false;
    for (;;) {
        const std::size_t end = head.find('\r');
        if (head.substr(0, end).find('\n') != head.npos) return false;
        if (end == head.npos) return true;
        head.remove_prefix(end + 1);
        if (!head.starts_with('\n')) return false;
        head.remove_prefix(1);
        if (head.starts_with(' ') || head.starts_with('\t') || head.starts_with(':')) return false;
    }
}

// Where the target begins and ends in the bytes read so far. Needed when llhttp did not get as far as to tell.
std::string_view target_so_far(std::string_view head) {
    head.remove_prefix(std::min(head.find_first_not_of("\r\n"), head.size()));
    head.remove_prefix(std::min(head.find(' '), head.size()));
    head.remove_prefix(std::min(head.find_first_not_of(' '), head.size()));
    return head.substr(0, head.find_first_of(" \r\n"));
}

// Why llhttp stopped behind `read`.
const HttpError& broken(llhttp_errno_t reason, std::string_view read, std::size_t target_bytes_max) {
    // llhttp reports no part of a target in which it finds a wrong byte. In pieces it would have been too long already.
    if (reason == HPE_USER || target_so_far(read).size() > target_bytes_max) return target_too_long;
    switch (reason) {
        case HPE_INVALID_METHOD:
            return not_http;
        case HPE_CLOSED_CONNECTION:
            return after_close;
        case HPE_PAUSED_H2_UPGRADE:
        case HPE_INVALID_VERSION:
            return wrong_version;
        default:
            return malformed;
    }
}

// The head does not end within its limit.
const HttpError& too_large(std::string_view read) {
    read.remove_prefix(std::min(read.find_first_not_of("\r\n"), read.size()));
    return read.find('\n') == read.npos ? target_too_long : head_too_large;
}

HttpRequest::Method method_of(std::uint8_t method) {
    switch (method) {
        case HTTP_GET:
            return HttpRequest::Method::get;
        case HTTP_HEAD:
            return HttpRequest::Method::head;
        case HTTP_POST:
            return HttpRequest::Method::post;
        default:
            return HttpRequest::Method::other;
    }
}

}  // namespace

// Spans arrive in pieces that touch each other; a piece that does not touch what came before begins something new.
struct HttpParser::Callbacks {
    static HttpParser& parser(llhttp_t* llhttp) { return *static_cast<HttpParser*>(llhttp->data); }

    static bool extends(Span& span, const HttpParser& parser, const char* at, std::size_t length) {
        const auto begin = static_cast<std::uint32_t>(at - parser.start_);
        const bool touches = span.end != 0 && span.end == begin;
        if (!touches) span.begin = begin;
        span.end = begin + static_cast<std::uint32_t>(length);
        return touches;
    }

    static Field field_named(std::string_view name) {
        switch (name.size()) {
            case 4:
                return equals_ignoring_case(name, "host") ? Field::host : Field::ignored;
            case 6:
                if (equals_ignoring_case(name, "accept")) return Field::accept;
                return equals_ignoring_case(name, "origin") ? Field::origin : Field::ignored;
            case 11:
                return equals_ignoring_case(name, "x-api-token") ? Field::api_token : Field::ignored;
            case 13:
                return equals_ignoring_case(name, "authorization") ? Field::authorization : Field::ignored;
            case 14:
                return equals_ignoring_case(name, "sec-fetch-site") ? Field::sec_fetch_site : Field::ignored;
            case 17:
                return equals_ignoring_case(name, "transfer-encoding") ? Field::transfer_encoding : Field::ignored;
            default:
                return Field::ignored;
        }
    }

    static int on_url(llhttp_t* llhttp, const char* at, std::size_t length) {
        HttpParser& self = parser(llhttp);
        extends(self.target_, self, at, length);
        return self.target_.end - self.target_.begin > self.target_bytes_max() ? HPE_USER : HPE_OK;
    }

    static int on_header_field(llhttp_t* llhttp, const char* at, std::size_t length) {
        HttpParser& self = parser(llhttp);
        if (!extends(self.name_, self, at, length)) self.value_ = {};
        return HPE_OK;
    }

    static int on_header_value(llhttp_t* llhttp, const char* at, std::size_t length) {
        HttpParser& self = parser(llhttp);
        const bool first_piece = self.value_.end == 0;
        extends(self.value_, self, at, length);
        if (first_piece) {
            self.field_ = field_named(self.text(self.name_));
            const unsigned bit = 1U << static_cast<unsigned>(self.field_);
            self.repeated_ |= self.seen_ & bit;
            self.seen_ |= bit;
        }
        const auto index = static_cast<std::size_t>(self.field_);
        if (index < fields && (self.repeated_ >> index & 1U) == 0) self.values_[index] = self.value_;
        return HPE_OK;
    }

    // Stops in front of a body: it is refused, but what else is wrong is for finish_request() to say.
    static int on_headers_complete(llhttp_t* llhttp) {
        HttpParser& self = parser(llhttp);
        if (llhttp->flags & F_CONNECTION_CLOSE) llhttp->flags &= static_cast<std::uint16_t>(~F_CONNECTION_KEEP_ALIVE);
        self.keep_alive_ = llhttp_should_keep_alive(llhttp) != 0;
        llhttp->upgrade = 0;  // or llhttp stops behind a request with Upgrade: h2c, and its connection hangs
        self.has_body_ = llhttp->content_length != 0 || (llhttp->flags & (F_CHUNKED | F_TRANSFER_ENCODING)) != 0 ||
                         self.seen(Field::transfer_encoding);  // llhttp overlooks an empty one
        return self.has_body_ ? HPE_PAUSED : HPE_OK;
    }

    static int on_message_complete(llhttp_t*) { return HPE_PAUSED; }

    static const llhttp_settings_t* settings() {
        static const llhttp_settings_t settings = [] {
            llhttp_settings_t s;
            llhttp_settings_init(&s);
            s.on_url = on_url;
            s.on_header_field = on_header_field;
            s.on_header_value = on_header_value;
            s.on_headers_complete = on_headers_complete;
            s.on_message_complete = on_message_complete;
            return s;
        }();
        return &settings;
    }
};

HttpParser::HttpParser(std::size_t head_bytes_max) : head_bytes_max_{head_bytes_max} {
    llhttp_init(&llhttp_, HTTP_REQUEST, Callbacks::settings());
    llhttp_.data = this;
}

HttpParser::Result HttpParser::parse(std::string_view bytes, std::size_t& consumed) {
    consumed = 0;
    if (state_ == State::failed) return Result::error;
    if (bytes.empty()) return Result::need_more;
    if (state_ == State::complete) {
        if (repeats_the_last(bytes)) {
            consumed = held_.size();
            return Result::request;
        }
        begin_request();
    }

    const std::size_t before = held_.size();
    bytes = bytes.substr(0, head_bytes_max_ - before);
    if (before != 0) held_.append(bytes);
    start_ = before != 0 ? held_.data() : bytes.data();

    const llhttp_errno_t reason = llhttp_execute(&llhttp_, start_ + before, bytes.size());
    if (reason == HPE_PAUSED) {
        const auto head_bytes = static_cast<std::size_t>(llhttp_get_error_pos(&llhttp_) - start_);
        const Result result = finish_request(head_bytes);
        if (result == Result::request) consumed = head_bytes - before;
        return result;
    }
    const std::string_view read{start_, before + bytes.size()};
    if (reason != HPE_OK) {
        const auto good_bytes = static_cast<std::size_t>(llhttp_get_error_pos(&llhttp_) - start_);
        return fail(broken(reason, read.substr(0, good_bytes), target_bytes_max()));
    }
    if (read.size() == head_bytes_max_) return fail(too_large(read));
    if (before == 0) held_.assign(bytes);
    consumed = bytes.size();
    return Result::need_more;
}

// Nearly every client sends the same bytes again and again over its connection; they mean the same again.
bool HttpParser::repeats_the_last(std::string_view bytes) const {
    return request_.keep_alive && !held_.empty() && bytes.starts_with(held_);
}

bool HttpParser::mid_request() const {
    return state_ == State::reading && held_.find_first_not_of("\r\n") != std::string::npos;
}

void HttpParser::begin_request() {
    state_ = State::reading;
    held_.clear();
    target_ = name_ = value_ = {};
    values_ = {};
    seen_ = repeated_ = 0;
}

HttpParser::Result HttpParser::finish_request(std::size_t head_bytes) {
    if (const HttpError* wrong = wrong_in_head({start_, head_bytes})) return fail(*wrong);
    if (start_ == held_.data()) {
        held_.resize(head_bytes);
    } else if (head_bytes <= repeat_bytes_max) {
        held_.assign(start_, head_bytes);
        start_ = held_.data();
    }
    request_.method = method_of(llhttp_.method);
    request_.http_1_0 = llhttp_.http_minor == 0;
    request_.keep_alive = keep_alive_;
    const auto value = [this](Field field) { return trimmed(text(values_[static_cast<std::size_t>(field)])); };
    request_.host = value(Field::host);
    request_.accept = value(Field::accept);
    request_.origin = value(Field::origin);
    request_.sec_fetch_site = value(Field::sec_fetch_site);
    request_.authorization = value(Field::authorization);
    request_.api_token = value(Field::api_token);
    if (!is_host_and_port(request_.host)) return fail(bad_host);
    if (const HttpError* wrong = resolve_target()) return fail(*wrong);
    llhttp_resume(&llhttp_);
    state_ = State::complete;
    return Result::request;
}

// All that is refused in a head that llhttp let through, in a fixed order; null if nothing is.
const HttpError* HttpParser::wrong_in_head(std::string_view head) const {
    if (!lines_are_clean(head)) return &line_end;

    // Read here and not from llhttp, which takes "GET /" for HTTP/0.9, RTSP/1.0 for HTTP/1.0, and any number of spaces.
    const bool one_space = target_.begin >= 2 && head[target_.begin - 1] == ' ' && head[target_.begin - 2] != ' ';
    const std::string_view version = head.substr(target_.end, 11);
    if (!one_space || (version != " HTTP/1.1\r\n" && version != " HTTP/1.0\r\n")) return &wrong_version;

    if (llhttp_.method == HTTP_CONNECT) return &connect_refused;
    if (llhttp_.http_minor == 1 && !seen(Field::host)) return &no_host;
    // A second Accept is the same list continued, and harmless to overlook. Of the others each decides who may have an
    // ID: two of them, and a proxy in front of us may have looked at the other one.
    constexpr unsigned host = 1U << static_cast<unsigned>(Field::host);
    constexpr unsigned harmless = 1U << static_cast<unsigned>(Field::accept) |
                                  1U << static_cast<unsigned>(Field::transfer_encoding) |
                                  1U << static_cast<unsigned>(Field::ignored);
    if ((repeated_ & host) != 0) return &host_twice;
    if ((repeated_ & ~harmless) != 0) return &field_twice;
    if (has_body_) return &body_refused;
    return nullptr;
}

// RFC 9112, 3.2.2: a server accepts absolute targets, and believes their authority rather than Host.
const HttpError* HttpParser::resolve_target() {
    std::string_view target = text(target_);
    if (target.front() != '/' && target != "*") {
        const auto scheme_end = target.find("://");
        if (scheme_end == target.npos) return &bad_target;
        const std::string_view scheme = target.substr(0, scheme_end);
        if (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https")) return &bad_target;
        target.remove_prefix(scheme_end + 3);
        const auto authority_end = std::min(target.find_first_of("/?#"), target.size());
        request_.host = target.substr(0, authority_end);
        if (request_.host.empty() || !is_host_and_port(request_.host)) return &bad_target;
        target.remove_prefix(authority_end);
        if (target.empty() || target.front() != '/') target = "/";
    }
    request_.target = target;
    return nullptr;
}

HttpParser::Result HttpParser::fail(const HttpError& error) {
    state_ = State::failed;
    error_ = error;
    held_ = {};
    if (const std::size_t limit_at = error.sentence.find('#'); limit_at != error.sentence.npos) {
        held_ = error.sentence;
        held_.replace(limit_at, 1, std::to_string(error.status == 414 ? target_bytes_max() : head_bytes_max_));
        error_.sentence = held_;
    }
    return Result::error;
}

}  // namespace next_id
