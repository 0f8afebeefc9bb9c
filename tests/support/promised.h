// For code that holds the program to its contract, outside of a test case too: under a fuzzer, say.
#pragma once

#include <stdexcept>
#include <string>

namespace next_id::test {

// Throws when the promise is broken. The text is put together only then: this is asked of every byte.
template <class... Texts>
void promised(bool holds, const Texts&... texts) {
    if (holds) [[likely]]
        return;
    std::string promise = "broken: ";
    (promise.append(texts), ...);
    throw std::logic_error{promise};
}

}  // namespace next_id::test
