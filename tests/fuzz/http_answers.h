// Reads what a server sent, and believes nothing: whatever is not an answer of ours, whole and well-formed, throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace next_id::test {

struct HttpAnswer {
    int status = 0;
    bool closes = false;            // it says so
    std::vector<std::int64_t> ids;  // in it, whatever its format
};

// `is_head(i)`: whether answer i, counted from 0, is one to HEAD.
template <class IsHead>
std::vector<HttpAnswer> read_answers(std::string_view bytes, IsHead is_head);

// Takes one answer from the front of `bytes`.
HttpAnswer read_answer(std::string_view& bytes, bool to_head);

template <class IsHead>
std::vector<HttpAnswer> read_answers(std::string_view bytes, IsHead is_head) {
    std::vector<HttpAnswer> answers;
    while (!bytes.empty()) answers.push_back(read_answer(bytes, is_head(answers.size())));
    return answers;
}

}  // namespace next_id::test
