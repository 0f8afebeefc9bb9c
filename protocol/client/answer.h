// The sidecar's answers, as the client reads them: bytes -> need more | answer | not understood, and the IDs in a body.
// Pure. Whatever comes, no ID is read that was not plainly written.
#pragma once

#include <next_id/client.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace next_id::client {

struct Answer {
    int status = 0;
    std::string_view body;                // into the bytes
    std::chrono::seconds retry_after{0};  // 0: not said
    bool closes = false;                  // the connection ends behind it
};

struct ReadAnswer {
    enum class Result { need_more, complete, broken } result = Result::need_more;
    Answer answer;             // of `complete`
    const char* problem = "";  // of `broken`
};

inline constexpr std::size_t head_bytes_max = 16 * 1024;

// What has come of an answer so far. More than one answer is broken: nobody asked for a second.
ReadAnswer read_answer(std::string_view bytes, std::size_t body_bytes_max);

// The ranges of {"code":0,"msg":"success","data":{"count":N,"ranges":[[first,last],...]}}, if they are well formed and
// hold exactly `count` IDs.
std::optional<std::vector<IdRange>> read_ranges(std::string_view body, std::uint64_t count);

// The most bytes that read_ranges() can need.
std::size_t ranges_bytes_max(std::uint64_t count);

// What an error says: "msg: error" of its JSON, or else the beginning of its body. Without control characters.
std::string read_error(std::string_view body);

}  // namespace next_id::client
