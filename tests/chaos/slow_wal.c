// Preloaded into PostgreSQL, it makes every write to a segment of the write-ahead log wait first, for SLOW_WAL_US
// microseconds. A server that is killed meanwhile loses what a power cut during so long a flush would lose.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef ssize_t Write(int, const void*, size_t, off_t);

static void wait_if_wal(int file) {
    const char* delay = getenv("SLOW_WAL_US");
    if (delay == NULL) return;
    char link[32], path[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = '\0';
    const char* segment = strstr(path, "/pg_wal/");
    // 24 hexadecimal digits; not archive_status, nor the files that are to become segments.
    if (segment != NULL && strspn(segment + 8, "0123456789ABCDEF") == 24) usleep((useconds_t)atoi(delay));
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
    static Write* real;
    if (real == NULL) real = (Write*)dlsym(RTLD_NEXT, "pwrite");
    wait_if_wal(file);
    return real(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset) {
    return pwrite(file, bytes, size, offset);
}
