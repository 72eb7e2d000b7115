/* A driver of which each function does next to nothing. */

void *malloc(size_t size);
void free(void *memory);

static int kernels_made, binaries_loaded;
static int objects_left;
static const void *context_of_programs;
static const void *launched; /* the kernel of the last launch */
static size_t launched_size; /* its global size */
static int launches_fail;

static cl_uint device_count = 1;
static cl_ulong memory_size = 4;
static cl_ulong context_property; /* beside the platform */
static const void *device_of_queue;
static cl_uint variant_arguments = 3; /* of kernels of programs; of others three */

static cl_int nothing(void)
{
    return CL_SUCCESS;
}

static void *an_object(void)
{
    objects_left++;
    return malloc(64);
}

static void *a_kernel(const void *program)
{
    cl_uint *kernel = an_object();
    kernels_made++;
    *kernel = program ? variant_arguments : 3;
    return kernel;
}

static void *a_clone(const cl_uint *kernel)
{
    cl_uint *clone = an_object();
    *clone = *kernel;
    return clone;
}

static cl_int a_release(void *object)
{
    objects_left--;
    free(object);
    return CL_SUCCESS;
}

/* One device, plain buffers of four bytes, and commands that have ended. */
static cl_int an_info(void *object, cl_uint name, size_t size, void *value, size_t *size_ret)
{
    cl_ulong number = 0;
    if (name == CL_PROGRAM_NUM_DEVICES)
        number = device_count;
    if (name == CL_CONTEXT_PROPERTIES)
        number = context_property;
    if (name == CL_PROGRAM_CONTEXT)
        number = (cl_ulong)context_of_programs;
    if (name == CL_QUEUE_DEVICE)
        number = (cl_ulong)device_of_queue;
    if (name == CL_KERNEL_NUM_ARGS)
        number = *(cl_uint *)object;
    if (name == CL_MEM_TYPE)
        number = CL_MEM_OBJECT_BUFFER;
    if (name == CL_MEM_SIZE)
        number = memory_size;
    for (size_t i = 0; value && i < size; i++)
        ((char *)value)[i] = i < sizeof number ? ((char *)&number)[i] : 0;
    if (size_ret)
        *size_ret = 0;
    return object == (void *)-1 ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_int a_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                       const size_t *global, const size_t *local, cl_uint count, const cl_event *events, cl_event *event)
{
    (void)queue, (void)offset, (void)local, (void)count, (void)events;
    launched = kernel;
    launched_size = dimensions ? global[0] : 0;
    if (event && !launches_fail)
        *event = an_object();
    return launches_fail ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_program a_program(cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,
                            const unsigned char **binaries, cl_int *states, cl_int *error)
{
    (void)context, (void)count, (void)devices, (void)error;
    unsigned sum = 0;
    for (size_t i = 0; i < *sizes; i++)
        sum += binaries[0][i]; /* It has to be there. */
    *states = sum == 1;
    binaries_loaded++;
    return an_object();
}

static cl_int a_build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options, void *notify,
                      void *data)
{
    (void)program, (void)count, (void)devices, (void)notify, (void)data;
    return options && strlen(options) == 1;
}

/* Fill the table of a loader with the functions of this driver. */
static void fill_table(void **target, size_t count)
{
    for (size_t i = 0; i < count; i++)
        target[i] = (void *)nothing;
    const int objects[] = {PLACE_clCreateCommandQueue, PLACE_clCreateProgramWithSource, PLACE_clCreateBuffer,
                           PLACE_clLinkProgram,        PLACE_clSVMAlloc,                PLACE_clCreateSubBuffer,
                           PLACE_clCreateContext};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        target[objects[i]] = (void *)an_object;
    const int infos[] = {PLACE_clGetPlatformInfo, PLACE_clGetDeviceInfo,       PLACE_clGetContextInfo,
                         PLACE_clGetProgramInfo,  PLACE_clGetKernelInfo,       PLACE_clGetMemObjectInfo,
                         PLACE_clGetEventInfo,    PLACE_clGetCommandQueueInfo, PLACE_clGetEventProfilingInfo};
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        target[infos[i]] = (void *)an_info;
    target[PLACE_clReleaseKernel] = target[PLACE_clReleaseProgram] = target[PLACE_clReleaseEvent] = (void *)a_release;
    target[PLACE_clCreateKernel] = (void *)a_kernel;
    target[PLACE_clCloneKernel] = (void *)a_clone;
    target[PLACE_clEnqueueNDRangeKernel] = (void *)a_launch;
    target[PLACE_clCreateProgramWithBinary] = (void *)a_program;
    target[PLACE_clBuildProgram] = (void *)a_build;
}
