// Tells systemd, or whatever set NOTIFY_SOCKET, how the service is doing (sd_notify(3)).
#pragma once

#include <string_view>

namespace next_id {

// `state`: READY=1, STOPPING=1. Nobody to tell is no error; nor is one who does not listen.
void tell_service_manager(std::string_view state);

}  // namespace next_id
