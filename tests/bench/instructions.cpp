// Serves `REQUESTS` requests over one kept connection, by the very code that serves in the sidecar, and ends: run under
// a tool that counts instructions, twice with different numbers, the difference is what a request costs. One thread, no
// PostgreSQL, no clock: the count repeats. The same bytes each time; with "traced" a request that is parsed anew; with
// "resp" INCR instead of HTTP.
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "sidecar/serve/connection_set.h"
#include "sidecar/serve/id_handler.h"
#include "tests/bench/requests.h"

namespace next_id::bench {
namespace {

void check(bool fine, const char* what) {
    if (fine) return;
    std::fprintf(stderr, "bench_instructions: %s failed\n", what);
    std::exit(1);
}

void serve(std::size_t count, std::string_view how, const std::filesystem::path& state_dir) {
    auto window = WindowFile::open({.state_dir = state_dir, .sequence = "ids", .source_digest = "none"});
    check(window.has_value(), "making the window");
    Supply supply{"ids", std::move(*window), {.ring = [] {}, .deliver = {}}};
    check(supply.window().publish({1'000'000'000'000, 1, count}) == count, "filling the window");

    uv_loop_t loop;
    check(uv_loop_init(&loop) == 0, "uv_loop_init");
    IdHandler handler{IdService{{&supply}, {{"ids"}, count}}, 0, std::chrono::seconds{1}};
    int ends[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    {
        ConnectionSet connections{&loop, handler, &handler};
        connections.adopt({FileDescriptor{ends[1]}, {}, {.listener = ListenerName::socket}});
        const bool resp = how == "resp";
        const Requests requests = resp ? Requests::over_resp("ids", 1)
                                       : Requests::over_http({"/next-id"}, headers_of("go"), how == "traced", 1);
        const std::string_view expected = resp ? ":1" : "HTTP/1.1 200 OK";
        char answer[512];
        std::size_t at = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string_view request = requests.from(at, requests.size());
            check(::send(ends[0], request.data(), request.size(), 0) == ssize_t(request.size()), "sending");
            uv_run(&loop, UV_RUN_ONCE);
            const ssize_t size = ::recv(ends[0], answer, sizeof answer, MSG_DONTWAIT);
            check(size > 0 && std::string_view{answer, std::size_t(size)}.starts_with(expected), "an answer");
            at = requests.advanced(at, requests.size());
        }
        ::close(ends[0]);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    check(uv_loop_close(&loop) == 0, "uv_loop_close");
}

}  // namespace
}  // namespace next_id::bench

int main(int argc, char** argv) {
    std::size_t count = 0;
    const std::string how = argc == 4 ? argv[1] : "";
    if (argc == 4) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), count);
    if ((how != "repeated" && how != "traced" && how != "resp") || count == 0) {
        std::fprintf(stderr, "usage: bench_instructions repeated|traced|resp REQUESTS DIR    DIR: for the window\n");
        return 64;
    }
    next_id::bench::serve(count, how, argv[3]);
}
