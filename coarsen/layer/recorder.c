/* A layer under the OpenCL loader (OPENCL_LAYERS) that counts, times and captures a program's launches.
 *
 *     program ─▶ loader ─▶ functions of this file ─▶ `next`: the loader's own, which calls the driver
 *                                  └─▶ FOLDER/PROCESS.log, .counts, .order, -NUMBER.content: read by `log.py`
 *
 * The log has records, each written at once, so that what was seen survives a crash: devices (D), texts of programs
 * with their options (U), kinds of launches (L with arguments, S by sizes alone), captures (C), notes (N). The counts
 * are a table in shared memory, a row for each kind of launch, and the order of all is a ring there (`order.h`). What a
 * program sees of its objects stays as it made them, though queues take times here and all buffers can be read by the
 * host.
 */
#define LAYER_NAME "coarsen's recorder"
#include "opencl.h"
#include "support.h"
#include "layer.h"
#include "entries.h"
#include "order.h"

enum { MOST_KINDS = 1 << 16, MOST_KINDS_OF_KERNEL = 4096, MOST_PENDING = 4096, MOST_TRIES = 3, DIMENSIONS = 3,
       ALL_TIMED = 256, TIMED_OF = 16, MOST_UNENDED = 16, MOST_TEXT = 1 << 26 };
#define HOST_BITS (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)

struct Count {
    uint64_t launches, timed, nanoseconds;
};

/* Where a recording goes. */
static struct {
    int log;
    char start[4096];
    struct Count *counts;
    uint64_t *left; /* shared by all processes: bytes that captures may still take, and what they might at first */
    size_t text;    /* bytes of all programs' texts in the log */
    uint32_t units, devices, kinds, contents, queues;
    int has_user_events;
    long patience; /* nanoseconds to wait for what is before a launch; less once that was in vain */
} here = {.patience = 60000000000};

/* Nanoseconds within which what the program itself may have to do is worth waiting for. */
#define SOON 2000000000L

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

struct Kernel {
    uint32_t unit, count;
    struct Argument *arguments;
    char *name;
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
    free(kernel->name);
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
    int before = set_cancelling(NOT_CANCELLED);
    if (IS_ON && write(here.log, record.data, record.size) != (long)record.size)
        *is_on = 0;
    set_cancelling(before);
}

/* The number of a key whose first byte is its kind; written when it comes first. */
static uint32_t numbered(const struct Bytes *key, uint32_t *count)
{
    int is_new;
    struct Entry *entry = entry_of(key->data, key->size, &is_new);
    if (!entry)
        return 0;
    if (is_new) {
        entry->number = (*count)++;
        write_record(key->data[0], entry->number, key->data + 1, key->size - 1);
    }
    return entry->number;
}

static void note(uint32_t kind, const char *text)
{
    lock();
    write_record('N', kind, text, strlen(text));
    unlock();
}

/* --- Queues, and the times that their events tell. --- */

static uint32_t device_number(cl_device_id device)
{
    char name[256] = "", platform[256] = "";
    cl_platform_id of = NULL;
    NEXT(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    if (!NEXT(clGetDeviceInfo)(device, CL_DEVICE_PLATFORM, sizeof of, &of, NULL))
        NEXT(clGetPlatformInfo)(of, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    struct Bytes key = {0};
    put8(&key, 'D');
    put_text(&key, name);
    put_text(&key, platform);
    lock();
    uint32_t number = numbered(&key, &here.devices);
    unlock();
    free(key.data);
    return number;
}

static void add_queue(cl_command_queue queue, cl_device_id device, int is_timed, int hides_times,
                      const cl_queue_properties *properties, cl_command_queue_properties given)
{
    uint32_t number = device_number(device);
    size_t size = 0;
    while (properties && properties[size])
        size += 2;
    lock();
    struct Object *object = made(queue, QUEUE);
    object->queue.device = number;
    object->queue.number = ++here.queues << 1 | (given & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    object->queue.is_timed = is_timed;
    object->queue.hides_times = hides_times;
    if (properties) {
        object->queue.byte_count = (size + 1) * sizeof *properties;
        object->queue.properties = (void *)copied(properties, object->queue.byte_count);
    }
    unlock();
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *error)
{
    cl_command_queue_properties timed = properties | CL_QUEUE_PROFILING_ENABLE;
    cl_command_queue queue = NEXT(clCreateCommandQueue)(context, device, IS_ON ? timed : properties, error);
    if (queue && IS_ON)
        add_queue(queue, device, 1, timed != properties, NULL, properties);
    return queue ? queue : NEXT(clCreateCommandQueue)(context, device, properties, error);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *properties, cl_int *error)
{
    cl_queue_properties timed[64] = {0};
    size_t size = 0, place = LENGTH(timed);
    for (; properties && properties[size] && size < LENGTH(timed) - 4; size += 2) {
        timed[size] = properties[size];
        timed[size + 1] = properties[size + 1];
        if (properties[size] == CL_QUEUE_PROPERTIES)
            place = size;
    }
    if (place == LENGTH(timed)) {
        place = size;
        timed[place] = CL_QUEUE_PROPERTIES;
    }
    cl_queue_properties before = timed[place + 1];
    timed[place + 1] |= CL_QUEUE_PROFILING_ENABLE;
    cl_command_queue queue = NULL;
    if (IS_ON && !(before & CL_QUEUE_ON_DEVICE))
        queue = NEXT(clCreateCommandQueueWithProperties)(context, device, timed, error);
    if (queue)
        add_queue(queue, device, 1, before != timed[place + 1], properties, before);
    return queue ? queue : NEXT(clCreateCommandQueueWithProperties)(context, device, properties, error);
}

/* Whether the program made a queue without profiling; with the properties that it gave. */
static int is_hiding_times(cl_command_queue queue, const cl_queue_properties **given, size_t *byte_count)
{
    lock();
    struct Object *object = found(queue, QUEUE);
    int hides_times = object && object->queue.hides_times;
    *given = hides_times ? object->queue.properties : NULL;
    *byte_count = hides_times ? object->queue.byte_count : 0;
    unlock();
    return hides_times;
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size, void *value, size_t *size_ret)
{
    const cl_queue_properties *given = NULL;
    size_t byte_count = 0;
    int hides_times = IS_ON && is_hiding_times(queue, &given, &byte_count);
    if (hides_times && name == CL_QUEUE_PROPERTIES_ARRAY)
        return answer(given, byte_count, size, value, size_ret);
    cl_int status = NEXT(clGetCommandQueueInfo)(queue, name, size, value, size_ret);
    if (!status && hides_times && name == CL_QUEUE_PROPERTIES && value)
        *(cl_command_queue_properties *)value &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
    return status;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void *value, size_t *size_ret)
{
    cl_command_queue queue = NULL;
    const cl_queue_properties *given;
    size_t byte_count;
    if (IS_ON && !NEXT(clGetEventInfo)(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL) &&
        is_hiding_times(queue, &given, &byte_count))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    return NEXT(clGetEventProfilingInfo)(event, name, size, value, size_ret);
}

/* Launches that have not ended, as far as is known: a ring. */
static struct {
    struct {
        cl_event event;
        uint32_t kind;
    } ring[MOST_PENDING];
    unsigned first, count;
} pending;

static void add_pending(cl_event event, uint32_t kind)
{
    lock();
    int has_room = pending.count < MOST_PENDING;
    if (has_room) {
        unsigned last = (pending.first + pending.count++) % MOST_PENDING;
        pending.ring[last].event = event;
        pending.ring[last].kind = kind;
    }
    unlock();
    if (!has_room)
        NEXT(clReleaseEvent)(event);
}

/* Look at pending launches until some that have not ended were found, and add up the times of those that have. Nothing is
 * waited for. */
static void harvest(unsigned most_unended)
{
    unsigned there = IS_ON ? __atomic_load_n(&pending.count, __ATOMIC_RELAXED) : 0;
    for (unsigned i = 0, unended = 0; unended < most_unended && i < there; i++) {
        lock();
        int is_any = pending.count > 0;
        cl_event event = pending.ring[pending.first].event;
        uint32_t kind = pending.ring[pending.first].kind;
        if (is_any) {
            pending.first = (pending.first + 1) % MOST_PENDING;
            pending.count--;
        }
        unlock();
        if (!is_any)
            return;
        cl_int state = -1;
        cl_ulong start = 0, end = 0;
        if (!NEXT(clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) && state > 0) {
            add_pending(event, kind);
            unended++;
            continue;
        }
        if (state == CL_COMPLETE &&
            !NEXT(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) &&
            !NEXT(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) && end >= start) {
            __atomic_fetch_add(&here.counts[kind].timed, 1, __ATOMIC_RELAXED);
            __atomic_fetch_add(&here.counts[kind].nanoseconds, end - start, __ATOMIC_RELAXED);
        }
        NEXT(clReleaseEvent)(event);
    }
}

static void add_object(struct Step *step, cl_mem memory)
{
    const struct Object *object = found(memory, MEMORY);
    add_memory(step, object ? object->memory.whole : 0, object && object->memory.is_part);
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
HARVESTING(clEnqueueCopyBufferToImage, note_step(READ, queue, from),
           (cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin, const size_t *region,
            cl_uint count, const cl_event *events, cl_event *event),
           (queue, from, to, offset, origin, region, count, events, event))
HARVESTING(clEnqueueCopyImageToBuffer, note_step(WRITE, queue, to),
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

cl_event clCreateUserEvent(cl_context context, cl_int *error)
{
    here.has_user_events = 1;
    return NEXT(clCreateUserEvent)(context, error);
}

/* --- Memory and samplers. --- */

static void CL_CALLBACK forget_memory(cl_mem memory, void *unused)
{
    (void)unused;
    if (!IS_ON)
        return;
    note_step(FREE, NULL, memory);
    lock();
    if (found(memory, MEMORY))
        forget(memory);
    unlock();
}

static cl_mem with_memory(cl_mem memory, cl_mem_flags flags, size_t size, int is_image)
{
    if (!memory || !IS_ON)
        return memory;
    lock();
    struct Object *object = made(memory, MEMORY);
    object->memory.size = size;
    object->memory.whole = ++objects.wholes;
    object->memory.hidden = flags & HOST_BITS;
    object->memory.is_image = is_image;
    unlock();
    NEXT(clSetMemObjectDestructorCallback)(memory, forget_memory, NULL);
    return memory;
}

/* So that what it holds can be read. */
static cl_mem_flags readable(cl_mem_flags flags)
{
    return IS_ON ? flags & ~(cl_mem_flags)HOST_BITS : flags;
}

#define MAKING_MEMORY(name, bytes, is_image, parameters, given)                                                      \
    cl_mem name parameters                                                                                           \
    {                                                                                                                \
        return with_memory(NEXT(name) given, flags, bytes, is_image);                                                \
    }

MAKING_MEMORY(clCreateBuffer, size, 0,
              (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error),
              (context, readable(flags), size, host, error))
MAKING_MEMORY(clCreateBufferWithProperties, size, 0,
              (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, size_t size, void *host,
               cl_int *error),
              (context, properties, readable(flags), size, host, error))
MAKING_MEMORY(clCreateImage, 0, 1,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *description,
               void *host, cl_int *error),
              (context, readable(flags), format, description, host, error))
MAKING_MEMORY(clCreateImageWithProperties, 0, 1,
              (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, const cl_image_format *format,
               const cl_image_desc *description, void *host, cl_int *error),
              (context, properties, readable(flags), format, description, host, error))
MAKING_MEMORY(clCreateImage2D, 0, 1,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width, size_t height,
               size_t row, void *host, cl_int *error),
              (context, readable(flags), format, width, height, row, host, error))
MAKING_MEMORY(clCreateImage3D, 0, 1,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width, size_t height,
               size_t depth, size_t row, size_t slice, void *host, cl_int *error),
              (context, readable(flags), format, width, height, depth, row, slice, host, error))

cl_mem clCreateSubBuffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void *region, cl_int *error)
{
    cl_mem part = NEXT(clCreateSubBuffer)(whole, readable(flags), type, region, error);
    if (!part || !IS_ON || type != CL_BUFFER_CREATE_TYPE_REGION)
        return part;
    const cl_buffer_region *given = region;
    with_memory(part, flags, given->size, 0);
    lock();
    struct Object *object = found(part, MEMORY), *of = found(whole, MEMORY);
    if (object && of) {
        object->memory.whole = of->memory.whole;
        object->memory.origin = given->origin;
        object->memory.is_part = 1;
        if (!(flags & (HOST_BITS | CL_MEM_HOST_READ_ONLY)))
            object->memory.hidden = of->memory.hidden;
    }
    unlock();
    return part;
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t size, void *value, size_t *size_ret)
{
    cl_int status = NEXT(clGetMemObjectInfo)(memory, name, size, value, size_ret);
    if (status || !value || name != CL_MEM_FLAGS || !IS_ON)
        return status;
    lock();
    struct Object *object = found(memory, MEMORY);
    if (object)
        *(cl_mem_flags *)value |= object->memory.hidden;
    unlock();
    return status;
}

static struct {
    struct Allocation {
        const char *start;
        size_t size;
        uint64_t whole;
    } *list;
    size_t count, room;
} allocations;

/* The allocation that a pointer leads into. */
static struct Allocation *allocation_of(const void *pointer)
{
    for (struct Allocation *each = allocations.list; each < allocations.list + allocations.count; each++)
        if ((const char *)pointer >= each->start && (const char *)pointer < each->start + each->size)
            return each;
    return NULL;
}

static void remove_allocation(const void *pointer)
{
    struct Allocation *gone = allocation_of(pointer);
    if (gone)
        *gone = allocations.list[--allocations.count];
}

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    void *start = NEXT(clSVMAlloc)(context, flags, size, alignment);
    if (!start || !IS_ON)
        return start;
    lock();
    /* Those that a queue has freed. */
    for (size_t i = allocations.count; i-- > 0;) {
        const struct Allocation *other = &allocations.list[i];
        if ((char *)other->start < (char *)start + size && (char *)start < (char *)other->start + other->size)
            allocations.list[i] = allocations.list[--allocations.count];
    }
    if (allocations.count == allocations.room) {
        size_t room = 2 * allocations.room + 64;
        struct Allocation *more = allocated(realloc(allocations.list, room * sizeof *more));
        if (more) {
            allocations.list = more;
            allocations.room = room;
        }
    }
    if (allocations.count < allocations.room)
        allocations.list[allocations.count++] = (struct Allocation){start, size, ++objects.wholes};
    unlock();
    return start;
}

void clSVMFree(cl_context context, void *start)
{
    if (IS_ON) {
        lock();
        remove_allocation(start);
        unlock();
    }
    NEXT(clSVMFree)(context, start);
}

static cl_sampler with_sampler(cl_sampler sampler)
{
    if (sampler && IS_ON) {
        lock();
        made(sampler, SAMPLER);
        unlock();
    }
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

/* --- Programs and kernels. --- */

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,
                                     const unsigned char **binaries, cl_int *states, cl_int *error)
{
    return with_program(NEXT(clCreateProgramWithBinary)(context, count, devices, sizes, binaries, states, error), BINARY, NULL,
                        0);
}

cl_program clCreateProgramWithIL(cl_context context, const void *code, size_t size, cl_int *error)
{
    return with_program(NEXT(clCreateProgramWithIL)(context, code, size, error), INTERMEDIATE, NULL, 0);
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                             const char *names, cl_int *error)
{
    return with_program(NEXT(clCreateProgramWithBuiltInKernels)(context, count, devices, names, error), BUILT_IN, NULL, 0);
}

static void count_references(cl_kernel kernel, int change)
{
    lock();
    struct Object *object = found(kernel, KERNEL);
    if (object && !(object->references += change))
        forget(kernel);
    unlock();
}

cl_int clRetainKernel(cl_kernel kernel)
{
    if (IS_ON)
        count_references(kernel, 1);
    return NEXT(clRetainKernel)(kernel);
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    harvest(2);
    if (IS_ON)
        count_references(kernel, -1);
    return NEXT(clReleaseKernel)(kernel);
}

static void add_kernel(cl_kernel kernel, cl_program program, const char *name)
{
    static struct Bytes key;
    lock();
    struct Object *of = found(program, PROGRAM), *object = made(kernel, KERNEL);
    enum Problem problem = of ? of->program.problem : BINARY;
    if (problem == NONE && (!of->program.source || here.text + of->program.size > MOST_TEXT))
        problem = TOO_LONG;
    key.size = 0;
    put8(&key, 'U');
    put8(&key, problem);
    put_text(&key, problem ? NULL : of->program.source);
    put_text(&key, problem ? NULL : of->program.options);
    uint32_t known = here.units;
    object->kernel.unit = numbered(&key, &here.units);
    here.text += here.units > known ? key.size : 0;
    object->kernel.is_left_alone = problem != NONE;
    object->kernel.name = copied_text(name);
    unlock();
}

static struct Argument *argument_of(struct Object *kernel, cl_uint index)
{
    if (index >= kernel->kernel.count) {
        size_t size = (index + 1) * sizeof *kernel->kernel.arguments;
        struct Argument *more = allocated(realloc(kernel->kernel.arguments, size));
        if (!more)
            return NULL;
        kernel->kernel.arguments = more;
        for (; kernel->kernel.count <= index; kernel->kernel.count++)
            kernel->kernel.arguments[kernel->kernel.count] = (struct Argument){0};
    }
    return &kernel->kernel.arguments[index];
}

static void set_argument(struct Object *kernel, cl_uint index, struct Argument given)
{
    struct Argument *argument = argument_of(kernel, index);
    if (!argument || (argument->form == given.form && argument->size == given.size &&
                      argument->pointer == given.pointer &&
                      (given.form != VALUE || !memcmp(argument->bytes, given.bytes, given.size))))
        return;
    char *bytes = argument->bytes;
    if (given.form != VALUE) {
        free(bytes);
        bytes = NULL;
    } else if (!bytes || argument->size < given.size) {
        free(bytes);
        bytes = copied(given.bytes, given.size);
    } else {
        memcpy(bytes, given.bytes, given.size);
    }
    *argument = given;
    argument->bytes = bytes;
    if (given.form == VALUE && !bytes)
        argument->form = UNSET;
    kernel->kernel.is_same = 0;
}

cl_kernel clCloneKernel(cl_kernel kernel, cl_int *error)
{
    cl_kernel clone = NEXT(clCloneKernel)(kernel, error);
    if (!clone || !IS_ON)
        return clone;
    lock();
    if (found(kernel, KERNEL)) {
        struct Object *to = made(clone, KERNEL), *from = found(kernel, KERNEL);
        to->kernel.unit = from->kernel.unit;
        to->kernel.is_left_alone = from->kernel.is_left_alone;
        to->kernel.points_elsewhere = from->kernel.points_elsewhere;
        to->kernel.name = copied_text(from->kernel.name);
        for (uint32_t i = 0; i < from->kernel.count; i++)
            set_argument(to, i, from->kernel.arguments[i]);
    }
    unlock();
    return clone;
}

static void note_argument(cl_kernel kernel, cl_uint index, struct Argument given)
{
    lock();
    struct Object *object = found(kernel, KERNEL);
    if (object)
        set_argument(object, index, given);
    unlock();
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    cl_int status = NEXT(clSetKernelArg)(kernel, index, size, value);
    if (!status && IS_ON)
        note_argument(kernel, index, (struct Argument){value ? VALUE : EMPTY, size, (char *)value, NULL});
    return status;
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *pointer)
{
    cl_int status = NEXT(clSetKernelArgSVMPointer)(kernel, index, pointer);
    if (!status && IS_ON)
        note_argument(kernel, index, (struct Argument){pointer ? SHARED_MEMORY : EMPTY, sizeof pointer, NULL, pointer});
    return status;
}

cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size, const void *value)
{
    if (IS_ON && name == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
        lock();
        struct Object *object = found(kernel, KERNEL);
        if (object)
            object->kernel.points_elsewhere = 1, object->kernel.is_same = 0;
        unlock();
    }
    return NEXT(clSetKernelExecInfo)(kernel, name, size, value);
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
    REPLACED(clCreateBuffer),
    REPLACED(clCreateBufferWithProperties), REPLACED(clCreateSubBuffer), REPLACED(clCreateImage2D),
    REPLACED(clCreateImage3D), REPLACED(clCreateImage), REPLACED(clCreateImageWithProperties),
    REPLACED(clGetMemObjectInfo), REPLACED(clSVMAlloc), REPLACED(clSVMFree), REPLACED(clCreateSampler),
    REPLACED(clCreateSamplerWithProperties), REPLACED(clCreateProgramWithSource), REPLACED(clCreateProgramWithBinary),
    REPLACED(clCreateProgramWithIL), REPLACED(clCreateProgramWithBuiltInKernels), REPLACED(clRetainProgram),
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
        file = open(name, WRITE_ONLY | CREATE | EXCLUSIVE | APPEND | CLOSE_ON_EXEC, 0600);
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
