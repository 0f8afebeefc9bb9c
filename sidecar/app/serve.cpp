// To be replaced: a stand-in so that the command line can be built and tested.
#include "sidecar/app/serve.h"

#include <cstdio>

#include "sidecar/base/exit_code.h"

namespace next_id {

int serve(const Config&) {
    std::fputs("next-id: serve is not built yet\n", stderr);
    return int(ExitCode::system_refused);
}

}  // namespace next_id
