/* Launches: what each passes as a key, and the first of each kernel and class of sizes captured. */

/* An argument as a launch passes it: of memory where it begins in the whole that it is part of. */
struct Passed {
    enum Form form;
    size_t size, origin;
    uint64_t whole;
    int is_image;
    const void *handle; /* a memory object, a sampler or a pointer */
    int is_part;
    uint64_t owner;
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
                                   memory->memory.is_image, handle, memory->memory.is_part, memory->memory.owner};
        if (found(handle, SAMPLER))
            return (struct Passed){SAMPLED, 0, 0, 0, 0, handle, 0};
    }
    if (argument->form == SHARED_MEMORY) {
        const struct Allocation *of = allocation_at(argument->pointer, 1);
        result.origin = of ? (const char *)argument->pointer - of->start : 0;
        result.size = of ? of->size - result.origin : 0;
        result.whole = of ? of->whole : 0;
    }
    return result;
}

static int is_memory(const struct Passed *each)
{
    return each->form == REGION || (each->form == SHARED_MEMORY && each->whole);
}

/* What tells arguments from others: which buffer it is does not matter, only whether others are the same. */
static void put_arguments(struct Bytes *key, const struct Kernel *kernel, const struct Passed *all)
{
    put32(key, kernel->count);
    for (uint32_t i = 0; i < kernel->count; i++) {
        const struct Passed *each = &all[i];
        put8(key, each->form);
        put64(key, each->size);
        if (each->form == VALUE)
            put(key, kernel->arguments[i].bytes, each->size);
        if (each->form != REGION && each->form != SHARED_MEMORY)
            continue;
        uint32_t first = i, is_shared = 0; /* the first argument with memory of this whole, and whether another one has some */
        for (uint32_t j = 0; j < kernel->count; j++)
            if (j != i && is_memory(&all[j]) && all[j].whole == each->whole) {
                first = j < first ? j : first;
                is_shared = 1;
            }
        put32(key, first);
        put64(key, is_shared ? each->origin : 0);
        put8(key, each->is_image);
        put8(key, is_memory(each));
    }
}

static void start_key(struct Bytes *key, char kind, const struct Kernel *kernel, uint32_t device)
{
    key->size = 0;
    put8(key, kind);
    put32(key, kernel->of->number);
    put32(key, device);
}

/* The entry of a kind of launch: with its arguments, or by sizes alone where a kernel has too many; NULL if all are
 * too many. */
static struct Entry *kind_of_launch(const struct Kernel *kernel, uint32_t device, const struct Sizes *sizes,
                                    const struct Passed *all)
{
    static struct Bytes key;
    start_key(&key, 'L', kernel, device);
    put(&key, sizes, sizeof *sizes);
    size_t by_sizes = key.size;
    put_arguments(&key, kernel, all);
    struct Entry *known = known_entry(&key);
    if (!known && kernel->of->kinds++ >= MOST_KINDS_OF_KERNEL) {
        key.data[0] = 'S';
        key.size = by_sizes;
        known = known_entry(&key);
    }
    return known || here.kinds == MOST_KINDS ? known : numbered(&key, &here.kinds);
}

/* The entry of a class of sizes, as `SizeClass` of Python has it; NULL where there are no work-items. */
static struct Entry *class_of_launch(const struct Kernel *kernel, uint32_t device, const struct Sizes *sizes)
{
    static struct Bytes key;
    int is_one = 1;
    start_key(&key, 'c', kernel, device);
    for (cl_uint i = 0; i < sizes->dimensions; i++) {
        if (!sizes->global[i])
            return NULL;
        int zeros = __builtin_ctzl(sizes->global[i]);
        put8(&key, 63 - __builtin_clzl(sizes->global[i]));
        put8(&key, zeros < 15 ? zeros : 15);
        is_one &= sizes->global[i] == 1;
    }
    put8(&key, sizes->has_local);
    put(&key, sizes->local, sizeof sizes->local);
    struct Entry *class = known_entry(&key);
    if (!class) {
        class = new_entry(&key);
        class->tries = is_one || !here.left[1] || kernel->is_left_alone ? 0 : MOST_TRIES;
    }
    return class;
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
        nanosleep(&(struct timespec){0, step}, NULL);
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
    enum { FORMAT, ELEMENT, WIDTH, HEIGHT, DEPTH, LAYERS, COUNT_OF_INFOS };
    static const cl_image_info names[] = {CL_IMAGE_FORMAT, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_WIDTH,
                                          CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH,        CL_IMAGE_ARRAY_SIZE};
    cl_mem_object_type type = 0;
    cl_mem of = NULL;
    size_t infos[COUNT_OF_INFOS] = {0}; /* a format is as large as a size */
    cl_int status = NEXT(clGetMemObjectInfo)(image, CL_MEM_TYPE, sizeof type, &type, NULL);
    status |= NEXT(clGetMemObjectInfo)(image, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL);
    for (int i = 0; i < COUNT_OF_INFOS; i++)
        status |= NEXT(clGetImageInfo)(image, names[i], sizeof *infos, &infos[i], NULL);
    put32(meta, type);
    put32(meta, of != NULL);
    put(meta, infos, sizeof infos);
    for (int i = 0; i < DIMENSIONS; i++)
        region[i] = infos[WIDTH + i] ? infos[WIDTH + i] : 1;
    if (infos[LAYERS])
        region[infos[HEIGHT] ? 2 : 1] = infos[LAYERS];
    *size = infos[ELEMENT] * region[0] * region[1] * region[2];
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
    if (__atomic_fetch_sub(here.left, size, __ATOMIC_RELAXED) >= (long)size)
        return 1;
    __atomic_fetch_add(here.left, size, __ATOMIC_RELAXED);
    return 0;
}

/* Read memory or an image into memory of the host: by a copy where the host may not read what the program made. */
static cl_int read_content(cl_command_queue queue, const struct Passed *each, const size_t *region, size_t size, char *content)
{
    cl_context context = NULL;
    cl_event copied = NULL;
    cl_mem memory = (cl_mem)each->handle, of = NULL;
    cl_mem_flags flags = 0;
    const size_t origin[DIMENSIONS] = {0};
    if (each->form == SHARED_MEMORY)
        return NEXT(clEnqueueSVMMemcpy)(queue, CL_TRUE, content, each->handle, size, 0, NULL, NULL);
    NEXT(clGetMemObjectInfo)(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    NEXT(clGetMemObjectInfo)(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL);
    int is_readable = !(flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS));
    /* PoCL 3.1 crashes where it copies an image made of a buffer. */
    if (each->is_image && (is_readable || of))
        return NEXT(clEnqueueReadImage)(queue, memory, CL_TRUE, origin, region, 0, 0, content, 0, NULL, NULL);
    if (is_readable)
        return NEXT(clEnqueueReadBuffer)(queue, memory, CL_TRUE, 0, size, content, 0, NULL, NULL);
    cl_int status = NEXT(clGetCommandQueueInfo)(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    cl_mem copy = status ? NULL : NEXT(clCreateBuffer)(context, 0, size, NULL, &status);
    if (!copy)
        return status;
    if (each->is_image)
        status = NEXT(clEnqueueCopyImageToBuffer)(queue, memory, copy, origin, region, 0, 0, NULL, &copied);
    else
        status = NEXT(clEnqueueCopyBuffer)(queue, memory, copy, 0, 0, size, 0, NULL, &copied);
    if (!status) {
        status = NEXT(clEnqueueReadBuffer)(queue, copy, CL_TRUE, 0, size, content, 1, &copied, NULL);
        NEXT(clReleaseEvent)(copied);
    }
    NEXT(clReleaseMemObject)(copy);
    return status;
}

/* A launch's contents before it is made, which are kept if it then succeeds. */
struct Capture {
    struct Entry *class; /* of its sizes; NULL where this launch is not to be captured */
    struct Bytes meta;
    uint64_t used;
    uint32_t number, tries; /* tries: that are left where this one fails */
    int is_whole;
};

/* Read what one argument holds to the end of a file. Returns what went wrong, NULL if nothing did. */
static const char *read_argument(struct Capture *capture, cl_command_queue queue, const struct Passed *each, int file)
{
    size_t region[DIMENSIONS], size = each->size;
    if (each->is_image && !put_image(&capture->meta, (cl_mem)each->handle, region, &size))
        return "the driver does not say what an image of it is";
    put64(&capture->meta, size);
    if (!taken(size))
        return "its buffers and images hold more than may still be recorded (--most-bytes)";
    capture->used += size;
    char *content = malloc(size ? size : 1);
    if (!content)
        return "there is not enough memory for a copy of its buffers";
    cl_int status = read_content(queue, each, region, size, content);
    size_t done = 0;
    for (long now = 1; !status && done < size && now > 0; done += now > 0 ? now : 0)
        now = write(file, content + done, size - done);
    free(content);
    return status ? "what its buffers or images hold can't be read" : done < size ? "the disk is full" : NULL;
}

static void name_content(const struct Capture *capture, char *path, size_t size)
{
    snprintf(path, size, "%s-%u.content", here.start, capture->number);
}

/* Read what a launch is given. Returns what went wrong, NULL if nothing did. */
static const char *captured(struct Capture *capture, cl_command_queue queue, const struct Passed *all, uint32_t count)
{
    char path[sizeof here.start + 32];
    capture->number = __atomic_fetch_add(&here.contents, 1, __ATOMIC_RELAXED);
    name_content(capture, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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
            problem = read_argument(capture, queue, &all[i], file);
    }
    close(file);
    return problem;
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
    LOCKED
    if (is_kept)
        write_record('C', kind, capture->meta.data, capture->meta.size);
    capture->class->tries = is_kept ? 0 : capture->tries;
    free(capture->meta.data);
}

/* What is known of a launch that is about to be made; NULL where it can't be counted. It is captured where it is the
 * first of its class. */
static struct Entry *seen(cl_command_queue queue, cl_kernel handle, const struct Sizes *sizes, cl_uint event_count,
                          const cl_event *events, int *is_timed, struct Capture *capture, struct Step *step)
{
    struct Queue of_queue = queue_of(queue);
    lock();
    struct Object *object = found(handle, KERNEL);
    struct Kernel *kernel = object ? &object->kernel : NULL;
    struct Entry *kind = kernel ? kernel->last : NULL, *class = kernel ? kernel->last_class : NULL;
    uint32_t device = of_queue.device, count = kernel ? kernel->count : 0;
    *is_timed = of_queue.is_timed;
    int is_as_before = kernel && kernel->is_same && class && !class->tries && kernel->last_device == device &&
                       kernel->last_wholes == wholes && !memcmp(&kernel->last_sizes, sizes, sizeof *sizes);
    if (is_as_before) {
        *step = kernel->last_step;
        step->queue = of_queue.number;
    }
    if (!kernel || is_as_before) {
        unlock();
        return kind;
    }
    struct Passed all[count + 1];
    for (uint32_t i = 0; i < count; i++)
        all[i] = passed(&kernel->arguments[i]);
    kind = kernel->last = kind_of_launch(kernel, device, sizes, all);
    class = kernel->last_class = class_of_launch(kernel, device, sizes);
    *step = (struct Step){LAUNCH, kind ? kind->number : NOT_KNOWN, of_queue.number, 0, {0}};
    for (uint32_t i = 0; i < count; i++)
        if (all[i].form == REGION || all[i].form == SHARED_MEMORY)
            add_memory(step, all[i].form == REGION ? all[i].owner : 0, all[i].is_part);
    if (kernel->points_elsewhere)
        step->count = NOT_KNOWN;
    kernel->last_step = *step;
    kernel->last_device = device;
    kernel->last_wholes = wholes;
    kernel->last_sizes = *sizes;
    kernel->is_same = 1;
    /* One that was counted by its sizes alone has no arguments in the log; in a callback nothing may be waited for. */
    if (class && class->tries && kind && kind->key[0] == 'L' && !callbacks) {
        *capture = (struct Capture){.class = class, .tries = class->tries - 1};
        class->tries = 0; /* Nobody else captures it meanwhile. */
    }
    int points_elsewhere = kernel->points_elsewhere;
    unlock();
    if (!capture->class)
        return kind;
    int before = set_cancelling(PTHREAD_CANCEL_DISABLE), is_ready = points_elsewhere || waited(queue, event_count, events);
    const char *problem = points_elsewhere ? "it uses shared virtual memory that is no argument"
                          : is_ready       ? captured(capture, queue, all, count)
                                           : "what comes before it did not end in time";
    capture->is_whole = !problem;
    if (problem)
        note(kind->number, problem);
    if (problem && is_ready)
        capture->tries = 0;
    set_cancelling(before);
    return kind;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint event_count, const cl_event *events,
                              cl_event *event)
{
    int is_timed = 0;
    struct Capture capture = {0};
    struct Entry *kind = NULL;
    struct Step step = {.kind = NOT_KNOWN, .count = NOT_KNOWN};
    if (IS_ON && global && dimensions >= 1 && dimensions <= DIMENSIONS) {
        struct Sizes sizes = {.dimensions = dimensions, .has_local = local != NULL};
        memcpy(sizes.global, global, dimensions * sizeof *global);
        if (local)
            memcpy(sizes.local, local, dimensions * sizeof *local);
        if (offset)
            memcpy(sizes.offset, offset, dimensions * sizeof *offset);
        harvest(2);
        kind = seen(queue, kernel, &sizes, event_count, events, &is_timed, &capture, &step);
    }
    /* Of a kind that is launched often, some times tell the others. */
    uint64_t number = kind ? __atomic_fetch_add(&here.counts[kind->number].launches, 1, __ATOMIC_RELAXED) : 0;
    is_timed &= kind && (number < ALL_TIMED || number % TIMED_OF == 0);
    cl_event own = NULL, *told = event || !is_timed ? event : &own;
    cl_int status = NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, event_count, events, told);
    if (status && kind)
        __atomic_fetch_sub(&here.counts[kind->number].launches, 1, __ATOMIC_RELAXED);
    if (capture.class)
        end_capture(&capture, kind->number, !status);
    if (!status && IS_ON)
        add_step(&step);
    if (status || !is_timed)
        return status;
    if (event)
        NEXT(clRetainEvent)(*event);
    if (capture.is_whole) {
        /* Nothing is before it: of each class one time is known, unless it waits for the program itself. */
        NEXT(clFlush)(queue);
        state_after(*told, SOON);
    }
    add_pending(*told, kind->number);
    if (capture.is_whole)
        harvest(MOST_UNENDED);
    return status;
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event *events, cl_event *event)
{
    size_t one = 1;
    return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, count, events, event);
}
