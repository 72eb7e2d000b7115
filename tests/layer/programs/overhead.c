/* What the recorder itself costs a launch, in nanoseconds: it stands above functions that do nothing. LAYER is its file. */
#include "host.h"

struct Time {
    long seconds, nanoseconds;
};
int clock_gettime(int clock, struct Time *time);
void *dlopen(const char *file, int flags);
void *dlsym(void *library, const char *name);
void *malloc(size_t size);

enum { ENTRIES = 149, LAUNCHES = 1000, ROUNDS = 2000, MONOTONIC = 1, NOW = 2 };

static void **table; /* the functions that are called */

static double now(void)
{
    struct Time time;
    clock_gettime(MONOTONIC, &time);
    return time.seconds * 1e9 + time.nanoseconds;
}

static cl_int nothing(void)
{
    return CL_SUCCESS;
}

static void *made(void)
{
    return malloc(64);
}

static cl_int no_info(void *object, cl_uint name, size_t size, void *value, size_t *size_ret)
{
    (void)object, (void)name, (void)size_ret;
    for (size_t i = 0; i < size; i++)
        ((char *)value)[i] = 0;
    return CL_SUCCESS;
}

static cl_int with_event(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                         const size_t *global, const size_t *local, cl_uint count, const cl_event *events, cl_event *event)
{
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local, (void)count, (void)events;
    if (event)
        *event = (cl_event)&table;
    return CL_SUCCESS;
}

#define CALL(name) ((__typeof__(&name))table[PLACE_##name])

static double shortest(cl_command_queue on, cl_kernel kernel, const cl_mem *buffers, int sets_argument)
{
    double best = 1e30;
    size_t global = COUNT, local = 64;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < LAUNCHES; i++) {
            if (sets_argument)
                CALL(clSetKernelArg)(kernel, 0, sizeof *buffers, &buffers[i % sets_argument]);
            CALL(clEnqueueNDRangeKernel)(on, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
        }
        double taken = now() - start;
        best = taken < best ? taken : best;
    }
    return best / LAUNCHES;
}

static void print_times(void)
{
    const char *source = "kernel void none(global int *values) { *values = 1; }";
    cl_command_queue on = CALL(clCreateCommandQueue)(NULL, NULL, 0, NULL);
    cl_program program = CALL(clCreateProgramWithSource)(NULL, 1, &source, NULL, NULL);
    cl_kernel kernel = CALL(clCreateKernel)(program, "none", NULL);
    cl_mem buffers[2];
    for (int i = 0; i < 2; i++)
        buffers[i] = CALL(clCreateBuffer)(NULL, 0, 4 * (COUNT + i), NULL, NULL);
    CALL(clSetKernelArg)(kernel, 0, sizeof *buffers, buffers);
    for (int sets = 0; sets <= 2; sets++)
        printf("%.1f ", shortest(on, kernel, buffers, sets));
}

int main(void)
{
    static void *target[ENTRIES];
    for (int i = 0; i < ENTRIES; i++)
        target[i] = (void *)nothing;
    const int objects[] = {PLACE_clCreateCommandQueue, PLACE_clCreateProgramWithSource, PLACE_clCreateKernel,
                           PLACE_clCreateBuffer};
    for (int i = 0; i < 4; i++)
        target[objects[i]] = (void *)made;
    const int infos[] = {PLACE_clGetEventInfo, PLACE_clGetEventProfilingInfo, PLACE_clGetDeviceInfo,
                         PLACE_clGetPlatformInfo};
    for (int i = 0; i < 4; i++)
        target[infos[i]] = (void *)no_info;
    target[PLACE_clEnqueueNDRangeKernel] = (void *)with_event;
    table = target;
    print_times();
    cl_int (*start)(cl_uint, const void *, cl_uint *, void *) = dlsym(dlopen(getenv("LAYER"), NOW), "clInitLayer");
    cl_uint count;
    CHECK(!start(ENTRIES, target, &count, &table) && count == ENTRIES && table != target);
    print_times();
    return 0;
}
