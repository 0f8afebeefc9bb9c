// How the program ends, in the numbers of sysexits.h, so that a supervisor can tell what is worth another try.
#pragma once

namespace next_id {

enum class ExitCode : int {
    ok = 0,               // stopped as asked
    failed = 1,           // get and check: no IDs, not ready
    wrong_usage = 64,     // the command line
    system_refused = 71,  // port taken, no rights
    cannot_work = 78,     // environment, file, or settings that contradict each other
};

}  // namespace next_id
