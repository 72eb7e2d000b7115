/* What the layers use of C's library, of which no header is needed: a lock, growing bytes, files. */
#ifndef WITH_OPENCL_HEADERS
typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
#define NULL ((void *)0)
#else
#include <stdint.h>
#endif
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);
void *memcpy(void *to, const void *from, size_t size);
int memcmp(const void *one, const void *other, size_t size);
void *memchr(const void *from, int byte, size_t size);
size_t strlen(const char *text);
int strcmp(const char *one, const char *other);
int strncmp(const char *one, const char *other, size_t size);
char *getenv(const char *name);
int snprintf(char *text, size_t size, const char *format, ...);
int open(const char *path, int flags, ...);
long read(int file, void *bytes, size_t size);
long write(int file, const void *bytes, size_t size);
int close(int file);
int unlink(const char *path);
int posix_fallocate(int file, long offset, long size);
int getpid(void);
int geteuid(void);
void *mmap(void *place, size_t size, int protection, int flags, int file, long offset);
int madvise(void *place, size_t size, int advice);
int sched_yield(void);
struct Time {
    long seconds, nanoseconds;
};
struct State {
    uint32_t known, block;
    uint64_t attributes;
    uint32_t links, owner, group;
    unsigned short mode, unused[1];
    uint64_t inode, size;
    uint64_t others[26];
};
int statx(int folder, const char *path, int flags, unsigned wanted, struct State *state);
int nanosleep(const struct Time *time, struct Time *left);
int clock_gettime(int clock, struct Time *time);
/* Not there in programs of one thread with an old C library, which nobody cancels. */
__attribute__((weak)) int pthread_setcancelstate(int state, int *before);

/* Linux' numbers, which x86-64 and aarch64 share. */
enum {
    WRITE_ONLY = 01, READ_WRITE = 02, CREATE = 0100, EXCLUSIVE = 0200, APPEND = 02000, NO_WAIT = 04000, CLOSE_ON_EXEC = 02000000,
    READABLE = 1, WRITABLE = 2, SHARED = 1, PRIVATE = 2, ANONYMOUS = 0x20, WIPE_ON_FORK = 18,
    NOT_CANCELLED = 1, MONOTONIC = 1,
    OF_FILE = 0x1000, ALL_BASIC = 0x7FF, KIND_OF_FILE = 0170000, PLAIN_FILE = 0100000, OTHERS_WRITE = 022,
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A thread that is cancelled goes no further than its next call that may wait. Returns the state before. */
static int set_cancelling(int state)
{
    int before = 0;
    if (pthread_setcancelstate)
        pthread_setcancelstate(state, &before);
    return before;
}

/* One lock for all tables. No function of OpenCL is called while it is held. */
static int lock_word;

static void lock(void)
{
    for (int tries = 0; __atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE); tries++) {
        if (tries < 100) {
            sched_yield();
            continue;
        }
        /* The thread that holds it may have a lower priority. */
        int before = set_cancelling(NOT_CANCELLED);
        nanosleep(&(struct Time){0, 50000}, NULL);
        set_cancelling(before);
    }
}

static void unlock(void)
{
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

/* Whether a layer does anything: a page of which a forked child gets zeros. OpenCL does not survive a fork, and another
 * thread may have held the lock. */
static volatile char *is_on;

#define IS_ON (is_on && *is_on)

static void turn_on(void)
{
    char *page = mmap(NULL, 4096, READABLE | WRITABLE, PRIVATE | ANONYMOUS, -1, 0);
    if (page == (void *)-1 || madvise(page, 4096, WIPE_ON_FORK))
        return;
    *page = 1;
    is_on = page;
}

/* What was allocated. Where there is no memory for more, the layer does nothing any more. */
static void *allocated(void *memory)
{
    if (!memory && is_on)
        *is_on = 0;
    return memory;
}

/* A copy with a zero behind it; NULL where there is no memory for it. */
static char *copied(const void *data, size_t size)
{
    char *copy = allocated(malloc(size + 1));
    if (copy) {
        memcpy(copy, data, size);
        copy[size] = 0;
    }
    return copy;
}

static char *copied_text(const char *text)
{
    return copied(text ? text : "", text ? strlen(text) : 0);
}

/* `size` bytes of a file as memory that processes share; NULL where that fails. */
static void *mapped(const char *path, size_t size)
{
    int file = open(path, READ_WRITE | CREATE | CLOSE_ON_EXEC, 0600);
    if (file < 0)
        return NULL;
    /* With all its blocks, since a full disk would end the program later. */
    void *memory = posix_fallocate(file, 0, size) ? NULL : mmap(NULL, size, READABLE | WRITABLE, SHARED, file, 0);
    close(file);
    return memory == (void *)-1 ? NULL : memory;
}

struct Bytes {
    char *data;
    size_t size, room;
};

static void put(struct Bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > bytes->room) {
        size_t room = 2 * (bytes->size + size) + 256;
        char *more = allocated(realloc(bytes->data, room));
        if (!more)
            return;
        bytes->data = more;
        bytes->room = room;
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void put8(struct Bytes *bytes, uint8_t number)
{
    put(bytes, &number, sizeof number);
}
