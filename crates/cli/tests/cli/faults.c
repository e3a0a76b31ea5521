/* Makes one call of the C library fail: WEIR_FAULT=read:3 the third read, WEIR_FAULT=malloc:100 the hundredth request
   for memory. Loaded into the program by LD_PRELOAD. WEIR_FAULT_COUNT names a file that receives, at exit, how many such
   calls there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long wanted = -1;
static char kind[16];
static int ready;

__attribute__((constructor)) static void begin(void) {
    const char *fault = getenv("WEIR_FAULT");
    if (fault) {
        const char *colon = strchr(fault, ':');
        size_t length = colon ? (size_t)(colon - fault) : 0;
        if (colon && length < sizeof kind) {
            memcpy(kind, fault, length);
            wanted = atol(colon + 1);
        }
    }
    atomic_store(&calls, 0);
    ready = 1;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("WEIR_FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld", atomic_load(&calls));
        fclose(file);
    }
}

/* Whether this call is the one that fails. */
static int fails(const char *name) {
    return ready && strcmp(name, kind) == 0 && atomic_fetch_add(&calls, 1) + 1 == wanted;
}

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t read(int file, void *bytes, size_t count) {
    REAL(ssize_t, "read", int, void *, size_t);
    if (fails("read")) { errno = EIO; return -1; }
    return real(file, bytes, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (fails("write")) { errno = ENOSPC; return -1; }
    return real(file, bytes, count);
}

int open64(const char *path, int flags, ...) {
    REAL(int, "open64", const char *, int, ...);
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (fails("open")) { errno = EMFILE; return -1; }
    return real(path, flags, mode);
}

int fsync(int file) {
    REAL(int, "fsync", int);
    if (fails("fsync")) { errno = EIO; return -1; }
    return real(file);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    if (fails("rename")) { errno = EIO; return -1; }
    return real(from, to);
}

/* Only from the program's own allocator, which asks for memory with these. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size) { return fails("malloc") ? (errno = ENOMEM, NULL) : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails("malloc") ? (errno = ENOMEM, NULL) : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails("malloc") ? (errno = ENOMEM, NULL) : __libc_realloc(old, size); }
