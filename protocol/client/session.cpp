#include "protocol/client/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "protocol/client/uncancelled.h"
#include "protocol/window_name.h"

namespace next_id::client {
namespace {

using std::chrono::milliseconds;

// Between attempts to reach a sidecar that is not there: a restart takes some tens of milliseconds.
constexpr milliseconds pause_first{5}, pause_longest{100};

Error wrong(const std::string& what) {
    return Error{ErrorCode::invalid_argument, what};
}

// Fit for one segment of a URL.
std::string percent_encoded(const std::string& bytes) {
    constexpr char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    constexpr char hex[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte != 0 && std::strchr(unreserved, c) != nullptr)
            out += c;
        else
            out.append({'%', hex[byte >> 4], hex[byte & 15]});
    }
    return out;
}

bool can_be_a_token(const std::string& token) {
    return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

bool may_be_over_soon(int error) {
    switch (error) {
        case ENOENT:  // no socket yet, or no longer
        case ECONNREFUSED:
        case ECONNRESET:
        case ECONNABORTED:
        case EPIPE:
        case EAGAIN:  // the backlog is full
        case ETIMEDOUT:
        case EHOSTUNREACH:
        case ENETUNREACH:
            return true;
        default:
            return false;
    }
}

}  // namespace

Settings::Settings(const Options& options)
    : address{options.address}, token{options.token}, token_file{options.token_file}, timeout{options.timeout} {
    if (!token.empty() && !token_file.empty()) throw wrong("both a token and a token file are given; give one");
    if (!can_be_a_token(token)) throw wrong("the token has characters that no token has");
    if (timeout <= milliseconds{0} || timeout > std::chrono::hours{24})
        throw wrong("the timeout is " + std::to_string(timeout.count()) + " ms; give more than 0, and at most a day");
    target = "/next-id";
    if (!options.sequence.empty()) target += "/" + percent_encoded(options.sequence);
    target += "?format=ranges&count=";
    if (options.window.empty()) return;
    if (options.sequence.empty()) throw wrong("a window is to be mapped, but not of which sequence: name it");
    window_path = options.window + "/" + file_name_of_sequence(options.sequence) + window_ending;
}

std::vector<IdRange> Session::take(std::size_t n, Instant deadline) {
    const Uncancelled meanwhile;
    milliseconds pause = pause_first;
    for (bool ahead = std::exchange(asked_ahead_, false);; ahead = false) {
        milliseconds wait{0};
        std::optional<Error> error;
        switch (!ahead && !ask(n) ? Exchange::State::idle : exchange_.wait(deadline)) {
            case Exchange::State::idle:
                error = error_of_token_file();
                break;
            case Exchange::State::answered:
                if (exchange_.answer().status == 200) {
                    if (auto ranges = read_ranges(exchange_.answer().body, n)) return std::move(*ranges);
                    throw error_of_answer();
                }
                if (ahead) continue;  // it may be of long ago
                if (exchange_.answer().status == 401 && !settings_.token_file.empty()) {
                    auto other = token_in_file();
                    if (std::exchange(token_, std::move(other)) != token_) continue;
                }
                error = error_of_answer();
                if (error->code() != ErrorCode::no_ids && error->code() != ErrorCode::too_many_requests) throw *error;
                wait = error->retry_after();
                break;
            case Exchange::State::failed:
                if (exchange_.may_have_been_stale()) continue;
                error = error_of_connection();
                if (!may_be_over_soon(exchange_.error())) throw *error;
                break;
            default:
                throw error_of_deadline();
        }
        if (wait == milliseconds{0}) wait = std::exchange(pause, std::min(2 * pause, pause_longest));
        if (std::chrono::steady_clock::now() + wait >= deadline) throw *error;
        std::this_thread::sleep_for(wait);
    }
}

void Session::ask_ahead(std::size_t n) noexcept {
    try {
        asked_ahead_ = ask(n) && exchange_.state() != Exchange::State::failed;
    } catch (...) {  // take() meets it again, and says it
    }
}

bool Session::ask(std::size_t n) {
    if (!settings_.token_file.empty() && !token_) token_ = token_in_file();
    if (!settings_.token_file.empty() && !token_) return false;
    const std::string& token = token_ ? *token_ : settings_.token;
    std::string request = "GET " + settings_.target + std::to_string(n) + " HTTP/1.1\r\nHost: ";
    request += settings_.address.is_unix() ? "localhost" : settings_.address.text();
    if (!token.empty()) request.append("\r\nAuthorization: Bearer ").append(token);
    request += "\r\n\r\n";
    exchange_.begin(std::move(request), ranges_bytes_max(n));
    return true;
}

// Nothing while it is empty or missing, as it may be while somebody replaces it.
std::optional<std::string> Session::token_in_file() const {
    std::ifstream file{settings_.token_file};
    if (const int error = errno; !file.is_open() && error != ENOENT)
        throw Error{is_shortage(error) ? ErrorCode::system : ErrorCode::invalid_argument,
                    "cannot read the token file " + settings_.token_file + ": " + std::strerror(error)};
    std::string line;
    while (std::getline(file, line)) {
        constexpr char blank[] = " \t\r";
        line.erase(0, std::min(line.find_first_not_of(blank), line.size()));
        line.erase(line.find_last_not_of(blank) + 1);
        if (!line.empty() && line.front() != '#') break;
        line.clear();
    }
    if (!can_be_a_token(line)) throw error_of_token_file();
    return line.empty() ? std::nullopt : std::optional{line};
}

Error Session::error_of_answer() const {
    const Answer& answer = exchange_.answer();
    const std::string said = "next-id at " + settings_.address.text() + " answered " + std::to_string(answer.status) +
                             " (" + read_error(answer.body) + ")";
    switch (answer.status) {
        case 200:
            return {ErrorCode::not_understood,
                    "what came from " + settings_.address.text() +
                        " is not the IDs that were asked for; is it next-id that listens there?"};
        case 401:
            return {ErrorCode::not_allowed, said + "; give a token that is in its --token-file"};
        case 403:
            return {ErrorCode::not_allowed, said};
        case 429:
            return {ErrorCode::too_many_requests, said + "; ask less often, or raise its --rate", answer.retry_after};
        case 503:
            return {ErrorCode::no_ids, said + "; next-id status tells more", answer.retry_after};
        default:
            return {answer.status >= 500 ? ErrorCode::not_understood : ErrorCode::rejected, said};
    }
}

Error Session::error_of_connection() const {
    const std::string& where = settings_.address.text();
    switch (exchange_.error()) {
        case 0:
            return {ErrorCode::not_understood, "what came from " + where + " is not understood (" +
                                                   exchange_.problem() + "); is it next-id that listens there?"};
        case ENOENT:
            return {ErrorCode::unreachable,
                    "there is no socket " + where + ": next-id serve must be running, with the same --socket"};
        case ECONNREFUSED:
            return {ErrorCode::unreachable,
                    "nobody listens on " + where + ": next-id serve must be running, with the same address"};
        case EACCES:
        case EPERM:
            return {ErrorCode::not_allowed, "no rights to connect to " + where +
                                                ": it takes write permission on the socket (--socket-mode of next-id "
                                                "serve), and search permission on its directories"};
        default:
            if (is_shortage(exchange_.error()))
                return {ErrorCode::system, "cannot connect to " + where + ": " + std::strerror(exchange_.error())};
            return {ErrorCode::unreachable, "the connection to " + where + " failed: " +
                                                std::strerror(exchange_.error()) + "; is next-id serve running there?"};
    }
}

Error Session::error_of_deadline() const {
    const std::string within = " within " + std::to_string(settings_.timeout.count()) + " ms";
    if (exchange_.state() == Exchange::State::connecting)
        return {ErrorCode::unreachable, "no connection to " + settings_.address.text() + within};
    return {ErrorCode::timed_out,
            "no answer from next-id at " + settings_.address.text() + within + ": it is stopped, or overloaded"};
}

Error Session::error_of_token_file() const {
    return wrong("there is no token to be read in " + settings_.token_file + "; write one there, on a line of its own");
}

}  // namespace next_id::client
