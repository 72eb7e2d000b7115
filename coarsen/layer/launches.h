/* Launches: what each passes as a key, and the first of each kernel and class of sizes captured. */

/* An argument as a launch passes it: of memory where it begins in the whole that it is part of. */
struct Passed {
    enum Form form;
    size_t size, origin;
    uint64_t whole;
    int is_image;
    const void *handle; /* a memory object, a sampler or a pointer */
    int is_part;
};

static struct Passed passed(const struct Argument *argument)
{
    struct Passed result = {argument->form, argument->size, 0, 0, 0, argument->pointer, 0};
    if (argument->form == VALUE && argument->size == sizeof result.handle) {
        const void *handle;
        memcpy(&handle, argument->bytes, sizeof handle);
        struct Object *memory = found(handle, MEMORY);
        if (memory)
            return (struct Passed){REGION, memory->memory.size, memory->memory.origin, memory->memory.whole,
                                   memory->memory.is_image, handle, memory->memory.is_part};
        if (found(handle, SAMPLER))
            return (struct Passed){SAMPLED, 0, 0, 0, 0, handle, 0};
    }
    if (argument->form == SHARED_MEMORY && argument->pointer) {
        struct Allocation *of = allocation_of(argument->pointer);
        size_t origin = of ? (const char *)argument->pointer - of->start : 0;
        result.size = of ? of->size - origin : 0;
        result.origin = origin;
        result.whole = of ? of->whole : 0;
    }
    return result;
}

static int is_memory(const struct Passed *each)
{
    return each->form == REGION || (each->form == SHARED_MEMORY && each->whole);
}

/* The first argument with memory of the same whole; its own index where it is the only one. */
static uint32_t first_of_whole(const struct Passed *all, uint32_t count, uint32_t index, int *is_shared)
{
    uint32_t first = index;
    *is_shared = 0;
    for (uint32_t i = count; i-- > 0;)
        if (i != index && is_memory(&all[i]) && all[i].whole == all[index].whole) {
            *is_shared = 1;
            first = i < first ? i : first;
        }
    return first;
}

static void put_sizes(struct Bytes *key, const struct Sizes *sizes)
{
    put8(key, sizes->dimensions);
    put8(key, sizes->has_local);
    put(key, sizes->global, sizes->dimensions * sizeof *sizes->global);
    if (sizes->has_local)
        put(key, sizes->local, sizes->dimensions * sizeof *sizes->local);
    put(key, sizes->offset, sizes->dimensions * sizeof *sizes->offset);
}

static void put_arguments(struct Bytes *key, const struct Object *kernel, const struct Passed *all)
{
    uint32_t count = kernel->kernel.count;
    put32(key, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct Passed *each = &all[i];
        int is_shared;
        put8(key, each->form);
        put64(key, each->size);
        if (each->form == VALUE)
            put(key, kernel->kernel.arguments[i].bytes, each->size);
        if (each->form != REGION && each->form != SHARED_MEMORY)
            continue;
        /* Which buffer it is does not matter, only whether others are the same. */
        put32(key, first_of_whole(all, count, i, &is_shared));
        put64(key, is_shared ? each->origin : 0);
        put8(key, each->is_image);
        put8(key, is_memory(each));
    }
}

/* The class of sizes, as `SizeClass` of Python has it. */
static void put_class(struct Bytes *key, const struct Sizes *sizes)
{
    for (cl_uint i = 0; i < sizes->dimensions; i++) {
        int zeros = __builtin_ctzl(sizes->global[i]);
        put8(key, 63 - __builtin_clzl(sizes->global[i]));
        put8(key, zeros < 15 ? zeros : 15);
    }
    if (sizes->has_local)
        put(key, sizes->local, sizes->dimensions * sizeof *sizes->local);
}

static void start_key(struct Bytes *key, char kind, uint32_t device, const struct Object *kernel)
{
    key->size = 0;
    put8(key, kind);
    put32(key, kernel->kernel.unit);
    put32(key, device);
    put_text(key, kernel->kernel.name);
}

/* The entry of a kind of launch: with its arguments, or by sizes alone where a kernel has too many; NULL if all are
 * too many. */
static struct Entry *kind_of_launch(struct Object *kernel, uint32_t device, const struct Sizes *sizes,
                                    const struct Passed *all)
{
    static struct Bytes key;
    int is_new;
    start_key(&key, 'K', 0, kernel);
    struct Entry *of_kernel = entry_of(key.data, key.size, &is_new);
    if (!of_kernel)
        return NULL;
    start_key(&key, 'L', device, kernel);
    put_sizes(&key, sizes);
    size_t by_sizes = key.size;
    put_arguments(&key, kernel, all);
    struct Entry **known = place_of_entry(hash_of(key.data, key.size), key.data, key.size);
    if (!*known && of_kernel->number++ >= MOST_KINDS_OF_KERNEL) {
        key.data[0] = 'S';
        key.size = by_sizes;
        known = place_of_entry(hash_of(key.data, key.size), key.data, key.size);
    }
    if (*known)
        return *known;
    if (here.kinds == MOST_KINDS)
        return NULL;
    numbered(&key, &here.kinds);
    return entry_of(key.data, key.size, &is_new);
}

enum { WANTED, BUSY, DONE };

static struct Entry *class_of_launch(struct Object *kernel, uint32_t device, const struct Sizes *sizes)
{
    static struct Bytes key;
    int is_new, is_one = 1;
    start_key(&key, 'C', device, kernel);
    for (cl_uint i = 0; i < sizes->dimensions; i++) {
        is_one &= sizes->global[i] == 1;
        if (!sizes->global[i])
            return NULL;
    }
    put_class(&key, sizes);
    struct Entry *entry = entry_of(key.data, key.size, &is_new);
    if (entry && (is_one || !here.left[1]))
        entry->state = DONE;
    return entry;
}

/* The state of an event's command when it ends, or after so many nanoseconds; negative for an error. */
static cl_int state_after(cl_event event, long left)
{
    cl_int state = 1;
    for (long step = 20000; left > 0; left -= step, step = step < 5000000 ? 2 * step : step) {
        if (NEXT(clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL))
            return -1;
        if (state <= 0)
            break;
        nanosleep(&(struct Time){0, step}, NULL);
    }
    return state;
}

/* Wait until all that a launch depends on has ended; 0 if that can't be known or takes too long, as when it waits for
 * something that the program has yet to do. */
static int waited(cl_command_queue queue, cl_uint count, const cl_event *events)
{
    cl_event first = NULL, last = NULL;
    for (cl_uint i = 0; i < count; i++) {
        cl_command_queue other = NULL;
        NEXT(clGetEventInfo)(events[i], CL_EVENT_COMMAND_QUEUE, sizeof other, &other, NULL);
        if (other)
            NEXT(clFlush)(other);
    }
    if (count && NEXT(clEnqueueMarkerWithWaitList)(queue, count, events, &first))
        return 0;
    cl_int state = -1;
    if (!NEXT(clEnqueueMarkerWithWaitList)(queue, 0, NULL, &last)) {
        NEXT(clFlush)(queue);
        state = state_after(last, here.has_user_events && here.patience > SOON ? SOON : here.patience);
        NEXT(clReleaseEvent)(last);
    }
    if (first)
        NEXT(clReleaseEvent)(first);
    if (state > 0)
        here.patience = SOON / 100;
    return state == CL_COMPLETE;
}

/* What an image is, as `log.py` reads it; 0 where the driver does not say. */
static int put_image(struct Bytes *meta, cl_mem image, size_t region[DIMENSIONS], size_t *size)
{
    cl_mem_object_type type = 0;
    cl_mem of = NULL;
    cl_image_format format = {0};
    size_t extents[4] = {0}, element = 0;
    const cl_image_info names[] = {CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE};
    cl_int status = NEXT(clGetMemObjectInfo)(image, CL_MEM_TYPE, sizeof type, &type, NULL);
    status |= NEXT(clGetMemObjectInfo)(image, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL);
    status |= NEXT(clGetImageInfo)(image, CL_IMAGE_FORMAT, sizeof format, &format, NULL);
    status |= NEXT(clGetImageInfo)(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    for (size_t i = 0; i < LENGTH(names); i++)
        status |= NEXT(clGetImageInfo)(image, names[i], sizeof *extents, &extents[i], NULL);
    put32(meta, type);
    put32(meta, format.image_channel_order);
    put32(meta, format.image_channel_data_type);
    put32(meta, of != NULL);
    put(meta, extents, sizeof extents);
    for (int i = 0; i < DIMENSIONS; i++)
        region[i] = extents[i] ? extents[i] : 1;
    if (extents[3])
        region[extents[1] ? 2 : 1] = extents[3];
    *size = element * region[0] * region[1] * region[2];
    return !status;
}

static void put_sampler(struct Bytes *meta, cl_sampler sampler)
{
    const cl_sampler_info names[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE};
    for (size_t i = 0; i < LENGTH(names); i++) {
        cl_uint value = 0;
        NEXT(clGetSamplerInfo)(sampler, names[i], sizeof value, &value, NULL);
        put32(meta, value);
    }
}

/* Take bytes of those that captures may still have; 0 where they don't suffice. */
static int taken(uint64_t size)
{
    uint64_t left = __atomic_load_n(here.left, __ATOMIC_RELAXED);
    while (size <= left)
        if (__atomic_compare_exchange_n(here.left, &left, left - size, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return 1;
    return 0;
}

/* Read what one argument holds to the end of a file. Returns what went wrong, NULL if nothing did. */
static const char *read_argument(cl_command_queue queue, const struct Passed *each, struct Bytes *meta, int file,
                                 uint64_t *used)
{
    size_t region[DIMENSIONS], size = each->size;
    if (each->is_image && !put_image(meta, (cl_mem)each->handle, region, &size))
        return "the driver does not say what an image of it is";
    put64(meta, size);
    if (!taken(size))
        return "its buffers and images hold more than may still be recorded (--most-bytes)";
    *used += size;
    char *content = malloc(size ? size : 1);
    if (!content)
        return "there is not enough memory for a copy of its buffers";
    cl_int status;
    if (each->is_image)
        status = NEXT(clEnqueueReadImage)(queue, (cl_mem)each->handle, CL_TRUE, (size_t[DIMENSIONS]){0}, region, 0, 0,
                                          content, 0, NULL, NULL);
    else if (each->form == SHARED_MEMORY)
        status = NEXT(clEnqueueSVMMemcpy)(queue, CL_TRUE, content, each->handle, size, 0, NULL, NULL);
    else
        status = NEXT(clEnqueueReadBuffer)(queue, (cl_mem)each->handle, CL_TRUE, 0, size, content, 0, NULL, NULL);
    size_t done = 0;
    for (long now = 1; !status && done < size && now > 0; done += now > 0 ? now : 0)
        now = write(file, content + done, size - done);
    free(content);
    return status ? "what its buffers or images hold can't be read" : done < size ? "the disk is full" : NULL;
}

/* A launch's contents before it is made, which are kept if it then succeeds. */
struct Capture {
    struct Entry *class; /* of its sizes; NULL where this launch is not to be captured */
    struct Bytes meta;
    uint64_t used;
    uint32_t number;
    int is_whole;
};

static void name_content(const struct Capture *capture, char *path, size_t size)
{
    snprintf(path, size, "%s-%u.content", here.start, capture->number);
}

/* Read what a launch is given. Returns 0 if another that is like it may be captured instead. */
static int captured(struct Capture *capture, cl_command_queue queue, uint32_t kind, const struct Passed *all,
                    uint32_t count, cl_uint event_count, const cl_event *events)
{
    if (!waited(queue, event_count, events)) {
        note(kind, "what comes before it did not end in time");
        return 0;
    }
    char path[sizeof here.start + 32];
    capture->number = __atomic_fetch_add(&here.contents, 1, __ATOMIC_RELAXED);
    name_content(capture, path, sizeof path);
    int file = open(path, WRITE_ONLY | CREATE | EXCLUSIVE | CLOSE_ON_EXEC, 0600);
    const char *problem = file < 0 ? "a file can't be made in the folder of the recording" : NULL;
    put32(&capture->meta, capture->number);
    for (uint32_t i = 0; i < count && !problem; i++) {
        enum Form form = all[i].form;
        for (uint32_t j = 0; j < i && is_memory(&all[i]); j++)
            if (all[j].handle == all[i].handle && is_memory(&all[j]))
                form = AGAIN;
        put8(&capture->meta, form);
        if (form == SAMPLED)
            put_sampler(&capture->meta, (cl_sampler)all[i].handle);
        else if (form != AGAIN && is_memory(&all[i]))
            problem = read_argument(queue, &all[i], &capture->meta, file, &capture->used);
    }
    close(file);
    capture->is_whole = !problem;
    if (problem)
        note(kind, problem);
    return 1;
}

/* Keep what was captured of a launch that was made; of one that failed nothing, so that another one may be captured. */
static void end_capture(struct Capture *capture, uint32_t kind, int is_made)
{
    char path[sizeof here.start + 32];
    int is_kept = capture->is_whole && is_made;
    if (capture->meta.size && !is_kept) {
        name_content(capture, path, sizeof path);
        unlink(path);
        __atomic_fetch_add(here.left, capture->used, __ATOMIC_RELAXED);
    }
    lock();
    if (is_kept)
        write_record('C', kind, capture->meta.data, capture->meta.size);
    if (capture->is_whole)
        capture->class->state = is_made || ++capture->class->tries == MOST_TRIES ? DONE : WANTED;
    unlock();
    free(capture->meta.data);
}

/* What is known of a launch that is about to be made; NULL where it can't be counted. It is captured where it is the
 * first of its class. */
static struct Entry *seen(cl_command_queue queue, cl_kernel kernel, const struct Sizes *sizes, cl_uint event_count,
                          const cl_event *events, int *is_timed, struct Capture *capture, struct Step *step)
{
    lock();
    struct Object *of_queue = found(queue, QUEUE), *object = found(kernel, KERNEL);
    if (!of_queue) {
        /* Made by an extension, whose functions are in no table. */
        unlock();
        cl_device_id device = NULL;
        if (NEXT(clGetCommandQueueInfo)(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL))
            return NULL;
        cl_command_queue_properties properties = 0;
        NEXT(clGetCommandQueueInfo)(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
        add_queue(queue, device, (properties & CL_QUEUE_PROFILING_ENABLE) != 0, 0, NULL, properties);
        lock();
        of_queue = found(queue, QUEUE);
        object = found(kernel, KERNEL);
    }
    if (!object || !of_queue) {
        unlock();
        return NULL;
    }
    *is_timed = of_queue->queue.is_timed;
    uint32_t device = of_queue->queue.device;
    struct Entry *entry = object->kernel.last, *class = object->kernel.last_class;
    if (object->kernel.is_same && class && class->state == DONE && object->kernel.last_device == device &&
        object->kernel.last_wholes == objects.wholes && !memcmp(&object->kernel.last_sizes, sizes, sizeof *sizes)) {
        *step = object->kernel.last_step;
        step->queue = of_queue->queue.number;
        unlock();
        return entry;
    }
    uint32_t count = object->kernel.count;
    struct Passed few[32], *all = count <= LENGTH(few) ? few : allocated(malloc(count * sizeof *all));
    if (!all) {
        unlock();
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        all[i] = passed(&object->kernel.arguments[i]);
    entry = kind_of_launch(object, device, sizes, all);
    class = class_of_launch(object, device, sizes);
    *step = (struct Step){LAUNCH, entry ? entry->number : NOT_KNOWN, of_queue->queue.number, 0, {0}};
    for (uint32_t i = 0; i < count; i++)
        if (all[i].form == REGION || all[i].form == SHARED_MEMORY)
            add_memory(step, all[i].form == REGION ? all[i].whole : 0, all[i].is_part);
    if (object->kernel.points_elsewhere)
        step->count = NOT_KNOWN;
    object->kernel.last_step = *step;
    object->kernel.last = entry;
    object->kernel.last_class = class;
    object->kernel.last_device = device;
    object->kernel.last_wholes = objects.wholes;
    object->kernel.last_sizes = *sizes;
    object->kernel.is_same = 1;
    int points_elsewhere = object->kernel.points_elsewhere;
    /* One that was counted by its sizes alone has no arguments in the log; in a callback nothing may be waited for. */
    int is_wanted = class && class->state == WANTED && entry && entry->key[0] == 'L' && !object->kernel.is_left_alone &&
                    !callbacks;
    if (is_wanted)
        class->state = BUSY;
    unlock();
    if (is_wanted) {
        int before = set_cancelling(NOT_CANCELLED);
        if (points_elsewhere)
            note(entry->number, "it uses shared virtual memory that is no argument");
        else if (captured(capture, queue, entry->number, all, count, event_count, events))
            capture->class = class;
        lock();
        if (!capture->is_whole)
            class->state = capture->class || points_elsewhere || ++class->tries == MOST_TRIES ? DONE : WANTED;
        unlock();
        set_cancelling(before);
    }
    if (all != few)
        free(all);
    return entry;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint event_count, const cl_event *events,
                              cl_event *event)
{
    int is_timed = 0;
    struct Capture capture = {0};
    struct Entry *entry = NULL;
    struct Step step = {.kind = NOT_KNOWN, .count = NOT_KNOWN};
    if (IS_ON && global && dimensions >= 1 && dimensions <= DIMENSIONS) {
        struct Sizes sizes = {.dimensions = dimensions, .has_local = local != NULL};
        memcpy(sizes.global, global, dimensions * sizeof *global);
        if (local)
            memcpy(sizes.local, local, dimensions * sizeof *local);
        if (offset)
            memcpy(sizes.offset, offset, dimensions * sizeof *offset);
        harvest(2);
        entry = seen(queue, kernel, &sizes, event_count, events, &is_timed, &capture, &step);
    }
    /* Of a kind that is launched often, some times tell the others. */
    uint64_t number = entry ? __atomic_fetch_add(&here.counts[entry->number].launches, 1, __ATOMIC_RELAXED) : 0;
    is_timed &= number < ALL_TIMED || number % TIMED_OF == 0;
    cl_event own = NULL, *told = event || !entry || !is_timed ? event : &own;
    cl_int status = NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, event_count, events, told);
    if (status && entry)
        __atomic_fetch_sub(&here.counts[entry->number].launches, 1, __ATOMIC_RELAXED);
    if (capture.class)
        end_capture(&capture, entry->number, !status);
    if (!status && IS_ON)
        add_step(&step);
    if (status || !entry || !is_timed)
        return status;
    if (event)
        NEXT(clRetainEvent)(*event);
    if (capture.class) {
        /* Nothing is before it: of each class one time is known, unless it waits for the program itself. */
        NEXT(clFlush)(queue);
        state_after(*told, SOON);
    }
    add_pending(*told, entry->number);
    if (capture.class)
        harvest(MOST_UNENDED);
    return status;
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event *events, cl_event *event)
{
    size_t one = 1;
    return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, count, events, event);
}
