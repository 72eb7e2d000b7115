/* What the recorder uses of C's library, of which no header is needed: growing bytes, a lock, tables by hash. */
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
size_t strlen(const char *text);
char *getenv(const char *name);
int snprintf(char *text, size_t size, const char *format, ...);
int open(const char *path, int flags, ...);
long write(int file, const void *bytes, size_t size);
int close(int file);
int unlink(const char *path);
int posix_fallocate(int file, long offset, long size);
int getpid(void);
void *mmap(void *place, size_t size, int protection, int flags, int file, long offset);
int madvise(void *place, size_t size, int advice);
int sched_yield(void);
struct Time {
    long seconds, nanoseconds;
};
int nanosleep(const struct Time *time, struct Time *left);

/* Linux' numbers, which x86-64 and aarch64 share. */
enum {
    WRITE_ONLY = 01, READ_WRITE = 02, CREATE = 0100, EXCLUSIVE = 0200, APPEND = 02000, CLOSE_ON_EXEC = 02000000,
    READABLE = 1, WRITABLE = 2, SHARED = 1, PRIVATE = 2, ANONYMOUS = 0x20, WIPE_ON_FORK = 18,
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* One lock for all tables. No function of OpenCL is called while it is held. */
static int lock_word;

static void lock(void)
{
    while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(void)
{
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

struct Bytes {
    char *data;
    size_t size, room;
};

static void put(struct Bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > bytes->room) {
        bytes->room = 2 * (bytes->size + size) + 256;
        bytes->data = realloc(bytes->data, bytes->room);
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void put8(struct Bytes *bytes, uint8_t number)
{
    put(bytes, &number, sizeof number);
}

static void put32(struct Bytes *bytes, uint32_t number)
{
    put(bytes, &number, sizeof number);
}

static void put64(struct Bytes *bytes, uint64_t number)
{
    put(bytes, &number, sizeof number);
}

static void put_text(struct Bytes *bytes, const char *text)
{
    put(bytes, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static uint64_t hash_of(const char *data, size_t size)
{
    uint64_t hash = size, word;
    for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
        memcpy(&word, data, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (; size; data++, size--)
        hash = (hash ^ (uint8_t)*data) * 0x100000001B3u;
    return hash ^ hash >> 32;
}

/* Entries by their keys: each is numbered when it comes first, and stays. */
struct Entry {
    uint64_t hash;
    size_t size;
    uint32_t number;
    uint8_t state, tries;
    char key[];
};

static struct {
    struct Entry **places;
    size_t count, room; /* a power of two */
} entries;

static struct Entry **place_of_entry(uint64_t hash, const void *key, size_t size)
{
    for (size_t i = hash & (entries.room - 1);; i = (i + 1) & (entries.room - 1)) {
        struct Entry *entry = entries.places[i];
        if (!entry || (entry->hash == hash && entry->size == size && !memcmp(entry->key, key, size)))
            return &entries.places[i];
    }
}

/* The entry of a key; `is_new` tells whether it was made now. */
static struct Entry *entry_of(const void *key, size_t size, int *is_new)
{
    if (2 * entries.count >= entries.room) {
        struct Entry **old = entries.places;
        size_t room = entries.room;
        entries.room = room ? 2 * room : 1024;
        entries.places = calloc(entries.room, sizeof *entries.places);
        for (size_t i = 0; i < room; i++)
            if (old[i])
                *place_of_entry(old[i]->hash, old[i]->key, old[i]->size) = old[i];
        free(old);
    }
    uint64_t hash = hash_of(key, size);
    struct Entry **place = place_of_entry(hash, key, size);
    *is_new = !*place;
    if (!*place) {
        *place = calloc(1, sizeof **place + size);
        (*place)->hash = hash;
        (*place)->size = size;
        memcpy((*place)->key, key, size);
        entries.count++;
    }
    return *place;
}
