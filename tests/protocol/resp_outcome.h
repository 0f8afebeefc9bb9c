// All that the parser of RESP makes of some bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp_request.h"
#include "tests/protocol/in_pieces.h"

namespace next_id {

struct RespOutcome {
    std::vector<std::vector<std::string>> commands;
    std::string error;        // that ended it
    bool unfinished = false;  // more is awaited
    std::string details;      // all that the parser said

    // "PING|ECHO hi|...": the commands, then the error, or "..." if more is awaited.
    std::string short_form() const {
        std::string text;
        const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "|") + part; };
        for (const auto& command : commands) {
            std::string words;
            for (const std::string& word : command) words += (words.empty() ? "" : " ") + word;
            add(words);
        }
        if (!error.empty()) add(error);
        if (unfinished) add("...");
        return text;
    }
};

inline RespOutcome resp_in_pieces(std::string_view bytes, const std::vector<std::size_t>& cuts,
                                  std::size_t command_bytes_max = resp_command_bytes_max_default) {
    using Result = RespParser::Result;
    RespOutcome outcome;
    RespParser parser{command_bytes_max};
    parse_pieces(parser, bytes, cuts, [&](Result result, std::size_t consumed, std::size_t at) {
        if (result == Result::command) {
            promised(!parser.command().empty(), "a command has a name");
            promised(parser.command().size() <= resp_arguments_max, "a command has its limit");
            outcome.commands.emplace_back(parser.command().begin(), parser.command().end());
            for (const std::string& word : outcome.commands.back())
                outcome.details += std::to_string(word.size()) + ":" + word + " ";
            outcome.details += "ends at " + std::to_string(at) + "\n";
        }
        if (result != Result::error) return true;
        promised(consumed == 0, "an error consumes nothing");
        outcome.error = parser.error();
        outcome.details += outcome.error;
        promised(parser.parse("*1\r\n$4\r\nPING\r\n", consumed) == Result::error, "an error is for good");
        promised(!parser.mid_command(), "behind an error there is no command");
        return false;
    });
    outcome.unfinished = parser.mid_command();
    if (outcome.unfinished) outcome.details += "...";
    return outcome;
}

inline RespOutcome resp_byte_by_byte(std::string_view bytes,
                                     std::size_t command_bytes_max = resp_command_bytes_max_default) {
    return resp_in_pieces(bytes, cut_everywhere(bytes), command_bytes_max);
}

// The command on the wire.
inline std::string resp(const std::vector<std::string>& words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return bytes;
}

}  // namespace next_id
