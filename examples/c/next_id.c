/* IDs in C, with the client library of next-id. A program that takes many has a next_id_pool instead. */
#include <inttypes.h>
#include <next_id/next_id.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    const char* socket = getenv("NEXT_ID_SOCKET");
    char address[256];
    snprintf(address, sizeof address, "address=%s", socket ? socket : "/run/next-id/next-id.sock");
    const char* options[] = {address, "timeout_ms=2000", NULL};

    next_id_client* client = NULL;
    int64_t id, ids[3];
    if (next_id_client_open(options, &client) != NEXT_ID_OK || next_id_client_next(client, &id) != NEXT_ID_OK ||
        next_id_client_next_n(client, 3, ids) != NEXT_ID_OK) {
        fprintf(stderr, "no ID with %s: %s\n", address, next_id_error());
        next_id_client_close(client);
        return EXIT_FAILURE;
    }
    next_id_client_close(client);

    printf("id %" PRId64 "\n", id);
    printf("ids %" PRId64 " %" PRId64 " %" PRId64 "\n", ids[0], ids[1], ids[2]);
    return EXIT_SUCCESS;
}
