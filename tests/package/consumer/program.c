/* The same in C. */
#include <next_id/next_id.h>
#include <stdio.h>

int main(int count, char** arguments) {
    char address[200];
    const char* const options[] = {address, "timeout_ms=100", NULL};
    next_id_client* client;
    int64_t id;
    int status;
    if (count != 2) return 64;
    snprintf(address, sizeof address, "address=%s", arguments[1]);
    status = next_id_client_open(options, &client);
    if (status == NEXT_ID_OK) status = next_id_client_next(client, &id);
    if (status == NEXT_ID_OK)
        printf("%lld\n", (long long)id);
    else
        printf("%s\n", next_id_error());
    next_id_client_close(client);
    return status == NEXT_ID_OK ? 0 : status == NEXT_ID_UNREACHABLE ? 3 : 1;
}
