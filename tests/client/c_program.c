/* Uses the whole C interface as a C program would, against the sidecar whose socket is the first argument, and prints what
 * it got: one ID, three IDs, IDs of a pool in a parent and its child, and what errors say. The suite client_e2etests
 * reads that. */
#define _GNU_SOURCE
#include <link.h>
#include <next_id/next_id.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(int is, int wanted, const char* what) {
    if (is == wanted) return;
    fprintf(stderr, "%s: %d, not %d: %s\n", what, is, wanted, next_id_error());
    exit(1);
}

static void print_from(next_id_pool* pool, const char* who, int n) {
    for (int i = 0; i < n; ++i) {
        int64_t id;
        expect(next_id_pool_next(pool, &id), NEXT_ID_OK, "pool_next");
        printf("%s %lld\n", who, (long long)id);
    }
    fflush(stdout);
}

static void expect_refusal(const char* const* options, const char* words) {
    next_id_pool* pool = (next_id_pool*)options;
    expect(next_id_pool_open(options, &pool), NEXT_ID_INVALID_ARGUMENT, "pool_open");
    if (pool == NULL && strstr(next_id_error(), words) != NULL) return;
    fprintf(stderr, "no '%s' in: %s\n", words, next_id_error());
    exit(1);
}

/* Whoever loads the library late, a language's extension, has it in each thread out of a reserve of some 1700 bytes that
 * is everybody's. */
static int find_tls(struct dl_phdr_info* library, size_t size, void* found) {
    (void)size;
    if (strstr(library->dlpi_name, "libnext_id") == NULL) return 0;
    for (int i = 0; i < library->dlpi_phnum; ++i)
        if (library->dlpi_phdr[i].p_type == PT_TLS) *(size_t*)found = library->dlpi_phdr[i].p_memsz;
    return 0;
}

int main(int count, char** arguments) {
    char address[200];
    size_t tls_bytes = 0;
    if (count != 2) return 64;
    dl_iterate_phdr(find_tls, &tls_bytes);
    if (tls_bytes == 0 || tls_bytes > 256) return fprintf(stderr, "%zu bytes in each thread\n", tls_bytes), 1;
    snprintf(address, sizeof address, "address=%s", arguments[1]);
    const char* const options[] = {address, "timeout_ms=20000", NULL};

    next_id_client* client;
    int64_t ids[3];
    expect(next_id_client_open(options, &client), NEXT_ID_OK, "client_open");
    expect(next_id_client_next(client, &ids[0]), NEXT_ID_OK, "client_next");
    printf("client %lld\n", (long long)ids[0]);
    expect(next_id_client_next_n(client, 3, ids), NEXT_ID_OK, "client_next_n");
    for (int i = 0; i < 3; ++i) printf("client %lld\n", (long long)ids[i]);
    expect(next_id_client_next_n(client, 0, ids), NEXT_ID_INVALID_ARGUMENT, "client_next_n of none");
    expect(next_id_client_next(client, NULL), NEXT_ID_INVALID_ARGUMENT, "client_next to nowhere");
    next_id_client_close(client);

    const char* const pool_options[] = {address, "timeout_ms=20000", "batch=10", NULL};
    next_id_pool* pool;
    expect(next_id_pool_open(pool_options, &pool), NEXT_ID_OK, "pool_open");
    print_from(pool, "parent", 5);
    const pid_t child = fork();
    if (child == 0) {
        print_from(pool, "child", 20);
        next_id_pool_close(pool);
        exit(0);
    }
    print_from(pool, "parent", 20);
    int status = 1;
    waitpid(child, &status, 0);
    expect(status, 0, "the child");
    next_id_pool_close(pool);
    next_id_pool_close(NULL);

    expect_refusal((const char* const[]){"adress=/s", NULL}, "adress");
    expect_refusal((const char* const[]){"batch", NULL}, "name=value");
    expect_refusal((const char* const[]){"batch=many", NULL}, "whole number");
    expect_refusal((const char* const[]){"batch=0", NULL}, "1000000");
    const char* const missing[] = {"address=/nonexistent/s", "timeout_ms=20", NULL};
    expect(next_id_client_open(missing, &client), NEXT_ID_OK, "client_open");
    expect(next_id_client_next(client, ids), NEXT_ID_UNREACHABLE, "client_next of a sidecar that is not there");
    printf("error %s\n", next_id_error());
    next_id_client_close(client);
    return 0;
}
