/* A function NAME_run sets the kernels' arguments, which no other thread may do meanwhile, enqueues all launches,
 * and waits for none. Returned are OpenCL's codes: CL_INVALID_BUFFER_SIZE for a buffer that is too small, or an
 * array with too many elements for the kernels' whole numbers; CL_INVALID_GLOBAL_WORK_SIZE for too many work-items,
 * or a loop that counts too far; CL_INVALID_ARG_VALUE for the same buffer as two arrays that have to be apart. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#ifndef COARSEN_RUN
#define COARSEN_RUN
static inline int coarsen_quotient_downwards(int64_t a, int64_t b, int64_t *result)
{
    if (b <= 0)
        return 0;
    *result = a / b - (a % b < 0);
    return 1;
}

static inline int coarsen_remainder_downwards(int64_t a, int64_t b, int64_t *result)
{
    if (b <= 0)
        return 0;
    *result = a % b + (a % b < 0 ? b : 0);
    return 1;
}

/* The bytes of an array; CL_INVALID_BUFFER_SIZE where it has more elements than `most`. */
static inline cl_int
coarsen_bytes(const int64_t *extents, unsigned dimensions, size_t element, int64_t most, size_t *bytes)
{
    int64_t elements = 1;
    unsigned place;
    *bytes = 0;
    for (place = 0; place < dimensions; place++)
        if (extents[place] <= 0)
            return CL_SUCCESS;
    for (place = 0; place < dimensions; place++)
        if (!coarsen_multiply(elements, extents[place], &elements))
            return CL_INVALID_BUFFER_SIZE;
    *bytes = (size_t)elements * element;
    return elements > most || (uint64_t)elements > SIZE_MAX / element ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
}

/* A buffer for reading and writing; none where `status` says that something failed, before or now. */
static inline cl_mem coarsen_create(cl_command_queue queue, size_t bytes, cl_int *status)
{
    cl_context context = NULL;
    if (*status == CL_SUCCESS)
        *status = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (*status != CL_SUCCESS)
        return NULL;
    return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, status);
}

static inline cl_int coarsen_check_buffer(cl_mem buffer, size_t bytes)
{
    size_t size = 0;
    cl_int status = CL_SUCCESS;
    if (bytes > 0)
        status = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    return status == CL_SUCCESS && size < bytes ? CL_INVALID_BUFFER_SIZE : status;
}

/* Enqueues a kernel over whole work-groups, after all that the queue has; nothing where a size is below 1. */
static inline cl_int coarsen_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const int64_t *sizes, const size_t *local, int64_t most)
{
    cl_command_queue_properties properties = 0;
    cl_int status;
    size_t whole[3];
    cl_uint place;
    for (place = 0; place < dimensions; place++)
        if (sizes[place] < 1)
            return CL_SUCCESS;
    for (place = 0; place < dimensions; place++) {
        const size_t own = local[place];
        if (own < 1 || sizes[place] > most - (int64_t)own || (uint64_t)sizes[place] > SIZE_MAX - own)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        whole[place] = ((size_t)sizes[place] + own - 1) / own * own;
    }
    status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (status == CL_SUCCESS && (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        status = clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL);
    if (status == CL_SUCCESS)
        status = clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, whole, local, 0, NULL, NULL);
    return status;
}
#endif
