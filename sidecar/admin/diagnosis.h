// What an operator wants to know first: is it well, and what is to be done? Pure: values in, sentences out. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "protocol/status_report.h"

namespace next_id {

// What to do about an error of PostgreSQL's, libpq's or our own, told by its words; empty when nobody has to do
// anything, or the error says it itself. A server that does not speak English is not understood.
std::string_view advice_for(std::string_view error);

// Sets health and summary by the rest of the report.
void judge(StatusReport& report);

}  // namespace next_id
