// What the user gave for each setting, and where, before it means anything: the common ground of load, the file and the
// login rules.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sidecar/config/load.h"

namespace next_id {

enum class Layer { fallback, file, environment, flag };  // each beats those before it

struct Given {
    Layer layer = Layer::fallback;
    std::string place;  // --threads, NEXT_ID_THREADS, or /etc/next-id.conf:3: threads
    std::string text;
};

using GivenSettings = std::map<const Setting*, Given>;

// `PLACE is "TEXT", but takes ALLOWED`, without the text of a secret.
ConfigError wrong_value(const Setting& setting, const Given& given, const std::string& allowed);

// The settings in the file at `path`: `name = value` a line, # begins a line of comment. Refuses unknown and doubled
// names.
Expected<GivenSettings, ConfigError> read_settings_file(const std::string& path);

// Decides where the password comes from, and refuses to start when nothing says how to log in.
Expected<PgPassword, ConfigError> find_password(const Config& config, const GivenSettings& given,
                                                const Environment& environment);

// Whether libpq or a service will give what the default of `setting` would.
bool left_to_libpq(const Setting& setting, const Environment& environment);

}  // namespace next_id
