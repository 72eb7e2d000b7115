/* Handles used again after release, one kernel name in several programs, threads, clones, and a crash at the end. */
#include "host.h"
#include <pthread.h>

enum { ROUNDS = 100, THREADS = 4 };

static cl_kernel stage(const char *options, cl_mem buffer)
{
    const char *source = "// In Latin-1: \xe9\nkernel void stage(global int *values) { values[get_global_id(0)] += STEP; }";
    cl_program program = built(source, options);
    cl_kernel kernel = clCreateKernel(program, "stage", NULL);
    CHECK(kernel && !clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    clReleaseProgram(program);
    return kernel;
}

static void *repeated(void *options)
{
    cl_mem buffer = numbered(CL_MEM_READ_WRITE);
    cl_kernel kernel = stage(options, buffer);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(!clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
        launch(kernel, COUNT / 2, 32);
    }
    clFinish(queue);
    clReleaseKernel(kernel);
    clReleaseMemObject(buffer);
    return NULL;
}

int main(void)
{
    open_device();
    cl_mem buffer = numbered(CL_MEM_READ_WRITE);
    for (int i = 0; i < 6; i++) {
        cl_kernel kernel = stage(i % 2 ? "-D STEP=10" : "-D STEP=1", buffer), again = clCloneKernel(kernel, NULL);
        launch(again ? again : kernel, COUNT, 64);
        CHECK(!clRetainKernel(kernel) && !clReleaseKernel(kernel));
        clReleaseKernel(kernel);
        if (again)
            clReleaseKernel(again);
    }
    int found[COUNT];
    CHECK(!clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    CHECK(found[1] == 1 + 3 * 11);
    unsigned long threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, repeated, i % 2 ? "-D STEP=10" : "-D STEP=1"));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("right\n");
    fflush(NULL);
    abort();
    return 0;
}
