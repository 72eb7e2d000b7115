/* What a layer itself costs a launch, in nanoseconds: it stands above functions that do nothing. LAYER is its file. */
#include "host.h"
#include "driver.h"

struct Time {
    long seconds, nanoseconds;
};
int clock_gettime(int clock, struct Time *time);
void *dlopen(const char *file, int flags);
void *dlsym(void *library, const char *name);

enum { ENTRIES = 149, LAUNCHES = 1000, ROUNDS = 2000, MONOTONIC = 1, NOW = 2 };

static void **table; /* the functions that are called */

static double now(void)
{
    struct Time time;
    clock_gettime(MONOTONIC, &time);
    return time.seconds * 1e9 + time.nanoseconds;
}

#define CALL(name) ((__typeof__(&name))table[PLACE_##name])

static double shortest(cl_command_queue on, cl_kernel kernel, size_t local, const cl_mem *buffers, int sets_argument)
{
    double best = 1e30;
    size_t global = COUNT;
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

/* Of a kernel that nothing is known of, of one that has a row for another local size, and of one that has a row. */
static void print_times(void)
{
    const char *sources[] = {"kernel void none(global int *values, global int *more, int one) { *values = 1; }",
                             "kernel void none(global int *values, global int *more, int one) { *values = 2; }"};
    cl_command_queue on = CALL(clCreateCommandQueue)(NULL, NULL, 0, NULL);
    cl_kernel kernels[2];
    cl_mem buffers[4];
    for (int i = 0; i < 4; i++)
        buffers[i] = CALL(clCreateBuffer)(NULL, 0, 4 * (COUNT + i), NULL, NULL);
    for (int i = 0; i < 2; i++) {
        cl_program program = CALL(clCreateProgramWithSource)(NULL, 1, &sources[i], NULL, NULL);
        CALL(clBuildProgram)(program, 0, NULL, "-A", NULL, NULL);
        kernels[i] = CALL(clCreateKernel)(i ? program : NULL, "none", NULL);
        for (int j = 0; j < 2; j++)
            CALL(clSetKernelArg)(kernels[i], j, sizeof *buffers, &buffers[3 * j]);
        CALL(clSetKernelArg)(kernels[i], 2, sizeof i, &i);
    }
    for (int way = 0; way < 3; way++)
        for (int sets = 0; sets <= 2; sets++)
            printf("%.1f ", shortest(on, kernels[way > 0], way == 1 ? 32 : 64, buffers, sets));
}

int main(void)
{
    static void *target[ENTRIES];
    fill_table(target, ENTRIES);
    table = target;
    print_times();
    cl_int (*start)(cl_uint, const void *, cl_uint *, void *) = dlsym(dlopen(getenv("LAYER"), NOW), "clInitLayer");
    cl_uint count;
    CHECK(!start(ENTRIES, target, &count, &table) && count == ENTRIES && table != target);
    print_times();
    CHECK(!getenv("COARSEN_SHELF") || launched_size == COUNT / 2);
    return 0;
}
