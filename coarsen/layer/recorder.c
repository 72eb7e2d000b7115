/* A layer under the OpenCL loader (OPENCL_LAYERS) that counts, times and captures a program's launches.
 *
 *     program ─▶ loader ─▶ functions of this file ─▶ `next`: the loader's own, which calls the driver
 *                                  └─▶ FOLDER/PROCESS.log, .counts, .order, -NUMBER.content: read by `log.py`
 *
 * The log has records, each written at once, so that what was seen survives a crash: devices (D), texts of programs
 * with their options (U), kernels (K), kinds of launches (L with arguments, S by sizes alone), captures (C), notes (N).
 * The counts are a table in shared memory, a row for each kind of launch, and the order of all is a ring there
 * (`order.h`). What a program sees of its objects stays as it made them, though queues take times here.
 */
#define LAYER_NAME "coarsen's recorder"
#include "opencl.h"
#include "support.h"
#include "layer.h"
#include "entries.h"
#include "order.h"

enum { MOST_KINDS = 1 << 16, MOST_KINDS_OF_KERNEL = 4096, MOST_PENDING = 4096, MOST_TRIES = 3, DIMENSIONS = 3,
       ALL_TIMED = 256, TIMED_OF = 16, MOST_UNENDED = 16, MOST_TEXT = 1 << 26 };

struct Count {
    uint64_t launches, timed, nanoseconds;
};

/* Where a recording goes. */
static struct {
    int log;
    char start[4096];
    struct Count *counts;
    long *left;     /* shared by all processes: bytes that captures may still take, and what they might at first */
    size_t text;    /* bytes of all programs' texts in the log */
    uint32_t units, kernels, devices, kinds, contents, queues;
    int has_user_events;
    long patience; /* nanoseconds to wait for what is before a launch; less once that was in vain */
} here = {.patience = 60000000000};

/* Nanoseconds within which what the program itself may have to do is worth waiting for. */
#define SOON 2000000000L

enum Form { UNSET, VALUE, EMPTY, REGION, SAMPLED, SHARED_MEMORY, AGAIN };

struct Argument {
    enum Form form; /* UNSET, VALUE, EMPTY (a size without bytes), SHARED_MEMORY */
    size_t size;
    char *bytes; /* of the last value */
    const void *pointer;
};

struct Sizes {
    size_t global[DIMENSIONS], local[DIMENSIONS], offset[DIMENSIONS];
    cl_uint dimensions, has_local;
};

struct Kernel {
    struct Entry *of;
    uint32_t count;
    struct Argument *arguments;
    int is_left_alone; /* its text is not known */
    int points_elsewhere, is_same; /* is_same: no argument has changed since the last launch */
    struct Entry *last, *last_class;
    uint64_t last_wholes; /* by which a new object with an old handle shows */
    uint32_t last_device;
    struct Sizes last_sizes;
    struct Step last_step;
};

static void free_kernel(struct Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->count; i++)
        free(kernel->arguments[i].bytes);
    free(kernel->arguments);
}

#include "objects.h"
#include "programs.h"

static void release_variants(struct Variants *variants)
{
    (void)variants; /* A recorder makes none. */
}

/* --- The log. --- */

static void write_record(char kind, uint32_t number, const void *data, size_t size)
{
    static struct Bytes record;
    record.size = 0;
    put32(&record, kind);
    put32(&record, number);
    put64(&record, size);
    put(&record, data, size);
    int before = set_cancelling(PTHREAD_CANCEL_DISABLE);
    if (IS_ON && write(here.log, record.data, record.size) != (long)record.size)
        *is_on = 0;
    set_cancelling(before);
}

/* The entry of a key whose first byte is its kind; numbered and written when it comes first. */
static struct Entry *numbered(const struct Bytes *key, uint32_t *count)
{
    struct Entry *entry = known_entry(key);
    if (entry)
        return entry;
    entry = new_entry(key);
    if (IS_ON) {
        entry->number = (*count)++;
        write_record(key->data[0], entry->number, key->data + 1, key->size - 1);
    }
    return entry;
}

static void note(uint32_t kind, const char *text)
{
    LOCKED
    write_record('N', kind, text, strlen(text));
}

/* --- Queues, and the times that their events tell. --- */

static uint32_t device_number(cl_device_id device)
{
    static struct Bytes key;
    char name[256] = "", platform[256] = "";
    cl_platform_id of = NULL;
    NEXT(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    if (!NEXT(clGetDeviceInfo)(device, CL_DEVICE_PLATFORM, sizeof of, &of, NULL))
        NEXT(clGetPlatformInfo)(of, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    LOCKED
    key.size = 0;
    put8(&key, 'D');
    put_text(&key, name);
    put_text(&key, platform);
    return numbered(&key, &here.devices)->number;
}

static void add_queue(cl_command_queue queue, cl_device_id device, cl_command_queue_properties given, struct Queue of)
{
    of.device = device_number(device);
    LOCKED
    of.number = ++here.queues << 1 | (given & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    made(queue, QUEUE)->queue = of;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *error)
{
    cl_command_queue_properties timed = properties | CL_QUEUE_PROFILING_ENABLE;
    cl_command_queue queue = NEXT(clCreateCommandQueue)(context, device, IS_ON ? timed : properties, error);
    if (queue && IS_ON)
        add_queue(queue, device, properties, (struct Queue){.is_timed = 1, .hides_times = timed != properties});
    return queue ? queue : NEXT(clCreateCommandQueue)(context, device, properties, error);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *properties, cl_int *error)
{
    cl_queue_properties timed[64] = {CL_QUEUE_PROPERTIES}, before = 0;
    size_t size = 2, count = 0;
    for (; properties && properties[count] && size < LENGTH(timed) - 2; count += 2)
        if (properties[count] == CL_QUEUE_PROPERTIES) {
            before = properties[count + 1];
        } else {
            timed[size++] = properties[count];
            timed[size++] = properties[count + 1];
        }
    timed[1] = before | CL_QUEUE_PROFILING_ENABLE;
    cl_command_queue queue = NULL;
    if (IS_ON && !(before & CL_QUEUE_ON_DEVICE))
        queue = NEXT(clCreateCommandQueueWithProperties)(context, device, timed, error);
    if (queue)
        add_queue(queue, device, before,
                  (struct Queue){.is_timed = 1, .hides_times = before != timed[1], .has_no_list = !properties});
    return queue ? queue : NEXT(clCreateCommandQueueWithProperties)(context, device, properties, error);
}

/* What is known of a queue; of one that an extension made, whose functions are in no table, its device alone. */
static struct Queue queue_of(cl_command_queue queue)
{
    cl_device_id device = NULL;
    if (IS_ON) {
        LOCKED
        struct Object *object = found(queue, QUEUE);
        if (object)
            return object->queue;
    }
    if (!IS_ON || NEXT(clGetCommandQueueInfo)(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL))
        return (struct Queue){0};
    return (struct Queue){.device = device_number(device)};
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size, void *value, size_t *size_ret)
{
    struct Queue of = queue_of(queue);
    int is_list = name == CL_QUEUE_PROPERTIES_ARRAY;
    if (of.hides_times && is_list && of.has_no_list)
        return answer(NULL, 0, size, value, size_ret);
    cl_int status = NEXT(clGetCommandQueueInfo)(queue, name, size, value, size_ret);
    if (!status && of.hides_times && value && (is_list || name == CL_QUEUE_PROPERTIES))
        ((cl_queue_properties *)value)[is_list] &= ~(cl_queue_properties)CL_QUEUE_PROFILING_ENABLE;
    return status;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void *value, size_t *size_ret)
{
    cl_command_queue queue = NULL;
    if (IS_ON && !NEXT(clGetEventInfo)(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL) &&
        queue_of(queue).hides_times)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    return NEXT(clGetEventProfilingInfo)(event, name, size, value, size_ret);
}

struct Pending {
    cl_event event;
    uint32_t kind;
};

/* Launches that have not ended, as far as is known: a ring. */
static struct {
    struct Pending ring[MOST_PENDING];
    unsigned first, count;
} pending;

static void add_pending(cl_event event, uint32_t kind)
{
    lock();
    int has_room = pending.count < MOST_PENDING;
    if (has_room)
        pending.ring[(pending.first + pending.count++) % MOST_PENDING] = (struct Pending){event, kind};
    unlock();
    if (!has_room)
        NEXT(clReleaseEvent)(event);
}

/* Take the first pending launch; one without an event where there is none. */
static struct Pending first_pending(void)
{
    LOCKED
    if (!pending.count)
        return (struct Pending){0};
    pending.count--;
    return pending.ring[pending.first++ % MOST_PENDING];
}

/* Look at pending launches until some that have not ended were found, and add up the times of those that have. Nothing is
 * waited for. */
static void harvest(unsigned most_unended)
{
    unsigned there = IS_ON ? __atomic_load_n(&pending.count, __ATOMIC_RELAXED) : 0;
    for (unsigned i = 0, unended = 0; unended < most_unended && i < there; i++) {
        struct Pending launch = first_pending();
        if (!launch.event)
            return;
        cl_int state = -1;
        cl_ulong start = 0, end = 0;
        if (!NEXT(clGetEventInfo)(launch.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) && state > 0) {
            add_pending(launch.event, launch.kind);
            unended++;
            continue;
        }
        if (state == CL_COMPLETE &&
            !NEXT(clGetEventProfilingInfo)(launch.event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) &&
            !NEXT(clGetEventProfilingInfo)(launch.event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) && end >= start) {
            __atomic_fetch_add(&here.counts[launch.kind].timed, 1, __ATOMIC_RELAXED);
            __atomic_fetch_add(&here.counts[launch.kind].nanoseconds, end - start, __ATOMIC_RELAXED);
        }
        NEXT(clReleaseEvent)(launch.event);
    }
}

static void add_object(struct Step *step, cl_mem memory)
{
    const struct Object *object = found(memory, MEMORY);
    add_memory(step, object ? object->memory.owner : 0, object && object->memory.is_part);
}

/* What the host does with one memory object. */
static void note_step(enum Action action, cl_command_queue queue, cl_mem memory)
{
    if (!IS_ON)
        return;
    struct Step step = {.action = action, .kind = NOT_KNOWN};
    lock();
    struct Object *of_queue = found(queue, QUEUE);
    step.queue = of_queue ? of_queue->queue.number : 0;
    add_object(&step, memory);
    unlock();
    add_step(&step);
}

/* Functions after which launches have often ended. */
#define HARVESTING(name, note, parameters, given)                                                                    \
    cl_int name parameters                                                                                           \
    {                                                                                                                \
        note;                                                                                                        \
        cl_int status = NEXT(name) given;                                                                            \
        harvest(MOST_UNENDED);                                                                                       \
        return status;                                                                                               \
    }

HARVESTING(clReleaseCommandQueue, , (cl_command_queue queue), (queue))
HARVESTING(clFinish, , (cl_command_queue queue), (queue))
HARVESTING(clWaitForEvents, , (cl_uint count, const cl_event *events), (count, events))
HARVESTING(clEnqueueReadBuffer, note_step(READ, queue, buffer),
           (cl_command_queue queue, cl_mem buffer, cl_bool waits, size_t offset, size_t size, void *to, cl_uint count,
            const cl_event *events, cl_event *event),
           (queue, buffer, waits, offset, size, to, count, events, event))
HARVESTING(clEnqueueReadBufferRect, note_step(READ, queue, buffer),
           (cl_command_queue queue, cl_mem buffer, cl_bool waits, const size_t *from, const size_t *to, const size_t *region,
            size_t row, size_t slice, size_t host_row, size_t host_slice, void *host, cl_uint count, const cl_event *events,
            cl_event *event),
           (queue, buffer, waits, from, to, region, row, slice, host_row, host_slice, host, count, events, event))
HARVESTING(clEnqueueWriteBuffer, note_step(WRITE, queue, buffer),
           (cl_command_queue queue, cl_mem buffer, cl_bool waits, size_t offset, size_t size, const void *from, cl_uint count,
            const cl_event *events, cl_event *event),
           (queue, buffer, waits, offset, size, from, count, events, event))
HARVESTING(clEnqueueWriteBufferRect, note_step(WRITE, queue, buffer),
           (cl_command_queue queue, cl_mem buffer, cl_bool waits, const size_t *to, const size_t *from, const size_t *region,
            size_t row, size_t slice, size_t host_row, size_t host_slice, const void *host, cl_uint count,
            const cl_event *events, cl_event *event),
           (queue, buffer, waits, to, from, region, row, slice, host_row, host_slice, host, count, events, event))
HARVESTING(clEnqueueFillBuffer, note_step(WRITE, queue, buffer),
           (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size,
            cl_uint count, const cl_event *events, cl_event *event),
           (queue, buffer, pattern, pattern_size, offset, size, count, events, event))
HARVESTING(clEnqueueCopyBuffer, (note_step(READ, queue, from), note_step(WRITE, queue, to)),
           (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size, cl_uint count,
            const cl_event *events, cl_event *event),
           (queue, from, to, from_offset, to_offset, size, count, events, event))
HARVESTING(clEnqueueCopyBufferRect, (note_step(READ, queue, from), note_step(WRITE, queue, to)),
           (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *start, const size_t *end, const size_t *region,
            size_t row, size_t slice, size_t to_row, size_t to_slice, cl_uint count, const cl_event *events, cl_event *event),
           (queue, from, to, start, end, region, row, slice, to_row, to_slice, count, events, event))
HARVESTING(clEnqueueCopyBufferToImage, (note_step(READ, queue, from), note_step(WRITE, queue, to)),
           (cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin, const size_t *region,
            cl_uint count, const cl_event *events, cl_event *event),
           (queue, from, to, offset, origin, region, count, events, event))
HARVESTING(clEnqueueReadImage, note_step(READ, queue, image),
           (cl_command_queue queue, cl_mem image, cl_bool waits, const size_t *origin, const size_t *region, size_t row,
            size_t slice, void *to, cl_uint count, const cl_event *events, cl_event *event),
           (queue, image, waits, origin, region, row, slice, to, count, events, event))
HARVESTING(clEnqueueWriteImage, note_step(WRITE, queue, image),
           (cl_command_queue queue, cl_mem image, cl_bool waits, const size_t *origin, const size_t *region, size_t row,
            size_t slice, const void *from, cl_uint count, const cl_event *events, cl_event *event),
           (queue, image, waits, origin, region, row, slice, from, count, events, event))
HARVESTING(clEnqueueFillImage, note_step(WRITE, queue, image),
           (cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin, const size_t *region,
            cl_uint count, const cl_event *events, cl_event *event),
           (queue, image, colour, origin, region, count, events, event))
HARVESTING(clEnqueueCopyImage, (note_step(READ, queue, from), note_step(WRITE, queue, to)),
           (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *start, const size_t *end, const size_t *region,
            cl_uint count, const cl_event *events, cl_event *event),
           (queue, from, to, start, end, region, count, events, event))
HARVESTING(clEnqueueCopyImageToBuffer, (note_step(READ, queue, from), note_step(WRITE, queue, to)),
           (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin, const size_t *region, size_t offset,
            cl_uint count, const cl_event *events, cl_event *event),
           (queue, from, to, origin, region, offset, count, events, event))
HARVESTING(clEnqueueUnmapMemObject, note_step(UNMAP, queue, memory),
           (cl_command_queue queue, cl_mem memory, void *mapped, cl_uint count, const cl_event *events, cl_event *event),
           (queue, memory, mapped, count, events, event))

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint count, const cl_event *events, cl_event *event, cl_int *error)
{
    note_step(MAP, queue, buffer);
    return NEXT(clEnqueueMapBuffer)(queue, buffer, waits, flags, offset, size, count, events, event, error);
}

void *clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool waits, cl_map_flags flags, const size_t *origin,
                        const size_t *region, size_t *row, size_t *slice, cl_uint count, const cl_event *events,
                        cl_event *event, cl_int *error)
{
    note_step(MAP, queue, image);
    return NEXT(clEnqueueMapImage)(queue, image, waits, flags, origin, region, row, slice, count, events, event, error);
}

static void give_back(struct Kernel *kernel)
{
    (void)kernel; /* It has nothing of the driver's. */
    harvest(2);
}

cl_event clCreateUserEvent(cl_context context, cl_int *error)
{
    here.has_user_events = 1;
    return NEXT(clCreateUserEvent)(context, error);
}

/* --- Memory and samplers. --- */

static uint64_t wholes; /* buffers, images and allocations that were made */

static void CL_CALLBACK forget_memory(cl_mem memory, void *unused)
{
    (void)unused;
    if (!IS_ON)
        return;
    note_step(FREE, NULL, memory);
    LOCKED
    if (found(memory, MEMORY))
        forget(memory);
}

static cl_mem with_memory(cl_mem memory)
{
    cl_mem_object_type type = 0;
    size_t size = 0, origin = 0;
    cl_mem of = NULL;
    if (!memory || !IS_ON || NEXT(clGetMemObjectInfo)(memory, CL_MEM_TYPE, sizeof type, &type, NULL) ||
        NEXT(clGetMemObjectInfo)(memory, CL_MEM_SIZE, sizeof size, &size, NULL) ||
        NEXT(clGetMemObjectInfo)(memory, CL_MEM_OFFSET, sizeof origin, &origin, NULL) ||
        NEXT(clGetMemObjectInfo)(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL))
        return memory;
    int is_image = type != CL_MEM_OBJECT_BUFFER;
    lock();
    struct Object *object = made(memory, MEMORY), *owner = found(of, MEMORY), *whole = is_image ? NULL : owner;
    wholes++;
    object->memory.size = size;
    object->memory.origin = whole ? origin : 0;
    object->memory.whole = whole ? whole->memory.whole : wholes;
    object->memory.owner = owner ? owner->memory.owner : wholes;
    object->memory.is_image = is_image;
    object->memory.is_part = owner != NULL;
    unlock();
    NEXT(clSetMemObjectDestructorCallback)(memory, forget_memory, NULL);
    return memory;
}

#define MAKING_MEMORY(name, parameters, given)                                                                       \
    cl_mem name parameters                                                                                           \
    {                                                                                                                \
        return with_memory(NEXT(name) given);                                                                        \
    }

MAKING_MEMORY(clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error),
              (context, flags, size, host, error))
MAKING_MEMORY(clCreateBufferWithProperties,
              (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, size_t size, void *host,
               cl_int *error),
              (context, properties, flags, size, host, error))
MAKING_MEMORY(clCreateSubBuffer,
              (cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void *region, cl_int *error),
              (whole, flags, type, region, error))
MAKING_MEMORY(clCreateImage,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *description,
               void *host, cl_int *error),
              (context, flags, format, description, host, error))
MAKING_MEMORY(clCreateImageWithProperties,
              (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, const cl_image_format *format,
               const cl_image_desc *description, void *host, cl_int *error),
              (context, properties, flags, format, description, host, error))
MAKING_MEMORY(clCreateImage2D,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width, size_t height,
               size_t row, void *host, cl_int *error),
              (context, flags, format, width, height, row, host, error))
MAKING_MEMORY(clCreateImage3D,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width, size_t height,
               size_t depth, size_t row, size_t slice, void *host, cl_int *error),
              (context, flags, format, width, height, depth, row, slice, host, error))

/* Shared virtual memory that was allocated. */
struct Allocation {
    const char *start;
    size_t size;
    uint64_t whole;
};

static void *allocations; /* a tree of them, of which no two have the same bytes */

static int compare_allocations(const void *one, const void *other)
{
    const struct Allocation *first = one, *second = other;
    return first->start + first->size <= second->start ? -1 : first->start >= second->start + second->size;
}

/* An allocation that has any of these bytes; NULL where none has. */
static struct Allocation *allocation_at(const void *start, size_t size)
{
    struct Allocation asked = {start, size, 0}, **place = tfind(&asked, &allocations, compare_allocations);
    return place ? *place : NULL;
}

static void forget_allocations(const void *start, size_t size)
{
    for (struct Allocation *gone; (gone = allocation_at(start, size)); free(gone))
        tdelete(gone, &allocations, compare_allocations);
}

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    void *start = NEXT(clSVMAlloc)(context, flags, size, alignment);
    if (!start || !IS_ON)
        return start;
    LOCKED
    forget_allocations(start, size); /* Those that a queue has freed. */
    struct Allocation *new = allocated(malloc(sizeof *new));
    if (new) {
        *new = (struct Allocation){start, size, ++wholes};
        allocated(tsearch(new, &allocations, compare_allocations));
    }
    return start;
}

void clSVMFree(cl_context context, void *start)
{
    if (IS_ON) {
        LOCKED
        forget_allocations(start, 1);
    }
    NEXT(clSVMFree)(context, start);
}

static cl_sampler with_sampler(cl_sampler sampler)
{
    if (!sampler || !IS_ON)
        return sampler;
    LOCKED
    made(sampler, SAMPLER);
    return sampler;
}

cl_sampler clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                           cl_int *error)
{
    return with_sampler(NEXT(clCreateSampler)(context, normalized, addressing, filter, error));
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties, cl_int *error)
{
    return with_sampler(NEXT(clCreateSamplerWithProperties)(context, properties, error));
}

/* --- Kernels and their arguments. --- */

static void add_kernel(cl_kernel kernel, cl_program program, const char *name)
{
    static struct Bytes key;
    uint32_t count = argument_count_of(kernel);
    LOCKED
    struct Object *of = found(program, PROGRAM), *object = made(kernel, KERNEL);
    enum Problem problem = of ? of->program.problem : NOT_FROM_SOURCE;
    if (problem == NONE && (!of->program.source || here.text + of->program.size > MOST_TEXT))
        problem = TOO_LONG;
    key.size = 0;
    put8(&key, 'U');
    put8(&key, problem);
    put_text(&key, problem ? NULL : of->program.source);
    put_text(&key, problem ? NULL : of->program.options);
    uint32_t known = here.units, unit = numbered(&key, &here.units)->number;
    here.text += here.units > known ? key.size : 0;
    key.size = 0;
    put8(&key, 'K');
    put32(&key, unit);
    put_text(&key, name);
    object->kernel = (struct Kernel){.of = numbered(&key, &here.kernels), .is_left_alone = problem != NONE};
    if ((object->kernel.arguments = allocated(calloc(count + 1, sizeof *object->kernel.arguments))))
        object->kernel.count = count;
}

static void set_argument(struct Kernel *kernel, cl_uint index, struct Argument given)
{
    if (index >= kernel->count)
        return;
    struct Argument *argument = &kernel->arguments[index];
    if (argument->form == given.form && argument->size == given.size && argument->pointer == given.pointer &&
        (given.form != VALUE || !memcmp(argument->bytes, given.bytes, given.size)))
        return;
    kernel->is_same = 0;
    const char *bytes = given.bytes;
    given.bytes = argument->bytes;
    if (given.form == VALUE) {
        char *room = allocated(realloc(argument->bytes, given.size + 1));
        if (!room)
            return;
        given.bytes = memcpy(room, bytes, given.size);
    }
    *argument = given;
}

cl_kernel clCloneKernel(cl_kernel kernel, cl_int *error)
{
    cl_kernel clone = NEXT(clCloneKernel)(kernel, error);
    if (!clone || !IS_ON)
        return clone;
    LOCKED
    if (found(kernel, KERNEL)) {
        struct Kernel *to = &made(clone, KERNEL)->kernel, *from = &found(kernel, KERNEL)->kernel;
        *to = (struct Kernel){.of = from->of, .is_left_alone = from->is_left_alone};
        to->points_elsewhere = from->points_elsewhere;
        if ((to->arguments = allocated(calloc(from->count + 1, sizeof *to->arguments))))
            to->count = from->count;
        for (uint32_t i = 0; i < to->count; i++)
            set_argument(to, i, from->arguments[i]);
    }
    return clone;
}

/* What a call that has succeeded has set. */
static cl_int noted(cl_int status, cl_kernel kernel, cl_uint index, struct Argument given)
{
    if (status || !IS_ON)
        return status;
    LOCKED
    struct Object *object = found(kernel, KERNEL);
    if (object)
        set_argument(&object->kernel, index, given);
    return status;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    return noted(NEXT(clSetKernelArg)(kernel, index, size, value), kernel, index,
                 (struct Argument){value ? VALUE : EMPTY, size, (char *)value, NULL});
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *pointer)
{
    return noted(NEXT(clSetKernelArgSVMPointer)(kernel, index, pointer), kernel, index,
                 (struct Argument){pointer ? SHARED_MEMORY : EMPTY, sizeof pointer, NULL, pointer});
}

cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size, const void *value)
{
    cl_int status = NEXT(clSetKernelExecInfo)(kernel, name, size, value);
    if (!IS_ON || name != CL_KERNEL_EXEC_INFO_SVM_PTRS)
        return status;
    LOCKED
    struct Object *object = found(kernel, KERNEL);
    if (object) {
        object->kernel.points_elsewhere = 1;
        object->kernel.is_same = 0;
    }
    return status;
}

#include "launches.h"

/* --- The table. --- */

static const struct Replaced replaced[] = {
    REPLACED(clCreateCommandQueue), REPLACED(clCreateCommandQueueWithProperties), REPLACED(clReleaseCommandQueue),
    REPLACED(clGetCommandQueueInfo), REPLACED(clCreateUserEvent), REPLACED(clGetEventProfilingInfo),
    REPLACED(clWaitForEvents), REPLACED(clFinish), REPLACED(clEnqueueReadBuffer), REPLACED(clEnqueueReadBufferRect),
    REPLACED(clEnqueueWriteBuffer), REPLACED(clEnqueueWriteBufferRect), REPLACED(clEnqueueFillBuffer),
    REPLACED(clEnqueueCopyBuffer), REPLACED(clEnqueueCopyBufferRect), REPLACED(clEnqueueCopyBufferToImage),
    REPLACED(clEnqueueCopyImageToBuffer), REPLACED(clEnqueueMapBuffer), REPLACED(clEnqueueUnmapMemObject),
    REPLACED(clEnqueueReadImage), REPLACED(clEnqueueWriteImage), REPLACED(clEnqueueFillImage),
    REPLACED(clEnqueueCopyImage), REPLACED(clEnqueueMapImage),
    REPLACED(clCreateBuffer), REPLACED(clCreateBufferWithProperties), REPLACED(clCreateSubBuffer),
    REPLACED(clCreateImage2D), REPLACED(clCreateImage3D), REPLACED(clCreateImage),
    REPLACED(clCreateImageWithProperties), REPLACED(clSVMAlloc), REPLACED(clSVMFree), REPLACED(clCreateSampler),
    REPLACED(clCreateSamplerWithProperties), REPLACED(clCreateProgramWithSource), REPLACED(clRetainProgram),
    REPLACED(clReleaseProgram), REPLACED(clBuildProgram), REPLACED(clCompileProgram), REPLACED(clLinkProgram),
    REPLACED(clCreateKernel), REPLACED(clCreateKernelsInProgram), REPLACED(clCloneKernel), REPLACED(clRetainKernel),
    REPLACED(clReleaseKernel), REPLACED(clSetKernelArg), REPLACED(clSetKernelArgSVMPointer),
    REPLACED(clSetKernelExecInfo), REPLACED(clEnqueueNDRangeKernel), REPLACED(clEnqueueTask),
    REPLACED(clSetEventCallback),
};

static void add_functions(void **own, size_t known)
{
    put_functions(own, known, replaced, LENGTH(replaced));
}

/* A file of the recording; a process in another container may have the same number. */
static int file_of_process(const char *folder)
{
    for (int i = 0, file; i < 100; i++) {
        char name[sizeof here.start + 8];
        snprintf(here.start, sizeof here.start, "%s/%d-%d", folder, getpid(), i);
        snprintf(name, sizeof name, "%s.log", here.start);
        file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        if (file >= 0)
            return file;
    }
    return -1;
}

static void start(void)
{
    const char *folder = getenv("COARSEN_RECORDING");
    char left[sizeof here.start + 16], counts[sizeof here.start + 16], steps[sizeof here.start + 16];
    if (!folder || (here.log = file_of_process(folder)) < 0)
        return;
    snprintf(left, sizeof left, "%s/left", folder);
    snprintf(counts, sizeof counts, "%s.counts", here.start);
    snprintf(steps, sizeof steps, "%s.order", here.start);
    here.left = mapped(left, 2 * sizeof *here.left);
    here.counts = mapped(counts, MOST_KINDS * sizeof *here.counts);
    order = mapped(steps, sizeof *order);
    if (here.left && here.counts && order)
        turn_on();
}
