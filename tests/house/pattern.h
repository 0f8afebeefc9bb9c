// An extended regular expression, as in grep -E. The C library's, since std::regex takes seconds to compile and GCC 12
// warns about it under sanitizers.
#pragma once

#include <regex.h>

#include <string>

#include "sidecar/base/require.h"

namespace next_id {

class Pattern {
 public:
    explicit Pattern(const std::string& expression) {
        require(regcomp(&compiled_, expression.c_str(), REG_EXTENDED | REG_NOSUB) == 0);
    }
    ~Pattern() { regfree(&compiled_); }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    bool found_in(const std::string& text) const { return regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0; }

 private:
    regex_t compiled_;
};

}  // namespace next_id
