// A directory with an authority's certificate, a server's certificate and its key, and a TlsServer that has them.
#pragma once

#include <memory>

#include "sidecar/serve/tls_server.h"
#include "tests/serve/tls_fixture.h"
#include "tests/support/temp_dir.h"

namespace next_id {

struct TlsFiles {
    TlsFiles() {
        dir.write("ca.pem", test_authority().pem());
        write(test_certificate());
    }
    void write(const test::Certificate& certificate) {
        dir.write("cert.pem", certificate.pem());
        dir.write("key.pem", certificate.key_pem());
    }

    TempDir dir;
    const TlsServer::Paths paths{dir.path / "cert.pem", dir.path / "key.pem", ""};
};

}  // namespace next_id
