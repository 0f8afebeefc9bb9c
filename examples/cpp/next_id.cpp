// IDs in C++17, with the client library of next-id. A program that takes many has a next_id::IdPool instead.
#include <next_id/client.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

int main() {
    next_id::Options options;
    if (const char* socket = std::getenv("NEXT_ID_SOCKET")) options.address = socket;
    options.timeout = std::chrono::seconds{2};  // until then a sidecar that restarts is tried again

    try {
        next_id::Client client{options};
        const std::int64_t id = client.next();
        std::cout << "id " << id << '\n';
        const std::vector<std::int64_t> ids = client.next(3);
        std::cout << "ids " << ids[0] << ' ' << ids[1] << ' ' << ids[2] << '\n';
    } catch (const next_id::Error& error) {
        std::cerr << "no ID from " << options.address << ": " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
