/* What is known of a program's objects, by their handles. A layer defines `struct Kernel`, what it knows of a kernel, and
 * `free_kernel` before. */

enum Kind { QUEUE, MEMORY, SAMPLER, PROGRAM, KERNEL, CONTEXT };
enum Problem { NONE, NOT_FROM_SOURCE, LINKED, WITH_HEADERS, TOO_LONG, LINKED_WITH_OPTIONS, WITH_ZEROS };

struct Object {
    struct Object *after;
    const void *handle;
    enum Kind kind;
    int references;
    union {
        struct Queue {
            uint32_t device, number;
            int is_timed, hides_times, has_no_list; /* has_no_list: the program gave no list of properties */
        } queue;
        struct {
            size_t size, origin;
            uint64_t whole, owner; /* owner: the whole whose bytes it has, of an image made of a buffer too */
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

static struct Object *objects[1 << 14]; /* lists of those with one hash */

static struct Object **place_of(const void *handle)
{
    struct Object **place = &objects[((size_t)handle >> 4) * 0x9E3779B97F4A7C15u >> 50];
    while (*place && (*place)->handle != handle)
        place = &(*place)->after;
    return place;
}

/* What is known of a handle; NULL if nothing is, or it is something else. */
static struct Object *found(const void *handle, enum Kind kind)
{
    struct Object *object = *place_of(handle);
    return object && object->kind == kind ? object : NULL;
}

static void free_object(struct Object *object)
{
    if (object->kind == PROGRAM) {
        free(object->program.source);
        free(object->program.options);
    }
    if (object->kind == KERNEL)
        free_kernel(&object->kernel);
    free(object);
}

/* Take what is known of a handle out; NULL if nothing is. */
static struct Object *taken_out(const void *handle)
{
    struct Object **place = place_of(handle), *object = *place;
    if (object)
        *place = object->after;
    return object;
}

static void forget(const void *handle)
{
    struct Object *object = taken_out(handle);
    if (object)
        free_object(object);
}

/* A new object; where there is no memory for it, one that nobody finds. A driver may give it the handle of one that is
 * gone. */
static struct Object *made(const void *handle, enum Kind kind)
{
    static struct Object unfound;
    forget(handle);
    struct Object *object = allocated(calloc(1, sizeof *object));
    if (!object) {
        unfound = (struct Object){0};
        return &unfound;
    }
    object->handle = handle;
    object->kind = kind;
    object->references = 1;
    return *place_of(handle) = object;
}

static void retain(const void *handle, enum Kind kind)
{
    if (!OWNS_OBJECTS)
        return;
    LOCKED
    struct Object *object = found(handle, kind);
    if (object)
        object->references++;
}

/* Take a reference away. Returns the object where that was the last one, for `free_object`; NULL otherwise. */
static struct Object *released(const void *handle, enum Kind kind)
{
    if (!OWNS_OBJECTS)
        return NULL;
    LOCKED
    struct Object *object = found(handle, kind);
    return object && !--object->references ? taken_out(handle) : NULL;
}
