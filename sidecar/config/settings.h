// The one table of settings: the command line, the environment, the file, `--help` and the README's table all come from
// it or are checked against it. A new setting is a new row here and a line in the README. Pure, read-only, any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sidecar/base/expected.h"
#include "sidecar/config/config.h"

namespace next_id {

enum class Command { serve, get, check, status };

// What is special about a setting.
struct SettingTraits {
    bool secret = false;  // no flag (everyone can read a command line), and never in an error
    bool may_be_empty = false;
    std::string_view alone = {};           // what the flag means without a value
    std::string_view libpq_variable = {};  // libpq's own: the default gives way to it
    bool for_get = false;                  // all are for serve
    bool for_check = false;                // and status
};

struct Setting {
    std::string_view name;         // in the file; the flag is the same with two dashes before it
    std::string_view environment;  // the variable
    const char* fallback;          // the default, as a user would write it; null: none
    std::string_view value;        // what stands for the value in --help
    std::string_view help;
    Expected<Nothing> (*store)(std::string_view text, Config& config);  // or what is allowed
    SettingTraits traits = {};

    bool is_for(Command command) const {
        return command == Command::serve || (command == Command::get && traits.for_get) ||
               ((command == Command::check || command == Command::status) && traits.for_check);
    }
    std::string flag() const { return std::string{"--"}.append(name); }
};

std::span<const Setting> settings();
const Setting* find_setting(std::string_view name);

}  // namespace next_id
