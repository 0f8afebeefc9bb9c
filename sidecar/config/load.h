// From what the user gave to a Config: flags beat the environment, the environment beats the file, the file beats the
// default. The environment comes in as a function, so that tests have their own; only the files that settings name are
// read. Called once, at start.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sidecar/base/exit_code.h"
#include "sidecar/base/expected.h"
#include "sidecar/config/config.h"
#include "sidecar/config/settings.h"

namespace next_id {

// One sentence for stderr. It names the setting as the user gave it, what it is, and what is allowed; never a secret.
struct ConfigError {
    ExitCode exit_code;
    std::string sentence;
};

using Flags = std::map<std::string, std::string, std::less<>>;            // a setting's name -> its text
using Environment = std::function<const char*(const std::string& name)>;  // null: not set

Environment process_environment();

// Reads, stores and checks the settings that `command` takes; the others are left empty, and may be wrong. For get,
// exactly one of socket_path and http is there: the way to go.
Expected<Config, ConfigError> load_config(Command command, const Flags& flags, const Environment& environment);

// Of variables written NAME=value, up to a null pointer: the names that begin with NEXT_ID_ and are no setting's, but
// for those that Kubernetes makes for a service called next-id.
std::vector<std::string> unknown_variables(const char* const* environment);

// The defaults and no password, as serve would have them in an empty environment. For tests.
Config default_config();

}  // namespace next_id
