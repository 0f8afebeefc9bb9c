// Takes an ID from the sidecar whose address is the argument; what goes wrong it catches by its type, across the library.
#include <next_id/id_pool.h>

#include <iostream>

static_assert(__cplusplus == 201703L, "it has to do with C++17");

int main(int, char** arguments) {
    next_id::Options options;
    options.address = arguments[1];
    options.timeout = std::chrono::milliseconds{100};
    try {
        next_id::IdPool pool{options};
        std::cout << next_id::Client{options}.next() << ' ' << pool.next() << '\n';
        return 0;
    } catch (const next_id::Error& error) {
        std::cout << error.what() << '\n';
        return error.code() == next_id::ErrorCode::unreachable ? 3 : 1;
    }
}
