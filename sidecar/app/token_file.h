// A file of tokens, and those that are valid. On one thread.
#pragma once

#include <memory>
#include <string>

#include "sidecar/api/tokens.h"
#include "sidecar/base/expected.h"
#include "sidecar/base/watched_file.h"

namespace next_id {

class TokenFile {
 public:
    // Reads it for the first time. `flag` is what to call it: --token-file. The error is a sentence.
    static Expected<std::unique_ptr<TokenFile>> open(std::string flag, const std::string& path);

    // Looks again, and logs what has become of it. True iff there are other tokens than before: a broken file changes
    // nothing.
    bool refresh();

    const std::shared_ptr<const Tokens>& tokens() const { return tokens_; }

 private:
    TokenFile(std::string flag, const std::string& path) : flag_{std::move(flag)}, file_{path, token_file_bytes_max} {}
    Expected<Nothing> read();

    const std::string flag_;
    WatchedFile file_;
    std::shared_ptr<const Tokens> tokens_;
};

// For the commands that ask a running sidecar: the first token of the file, none (empty) without a file.
Expected<std::string> first_token(std::string flag, const std::string& path);

}  // namespace next_id
