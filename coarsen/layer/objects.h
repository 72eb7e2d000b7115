/* What is known of a program's objects, by their handles. A layer defines `struct Kernel`, what it knows of a kernel, and
 * `free_kernel` before. */

enum Kind { QUEUE, MEMORY, SAMPLER, PROGRAM, KERNEL, CONTEXT };
enum Problem { NONE, BINARY, INTERMEDIATE, BUILT_IN, LINKED, WITH_HEADERS, TOO_LONG, LINKED_WITH_OPTIONS, WITH_ZEROS };

struct Object {
    const void *handle;
    enum Kind kind;
    int references;
    union {
        struct {
            uint32_t device, number;
            int is_timed, hides_times;
            cl_queue_properties *properties;
            size_t byte_count;
        } queue;
        struct {
            size_t size, origin;
            uint64_t whole;
            cl_mem_flags hidden;
            int is_image, is_part;
        } memory;
        struct {
            enum Problem problem;
            char *source, *options; /* a zero follows the source */
            size_t size;            /* of the source */
            struct Variants *variants;
        } program;
        struct Kernel kernel;
        struct Variants *kept; /* of a context */
    };
};

static struct {
    struct Object **places;
    size_t count, room; /* a power of two */
    uint64_t wholes;
} objects;

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
    if (object->kind == KERNEL)
        free_kernel(&object->kernel);
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

/* Room for twice as many objects. Returns 0 where there is no memory for it. */
static int enlarged(void)
{
    struct Object **old = objects.places, **places;
    size_t room = objects.room, twice = room ? 2 * room : 256;
    if (!(places = allocated(calloc(twice, sizeof *places))))
        return 0;
    objects.places = places;
    objects.room = twice;
    for (size_t i = 0; i < room; i++)
        if (old[i])
            *place_of(old[i]->handle) = old[i];
    free(old);
    return 1;
}

/* A new object; where there is no memory for it, one that nobody finds. A driver may give it the handle of one that is
 * gone. */
static struct Object *made(const void *handle, enum Kind kind)
{
    static struct Object unfound;
    forget(handle);
    struct Object *object = allocated(calloc(1, sizeof *object));
    if (!object || (2 * objects.count >= objects.room && !enlarged())) {
        free(object);
        unfound = (struct Object){0};
        return &unfound;
    }
    object->handle = handle;
    object->kind = kind;
    object->references = 1;
    *place_of(handle) = object;
    objects.count++;
    return object;
}
