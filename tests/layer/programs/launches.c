/* What a launch whose arguments are set before it takes of the host, in nanoseconds, with one kernel and with a kernel for
 * each launch. SOURCE is the kernel's file. */
#include "host.h"

struct Time {
    long seconds, nanoseconds;
};
int clock_gettime(int clock, struct Time *time);

enum { ROUNDS = 40, LAUNCHES = 250, OF_THREAD = 3 };

static double now(void)
{
    struct Time time;
    clock_gettime(OF_THREAD, &time);
    return time.seconds * 1e9 + time.nanoseconds;
}

static double shortest(cl_program program, int is_new)
{
    static cl_mem buffers[2];
    for (int i = 0; i < 2; i++)
        buffers[i] = buffers[i] ? buffers[i] : numbered(CL_MEM_READ_WRITE);
    cl_kernel kernel = NULL;
    double least = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int more = 0; more < LAUNCHES; more++) {
            if (is_new && kernel)
                clReleaseKernel(kernel);
            if (is_new || !kernel)
                kernel = clCreateKernel(program, "moved", NULL);
            for (int i = 0; i < 2; i++)
                CHECK(!clSetKernelArg(kernel, i, sizeof *buffers, &buffers[i]));
            CHECK(!clSetKernelArg(kernel, 2, sizeof more, &more));
            launch(kernel, COUNT, 32);
        }
        double taken = now() - start;
        least = taken < least ? taken : least;
        CHECK(!clFinish(queue));
    }
    return least / LAUNCHES;
}

int main(void)
{
    static char source[1 << 14];
    open_device();
    read_file("SOURCE", source, sizeof source - 1);
    cl_program program = built(source, "");
    printf("%.0f ", shortest(program, 0));
    printf("%.0f\n", shortest(program, 1));
    return 0;
}
