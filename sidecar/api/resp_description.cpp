#include "sidecar/api/resp_description.h"

#include <algorithm>
#include <array>
#include <string>

#include "protocol/ascii.h"

namespace next_id {

namespace {

// Clients look at it to know what a server can do; ours, of which nothing here depends on the version, is another line.
constexpr std::string_view redis_version = "7.0.0";

void append_flags(const RespCommandRow& row, RespReply& reply) {
    reply.set(2);
    reply.simple("fast");
    reply.simple(row.takes_ids ? "write" : row.needs_auth ? "readonly" : "no_auth");
}

// As COMMAND of Redis 7 tells it: name, arity, flags, first and last key and the step between, and what we have none
// of: categories, tips, key specifications, subcommands.
void append_row(const RespCommandRow& row, RespReply& reply) {
    reply.array(10);
    reply.bulk(row.name);
    reply.integer(row.arity);
    append_flags(row, reply);
    for (int i = 0; i < 3; ++i) reply.integer(row.takes_ids ? 1 : 0);
    reply.set(0);
    for (int i = 0; i < 3; ++i) reply.array(0);
}

void append_docs(const RespCommandRow& row, RespReply& reply) {
    reply.bulk(row.name);
    reply.map(3);
    for (const auto& [field, text] : {std::pair{"summary", row.summary}, {"since", row.since}, {"group", row.group}}) {
        reply.bulk(field);
        reply.bulk(text);
    }
}

// Of all commands, or of those that are named and known.
void append_docs(RespCommand names, RespReply& reply) {
    const auto rows = resp_commands();
    if (names.empty()) {
        reply.map(rows.size());
        for (const RespCommandRow& row : rows) append_docs(row, reply);
        return;
    }
    reply.map(static_cast<std::size_t>(
        std::ranges::count_if(names, [](std::string_view name) { return find_resp_command(name) != nullptr; })));
    for (const std::string_view name : names)
        if (const RespCommandRow* const row = find_resp_command(name)) append_docs(*row, reply);
}

}  // namespace

std::string unknown_subcommand(std::string_view name, std::string_view there_are) {
    return "unknown subcommand " + quoted(name) + ": there are " + std::string{there_are};
}

void append_hello(std::uint64_t client, RespVersion version, RespReply& reply) {
    reply.map(7);
    reply.bulk("server");
    reply.bulk("next-id");
    reply.bulk("version");
    reply.bulk(NEXT_ID_VERSION);
    reply.bulk("proto");
    reply.integer(static_cast<int>(version));
    reply.bulk("id");
    reply.integer(static_cast<std::int64_t>(client));
    reply.bulk("mode");
    reply.bulk("standalone");
    reply.bulk("role");
    reply.bulk("master");
    reply.bulk("modules");
    reply.array(0);
}

void append_commands(RespCommand command, RespReply& reply) {
    const auto rows = resp_commands();
    if (command.size() == 1) {
        reply.array(rows.size());
        for (const RespCommandRow& row : rows) append_row(row, reply);
    } else if (equals_ignoring_case(command[1], "count") && command.size() == 2) {
        reply.integer(static_cast<std::int64_t>(rows.size()));
    } else if (equals_ignoring_case(command[1], "docs")) {
        append_docs(command.subspan(2), reply);
    } else {
        reply.error("ERR", unknown_subcommand(command[1], "COMMAND, COMMAND COUNT and COMMAND DOCS [name ...]"));
    }
}

void append_info(RespCommand command, const Catalog& catalog, RespReply& reply) {
    std::string sequences = "# Sequences\r\n";
    for (std::size_t i = 0; i < catalog.sequences.size(); ++i)
        sequences += "sequence" + std::to_string(i) + ":" + catalog.sequences[i] + "\r\n";
    const std::array sections{
        std::pair{"server", "# Server\r\nredis_version:" + std::string{redis_version} +
                                "\r\nredis_mode:standalone\r\nnext_id_version:" NEXT_ID_VERSION "\r\n"},
        std::pair{"persistence", std::string{"# Persistence\r\nloading:0\r\n"}},  // clients wait for it to be 0
        std::pair{"replication", std::string{"# Replication\r\nrole:master\r\n"}},
        std::pair{"sequences", sequences},
    };
    const RespCommand wanted = command.subspan(1);
    std::string text;
    for (const auto& [section, lines] : sections) {
        const auto means_it = [section = section](std::string_view name) {
            return equals_ignoring_case(name, section) || equals_ignoring_case(name, "all") ||
                   equals_ignoring_case(name, "default") || equals_ignoring_case(name, "everything");
        };
        if (wanted.empty() || std::ranges::any_of(wanted, means_it)) text += (text.empty() ? "" : "\r\n") + lines;
    }
    reply.text(text);
}

}  // namespace next_id
