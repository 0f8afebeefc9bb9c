// The whole of a small file whose content comes from somebody else: a password, tokens, a certificate. Any thread.
#pragma once

#include <cstddef>
#include <string>

#include "sidecar/base/expected.h"

namespace next_id {

// The error is a sentence that begins with the path. Waits for nobody, as it would for the other end of a pipe: what is
// no regular file is refused, and so is one of more than `bytes_max`.
Expected<std::string> read_regular_file(const std::string& path, std::size_t bytes_max);

}  // namespace next_id
