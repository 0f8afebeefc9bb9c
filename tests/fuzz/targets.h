// What is fuzzed: functions that take any bytes, and throw when a promise is broken. libFuzzer calls them (run.sh), and
// so does the suite that replays the corpora in every run.
#pragma once

#include <array>
#include <string_view>

#include "tests/support/promised.h"

namespace next_id::test {

void fuzz_http_session(std::string_view bytes);    // a digit for the state of the window, and what a client sends
void fuzz_resp_session(std::string_view bytes);    // the same, in RESP
void fuzz_request_target(std::string_view bytes);  // a target, and the value of Accept on a second line
void fuzz_settings_file(std::string_view bytes);   // the file; its first line is tried as a value as well
void fuzz_window_file(std::string_view bytes);     // a file in the window's place: see window_file.cpp
void fuzz_pg_answer(std::string_view bytes);       // columns of the reserve or the inspect statement, one a line

struct FuzzTarget {
    std::string_view name;  // also of its corpus
    void (*run)(std::string_view bytes);
};

inline constexpr std::array fuzz_targets{
    FuzzTarget{"http_session", fuzz_http_session},   FuzzTarget{"request_target", fuzz_request_target},
    FuzzTarget{"settings_file", fuzz_settings_file}, FuzzTarget{"window_file", fuzz_window_file},
    FuzzTarget{"pg_answer", fuzz_pg_answer},         FuzzTarget{"resp_session", fuzz_resp_session},
};

}  // namespace next_id::test
