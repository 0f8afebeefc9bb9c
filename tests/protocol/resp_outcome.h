// All that the parser of RESP makes of some bytes, cut into pieces as the caller likes: for tests that hold it against
// what it makes of the same bytes in other pieces.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp_request.h"

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

// Feeds the pieces between the cuts, each in memory of just its size, which is gone when the next one comes. Throws
// when the parser does not keep to its contract.
inline RespOutcome resp_in_pieces(std::string_view bytes, const std::vector<std::size_t>& cuts,
                                  std::size_t command_bytes_max = resp_command_bytes_max_default) {
    const auto promised = [](bool holds, const char* promise) {
        if (!holds) throw std::logic_error{promise};
    };
    using Result = RespParser::Result;
    RespOutcome outcome;
    RespParser parser{command_bytes_max};
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t end = i < cuts.size() ? cuts[i] : bytes.size();
        const std::vector<char> piece(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(end));
        std::string_view rest{piece.data(), piece.size()};
        while (!rest.empty()) {
            std::size_t consumed = 0;
            const Result result = parser.parse(rest, consumed);
            promised(consumed <= rest.size(), "no more is consumed than there is");
            rest.remove_prefix(consumed);
            if (result == Result::command) {
                promised(!parser.command().empty(), "a command has a name");
                promised(parser.command().size() <= resp_arguments_max, "a command has its limit");
                outcome.commands.emplace_back(parser.command().begin(), parser.command().end());
                for (const std::string& word : outcome.commands.back())
                    outcome.details += std::to_string(word.size()) + ":" + word + " ";
                outcome.details += "ends at " + std::to_string(end - rest.size()) + "\n";
            }
            if (result == Result::need_more) promised(rest.empty(), "all is consumed when more is needed");
            if (result == Result::error) {
                promised(consumed == 0, "an error consumes nothing");
                outcome.error = parser.error();
                outcome.details += outcome.error;
                promised(parser.parse("*1\r\n$4\r\nPING\r\n", consumed) == Result::error, "an error is for good");
                promised(!parser.mid_command(), "behind an error there is no command");
                return outcome;
            }
        }
        begin = end;
    }
    outcome.unfinished = parser.mid_command();
    if (outcome.unfinished) outcome.details += "...";
    return outcome;
}

// In pieces of one byte nothing can be taken for a repetition of the last command: each is parsed.
inline RespOutcome resp_byte_by_byte(std::string_view bytes,
                                     std::size_t command_bytes_max = resp_command_bytes_max_default) {
    std::vector<std::size_t> everywhere;
    for (std::size_t i = 1; i < bytes.size(); ++i) everywhere.push_back(i);
    return resp_in_pieces(bytes, everywhere, command_bytes_max);
}

// The command on the wire.
inline std::string resp(const std::vector<std::string>& words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return bytes;
}

}  // namespace next_id
