// What a client of Redis may ask about the server itself: HELLO's reply, COMMAND and INFO. Pure.
#pragma once

#include "protocol/resp_reply.h"
#include "protocol/resp_request.h"
#include "sidecar/api/id_request.h"
#include "sidecar/api/resp_commands.h"

namespace next_id {

// `command` is the whole command, with its name.
void append_hello(std::uint64_t client, RespVersion version, RespReply& reply);
void append_commands(RespCommand command, RespReply& reply);
void append_info(RespCommand command, const Catalog& catalog, RespReply& reply);

// "unknown subcommand 'x': there are ..."
std::string unknown_subcommand(std::string_view name, std::string_view there_are);

}  // namespace next_id
