/* Programs: the texts and build options by which they are known; their kernels; and whether a thread is in a callback of a
 * driver, in which nothing may be waited for. */

/* Give up what was built for a program, and what a kernel had that is gone; both without the lock. */
static void release_variants(struct Variants *variants);
static void give_back(struct Kernel *kernel);
static void add_kernel(cl_kernel kernel, cl_program program, const char *name);

static __thread int callbacks; /* that this thread is in */

struct Callback {
    void *notify, *data;
};

/* A callback of the program's that is called in the place of one of ours. */
static struct Callback entered(struct Callback *given)
{
    struct Callback callback = *given;
    free(given);
    callbacks++;
    return callback;
}

static void CL_CALLBACK call_when_built(cl_program program, void *given)
{
    struct Callback callback = entered(given);
    ((void(CL_CALLBACK *)(cl_program, void *))callback.notify)(program, callback.data);
    callbacks--;
}

static void CL_CALLBACK call_when_ended(cl_event event, cl_int state, void *given)
{
    struct Callback callback = entered(given);
    ((void(CL_CALLBACK *)(cl_event, cl_int, void *))callback.notify)(event, state, callback.data);
    callbacks--;
}

/* What one of ours is given; NULL where the program's own is to be called. */
static struct Callback *wrapped(void *notify, void *data)
{
    struct Callback *own = notify && IS_ON ? malloc(sizeof *own) : NULL;
    if (own)
        *own = (struct Callback){notify, data};
    return own;
}

cl_int clSetEventCallback(cl_event event, cl_int state, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
    struct Callback *own = wrapped((void *)notify, data);
    cl_int status = NEXT(clSetEventCallback)(event, state, own ? call_when_ended : notify, own ? own : data);
    if (status)
        free(own);
    return status;
}

static cl_program with_program(cl_program program, enum Problem problem, char *source, size_t size)
{
    if (!program || !IS_ON) {
        free(source);
        return program;
    }
    LOCKED
    struct Object *object = made(program, PROGRAM);
    object->program.problem = problem;
    object->program.source = source;
    object->program.size = size;
    return program;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *sizes,
                                     cl_int *error)
{
    cl_program program = NEXT(clCreateProgramWithSource)(context, count, texts, sizes, error);
    if (!program || !IS_ON)
        return program;
    struct Bytes source = {0};
    for (cl_uint i = 0; i < count; i++)
        put(&source, texts[i], sizes && sizes[i] ? sizes[i] : strlen(texts[i]));
    /* Programs count the end of a text of C among its bytes, too. */
    while (source.size && !source.data[source.size - 1])
        source.size--;
    put8(&source, 0);
    /* The log has texts, which a zero ends. */
    enum Problem problem = source.data && memchr(source.data, 0, source.size - 1) ? WITH_ZEROS : NONE;
    return with_program(program, problem, source.data, source.size - 1);
}

cl_int clRetainProgram(cl_program program)
{
    retain(program, PROGRAM);
    return NEXT(clRetainProgram)(program);
}

cl_int clReleaseProgram(cl_program program)
{
    struct Object *object = released(program, PROGRAM);
    if (object) {
        release_variants(object->program.variants);
        free_object(object);
    }
    return NEXT(clReleaseProgram)(program);
}

/* Give a program other build options, which are taken over. Returns those before, which stand where a build fails. They
 * are given before the build, since kernels may be made in its callback. */
static char *exchanged_options(cl_program program, char *options, int has_headers)
{
    struct Variants *variants = NULL;
    {
        LOCKED
        struct Object *object = IS_ON ? found(program, PROGRAM) : NULL;
        if (!object)
            return free(options), NULL;
        char *before = object->program.options;
        object->program.options = options;
        options = before;
        if (has_headers)
            object->program.problem = WITH_HEADERS;
        variants = object->program.variants;
        object->program.variants = NULL;
    }
    release_variants(variants);
    return options;
}

#define BUILDING(has_headers, call)                                                                                  \
    if (!IS_ON)                                                                                                      \
        return call;                                                                                                 \
    char *before = exchanged_options(program, copied_text(options), has_headers);                                    \
    struct Callback *own = wrapped((void *)notify, data);                                                            \
    notify = own ? call_when_built : notify;                                                                         \
    data = own ? own : data;                                                                                         \
    cl_int status = call;                                                                                            \
    free(status ? exchanged_options(program, before, 0) : before);                                                   \
    return status;

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    BUILDING(0, NEXT(clBuildProgram)(program, count, devices, options, notify, data))
}

cl_int clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                        cl_uint header_count, const cl_program *headers, const char **names,
                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    BUILDING(header_count > 0,
             NEXT(clCompileProgram)(program, count, devices, options, header_count, headers, names, notify, data))
}

cl_program clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices, const char *options,
                         cl_uint program_count, const cl_program *programs, void(CL_CALLBACK *notify)(cl_program, void *),
                         void *data, cl_int *error)
{
    struct Callback *own = wrapped((void *)notify, data);
    cl_program linked = NEXT(clLinkProgram)(context, count, devices, options, program_count, programs,
                                            own ? call_when_built : notify, own ? own : data, error);
    int has_options = options && *options;
    with_program(linked, program_count == 1 && has_options ? LINKED_WITH_OPTIONS : LINKED, NULL, 0);
    if (!linked || !IS_ON || program_count != 1 || has_options)
        return linked;
    LOCKED
    struct Object *object = found(linked, PROGRAM), *of = found(programs[0], PROGRAM);
    if (object && of && of->program.source && of->program.options) {
        object->program.problem = of->program.problem;
        object->program.source = copied(of->program.source, of->program.size);
        object->program.size = of->program.size;
        object->program.options = copied_text(of->program.options);
    }
    return linked;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    cl_kernel kernel = NEXT(clCreateKernel)(program, name, error);
    if (kernel && IS_ON)
        add_kernel(kernel, program, name);
    return kernel;
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count)
{
    cl_uint made_now = 0;
    cl_int status = NEXT(clCreateKernelsInProgram)(program, room, kernels, &made_now);
    if (count)
        *count = made_now;
    for (cl_uint i = 0; IS_ON && !status && kernels && i < made_now; i++) {
        char name[1024] = "";
        NEXT(clGetKernelInfo)(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
        add_kernel(kernels[i], program, name);
    }
    return status;
}

cl_int clRetainKernel(cl_kernel kernel)
{
    cl_int status = NEXT(clRetainKernel)(kernel);
    if (!status)
        retain(kernel, KERNEL);
    return status;
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    struct Object *object = released(kernel, KERNEL);
    if (object) {
        give_back(&object->kernel);
        free_object(object);
    }
    return NEXT(clReleaseKernel)(kernel);
}

static cl_uint argument_count_of(cl_kernel kernel)
{
    cl_uint count = 0;
    return NEXT(clGetKernelInfo)(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL) ? 0 : count;
}
