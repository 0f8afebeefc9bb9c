// What Client and IdPool share: IDs from the sidecar until a deadline, through restarts, empty windows and replaced
// tokens. One thread at a time; belongs to one process.
#pragma once

#include <next_id/client.h>

#include <optional>
#include <string>
#include <vector>

#include "protocol/client/address.h"
#include "protocol/client/exchange.h"

namespace next_id::client {

// The user's options, checked once; read-only, so that parent and children can share it.
class Settings {
 public:
    // Throws an Error (invalid_argument).
    explicit Settings(const Options& options);

    Address address;
    std::string target;  // the path of a request, up to the count
    std::string token, token_file;
    std::string window_path;  // empty: none is mapped
    std::chrono::milliseconds timeout;
};

class Session {
 public:
    // `settings` must outlive it.
    explicit Session(const Settings& settings) : settings_{settings}, exchange_{settings.address} {}

    // Exactly n IDs. Throws an Error.
    std::vector<IdRange> take(std::size_t n, Instant deadline);

    // Asks for n IDs that the next take() brings, which must ask for as many. Neither waits nor throws; what does not
    // work now, take() does.
    void ask_ahead(std::size_t n) noexcept;
    bool asked_ahead() const { return asked_ahead_; }

    void abandon() { exchange_.abandon(); }

 private:
    bool ask(std::size_t n);  // false: there is no token to ask with
    std::optional<std::string> token_in_file() const;
    Error error_of_answer() const;
    Error error_of_connection() const;
    Error error_of_deadline() const;
    Error error_of_token_file() const;

    const Settings& settings_;
    Exchange exchange_;
    std::optional<std::string> token_;  // nothing: not read yet
    bool asked_ahead_ = false;
};

}  // namespace next_id::client
