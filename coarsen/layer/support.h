/* What the layers have in common: a lock, whether they do anything, growing bytes, files. */
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A thread that is cancelled goes no further than its next call that may wait. Returns the state before. */
static int set_cancelling(int state)
{
    int before = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(state, &before);
    return before;
}

/* One lock for all tables. No function of OpenCL is called while it is held. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static void unlock_at_end(char *unused)
{
    (void)unused;
    unlock();
}

/* Hold the lock from here to the end of the block. */
#define LOCKED __attribute__((cleanup(unlock_at_end))) char is_locked = (lock(), 1);

/* Whether a layer does anything: a page of which a forked child gets zeros. OpenCL does not survive a fork, and another
 * thread may have held the lock. */
static volatile char *is_on;

#define IS_ON (is_on && *is_on)
/* Whether what it made is this process's: to be released even where it does nothing any more. */
#define OWNS_OBJECTS (is_on && is_on[1])

static void turn_on(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK))
        return;
    page[0] = page[1] = 1;
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
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return NULL;
    /* With all its blocks, since a full disk would end the program later. */
    void *memory = posix_fallocate(file, 0, size) ? NULL : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
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
