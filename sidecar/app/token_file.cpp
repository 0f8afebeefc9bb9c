#include "sidecar/app/token_file.h"

#include "sidecar/base/escape.h"
#include "sidecar/base/log.h"

namespace next_id {

Expected<std::unique_ptr<TokenFile>> TokenFile::open(std::string flag, const std::string& path) {
    std::unique_ptr<TokenFile> opened{new TokenFile{std::move(flag), path}};
    opened->file_.refresh();
    if (auto read = opened->read(); !read) return Unexpected{read.error()};
    return opened;
}

Expected<Nothing> TokenFile::read() {
    if (!file_.content()) return Unexpected{flag_ + " cannot be read: " + file_.content().error()};
    auto tokens = Tokens::parse(*file_.content());
    if (!tokens) return Unexpected{flag_ + " " + escape_text(file_.path()) + ": " + tokens.error()};
    tokens_ = std::make_shared<const Tokens>(std::move(*tokens));
    return Nothing{};
}

Expected<std::string> first_token(std::string flag, const std::string& path) {
    if (path.empty()) return std::string{};
    const auto file = TokenFile::open(std::move(flag), path);
    if (!file) return Unexpected{file.error()};
    return std::string{(*file)->tokens()->first()};
}

bool TokenFile::refresh() {
    if (!file_.refresh()) return false;
    if (const auto read = this->read(); !read) {
        log::warn(read.error() + "; the tokens that were read before stay valid");
        return false;
    }
    log::info("tokens read again", {{"file", file_.path()}, {"tokens", tokens_->size()}});
    return true;
}

}  // namespace next_id
