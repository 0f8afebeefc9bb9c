#include "sidecar/serve/tls_server.h"

#include <sys/stat.h>

#include <utility>

#include "sidecar/base/log.h"

namespace next_id {

namespace {

constexpr std::size_t file_bytes_max = 1024 * 1024;  // every authority that browsers know is a quarter of it
// A context makes up the keys of its tickets, which should not be in use for ever; and once a day is often enough to
// hear that a certificate will expire.
constexpr Duration context_age_max = std::chrono::hours{24};

void warn_if_others_can_read(const std::string& key_path) {
    struct stat found {};
    if (stat(key_path.c_str(), &found) == 0 && (found.st_mode & S_IROTH) != 0)
        log::warn(
            "every user of the machine can read the private key: chmod o-r FILE, or a stricter defaultMode of "
            "the Kubernetes volume",
            {{"file", key_path}});
}

}  // namespace

TlsServer::TlsServer(const Paths& paths)
    : certificates_{paths.certificates, file_bytes_max}, key_{paths.key, file_bytes_max} {
    if (!paths.client_cas.empty()) client_cas_.emplace(paths.client_cas, file_bytes_max);
}

Expected<std::unique_ptr<TlsServer>> TlsServer::open(const Paths& paths) {
    std::unique_ptr<TlsServer> server{new TlsServer{paths}};
    server->look();
    auto context = server->make_context();
    if (!context) return Unexpected{context.error()};
    warn_if_others_can_read(paths.key);
    server->use(std::move(*context), Clock::now());
    return server;
}

void TlsServer::refresh(Instant now) {
    if (look()) {
        changed_ = true;  // perhaps one file of two that are being replaced: acted upon when nothing changes any more
        return;
    }
    if (!std::exchange(changed_, false) && now < renew_at_) return;
    renew_at_ = now + context_age_max;
    auto context = make_context();
    if (context) return use(std::move(*context), now);
    log::warn("the TLS files have changed and cannot be used; the old certificate stays in use: " + context.error(),
              {{"subject", context_->subject()}, {"valid_until", utc(context_->valid_until())}});
}

std::shared_ptr<const TlsContext> TlsServer::context() const {
    const std::scoped_lock lock{mutex_};
    return context_;
}

// True iff a file has changed. All are looked at, for they belong together.
bool TlsServer::look() {
    bool changed = certificates_.refresh();
    changed |= key_.refresh();
    if (client_cas_) changed |= client_cas_->refresh();
    return changed;
}

Expected<TlsContext> TlsServer::make_context() const {
    for (const WatchedFile* file : {&certificates_, &key_, client_cas_ ? &*client_cas_ : &key_})
        if (!file->content()) return Unexpected{file->content().error()};
    const auto pem = [](const WatchedFile& file) { return PemFile{file.path(), *file.content()}; };
    return TlsContext::make(pem(certificates_), pem(key_),
                            client_cas_ ? std::optional{pem(*client_cas_)} : std::nullopt);
}

void TlsServer::use(TlsContext context, Instant now) {
    renew_at_ = now + context_age_max;
    const std::string trouble =
        context.time_trouble(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
    log::write(
        trouble.empty() ? log::Level::info : log::Level::warn,
        trouble.empty() ? "TLS certificate in use" : "the TLS certificate " + trouble,
        {{"file", certificates_.path()}, {"subject", context.subject()}, {"valid_until", utc(context.valid_until())}});
    auto made = std::make_shared<const TlsContext>(std::move(context));
    const std::scoped_lock lock{mutex_};
    context_ = std::move(made);
}

}  // namespace next_id
