// next-id serve: the sidecar itself, from the first listener to the end of the drain.
#pragma once

#include "sidecar/config/config.h"

namespace next_id {

// Runs until told to stop. Returns the exit code, with its sentence said.
int serve(Config config);

}  // namespace next_id
