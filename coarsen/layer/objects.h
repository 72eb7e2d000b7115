/* What is known of a program's objects, by their handles, and of its shared virtual memory. */

enum Kind { QUEUE, MEMORY, SAMPLER, PROGRAM, KERNEL };
enum Problem { NONE, BINARY, INTERMEDIATE, BUILT_IN, LINKED, WITH_HEADERS };
enum Form { UNSET, VALUE, EMPTY, REGION, SAMPLED, SHARED_MEMORY, AGAIN };

struct Argument {
    enum Form form; /* UNSET, VALUE, EMPTY (a size without bytes), SHARED_MEMORY */
    size_t size;
    char *bytes;
    const void *pointer;
};

struct Sizes {
    cl_uint dimensions;
    size_t global[DIMENSIONS], local[DIMENSIONS], offset[DIMENSIONS];
    int has_local;
};

struct Object {
    const void *handle;
    enum Kind kind;
    int references;
    union {
        struct {
            uint32_t device;
            int is_timed, hides_times;
            cl_queue_properties *properties;
            size_t byte_count;
        } queue;
        struct {
            size_t size, origin;
            uint64_t whole;
            cl_mem_flags hidden;
            int is_image;
        } memory;
        struct {
            enum Problem problem;
            char *source, *options;
        } program;
        struct {
            uint32_t unit, count;
            struct Argument *arguments;
            char *name;
            int is_left_alone; /* its text is not known */
            int points_elsewhere, is_same; /* is_same: no argument has changed since the last launch */
            struct Entry *last, *last_class;
            uint64_t last_wholes; /* by which a new object with an old handle shows */
            uint32_t last_device;
            struct Sizes last_sizes;
        } kernel;
    };
};

static struct {
    struct Object **places;
    size_t count, room; /* a power of two */
    uint64_t wholes;
} objects;

static struct {
    struct Allocation {
        const char *start;
        size_t size;
        uint64_t whole;
    } *list;
    size_t count, room;
} allocations;

static size_t start_of(const void *handle)
{
    return ((size_t)handle >> 4) * 0x9E3779B97F4A7C15u >> 20 & (objects.room - 1);
}

static struct Object **place_of(const void *handle)
{
    size_t i = start_of(handle);
    while (objects.places[i] && objects.places[i]->handle != handle)
        i = (i + 1) & (objects.room - 1);
    return &objects.places[i];
}

/* What is known of a handle; NULL if nothing is, or it is something else. */
static struct Object *found(const void *handle, enum Kind kind)
{
    struct Object *object = objects.room ? *place_of(handle) : NULL;
    return object && object->kind == kind ? object : NULL;
}

static void free_content(struct Object *object)
{
    if (object->kind == QUEUE)
        free(object->queue.properties);
    if (object->kind == PROGRAM) {
        free(object->program.source);
        free(object->program.options);
    }
    if (object->kind == KERNEL) {
        for (uint32_t i = 0; i < object->kernel.count; i++)
            free(object->kernel.arguments[i].bytes);
        free(object->kernel.arguments);
        free(object->kernel.name);
    }
    free(object);
}

static void forget(const void *handle)
{
    struct Object **place = objects.room ? place_of(handle) : NULL;
    if (!place || !*place)
        return;
    free_content(*place);
    *place = NULL;
    objects.count--;
    /* Those behind it that are not where their search starts move up. */
    size_t hole = place - objects.places, mask = objects.room - 1;
    for (size_t i = (hole + 1) & mask; objects.places[i]; i = (i + 1) & mask) {
        size_t distance = (i - start_of(objects.places[i]->handle)) & mask;
        if (distance >= ((i - hole) & mask)) {
            objects.places[hole] = objects.places[i];
            objects.places[i] = NULL;
            hole = i;
        }
    }
}

/* A new object. A driver may give it the handle of one that is gone. */
static struct Object *made(const void *handle, enum Kind kind)
{
    forget(handle);
    if (2 * objects.count >= objects.room) {
        struct Object **old = objects.places;
        size_t room = objects.room;
        objects.room = room ? 2 * room : 256;
        objects.places = calloc(objects.room, sizeof *objects.places);
        for (size_t i = 0; i < room; i++)
            if (old[i])
                *place_of(old[i]->handle) = old[i];
        free(old);
    }
    struct Object *object = calloc(1, sizeof *object);
    object->handle = handle;
    object->kind = kind;
    object->references = 1;
    *place_of(handle) = object;
    objects.count++;
    return object;
}

static void count_references(const void *handle, enum Kind kind, int change)
{
    lock();
    struct Object *object = found(handle, kind);
    if (object && !(object->references += change))
        forget(handle);
    unlock();
}

static char *copied(const void *data, size_t size)
{
    char *copy = malloc(size + 1);
    memcpy(copy, data, size);
    copy[size] = 0;
    return copy;
}
