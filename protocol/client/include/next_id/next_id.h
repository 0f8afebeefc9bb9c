// The C interface of next-id's client, which any language can bind: unique 64-bit IDs from the sidecar beside this
// process. Two kinds of handles: a client, which asks the sidecar in each call, and a pool, which asks ahead and gives
// out IDs in a few nanoseconds.
//
//     next_id_pool* pool;
//     int64_t id;
//     if (next_id_pool_open(NULL, &pool) != NEXT_ID_OK || next_id_pool_next(pool, &id) != NEXT_ID_OK)
//         fprintf(stderr, "%s\n", next_id_error());
//
// Threads: a pool is used by any number of threads, a client by one at a time. A handle is closed when nobody uses it
// any more, once; closing NULL does nothing. fork(): both handles work on in parent and child, each with a connection
// of its own; the child's pool starts empty. No function may be called from a signal handler. None raises a signal
// (but see `window`), ends the process or writes anywhere but to its arguments. None is a cancellation point:
// pthread_cancel() waits for it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef NEXT_ID_API
#define NEXT_ID_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// What each function returns that can fail: 0, or one of these. The numbers keep their meaning.
enum {
    NEXT_ID_OK = 0,
    NEXT_ID_INVALID_ARGUMENT = 1,   // options or a count that cannot work: mend the program
    NEXT_ID_UNREACHABLE = 2,        // no sidecar was there until the deadline
    NEXT_ID_TIMED_OUT = 3,          // it was there, and gave no answer until the deadline
    NEXT_ID_NO_IDS = 4,             // it has none to give now (503): PostgreSQL is away, or too many connect; see
                                    // next_id_retry_after()
    NEXT_ID_TOO_MANY_REQUESTS = 5,  // the client's share is used up; see next_id_retry_after()
    NEXT_ID_NOT_ALLOWED = 6,        // no rights on the socket, or no valid token
    NEXT_ID_REJECTED = 7,           // it does not know the sequence, or gives out no so many at once
    NEXT_ID_NOT_UNDERSTOOD = 8,     // what answered is not a next-id that this client understands
    NEXT_ID_SYSTEM = 9              // the operating system refused: out of descriptors or memory
};

// What the last call of this thread that failed had to say, for people: what was tried, where, and what to do. Valid
// until the next one fails. Never NULL.
NEXT_ID_API const char* next_id_error(void);

// In so many seconds it makes sense to ask again, said the sidecar when that call failed; 0 if it did not say.
NEXT_ID_API int64_t next_id_retry_after(void);

// Options are strings "name=value", the last one followed by NULL; no options at all: NULL.
//
//     address      path of the Unix socket (/run/next-id/next-id.sock, unless given), or address:port
//     sequence     one of those that the sidecar has; its first, unless given
//     token        shown to a sidecar that asks for one; or
//     token_file   the file whose first line that is no comment is the token
//     window       the directory of --window-share, to take IDs out of the sidecar's memory; needs sequence. Whoever
//                  truncates the file there ends each process that maps it, by SIGBUS
//     timeout_ms   for each call, with all its attempts (5000)
//     batch        pool only: IDs to a request, 1 to 1000000 (1000)
//
// Opening does not connect yet.
typedef struct next_id_client next_id_client;
NEXT_ID_API int next_id_client_open(const char* const* options, next_id_client** client);
NEXT_ID_API void next_id_client_close(next_id_client* client);

// A call that fails has taken no ID that anyone will see.
NEXT_ID_API int next_id_client_next(next_id_client* client, int64_t* id);
// Exactly n IDs, or an error; not always consecutive. 1 <= n <= 1000000.
NEXT_ID_API int next_id_client_next_n(next_id_client* client, size_t n, int64_t* ids);

typedef struct next_id_pool next_id_pool;
NEXT_ID_API int next_id_pool_open(const char* const* options, next_id_pool** pool);
NEXT_ID_API void next_id_pool_close(next_id_pool* pool);
NEXT_ID_API int next_id_pool_next(next_id_pool* pool, int64_t* id);

#ifdef __cplusplus
}
#endif
