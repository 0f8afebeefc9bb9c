// A sidecar without PostgreSQL in one thread: the real connection, handler, service and window, and in the place of the
// refill a script that is a function of the requests alone. So the same bytes get the same answers.
#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sidecar/serve/connection.h"
#include "sidecar/serve/handshake_queue.h"
#include "sidecar/serve/id_handler.h"
#include "sidecar/window/supply.h"

namespace next_id::test {

enum class Refills {
    plenty,     // the window holds more than is asked for
    scattered,  // short ranges, ascending and descending, at both ends of int64
    late,       // it is dry, and each request that waits brings some IDs
    none,       // it is dry, and whoever waits is told so
};

// What one client saw, and what it cost.
struct Exchange {
    std::string received;
    bool closed = false;              // by the server, before the client ended
    std::vector<std::int64_t> taken;  // the IDs that left the window, in their order
};

class IdServer {
 public:
    static constexpr std::uint64_t count_max = 100;  // of IDs in a request

    IdServer();
    ~IdServer();
    IdServer(const IdServer&) = delete;
    IdServer& operator=(const IdServer&) = delete;

    // A client connects, sends the pieces, each when the one before has been dealt with, and ends.
    Exchange exchange(std::span<const std::string_view> pieces, Refills refills,
                      ListenerName listener = ListenerName::http);

    const Catalog& catalog() const { return catalog_; }

 private:
    class Client;

    void empty_window();
    void refill(Refills refills);
    void publish(const Range& range);
    void settle(Client& client, Refills refills);
    std::vector<std::int64_t> ids_that_left();

    uv_loop_t loop_;
    std::string directory_;
    const Catalog catalog_{{"ids", "Other Ids"}, count_max};
    std::unique_ptr<Supply> supply_, other_;
    std::unique_ptr<IdHandler> handler_;
    std::unique_ptr<Outbox> outbox_;
    std::unique_ptr<HandshakeQueue> handshakes_;  // nobody speaks TLS here
    std::size_t own_handles_ = 0;                 // of the loop, without a connection
    std::vector<Range> published_;                // in this exchange
    unsigned refills_ = 0;                        // the same
};

}  // namespace next_id::test
