/* A short program: a build, a kernel, a launch. SOURCE is the kernel's file, of which each byte is given. */
#include "host.h"

int main(void)
{
    static char source[1 << 14];
    open_device();
    size_t size = read_file("SOURCE", source, sizeof source - 1);
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, &size, NULL);
    CHECK(!clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "moved", NULL);
    cl_mem buffers[] = {numbered(CL_MEM_READ_WRITE), numbered(CL_MEM_READ_WRITE)};
    int more = 3, found[COUNT];
    for (int i = 0; i < 2; i++)
        CHECK(!clSetKernelArg(kernel, i, sizeof *buffers, &buffers[i]));
    CHECK(!clSetKernelArg(kernel, 2, sizeof more, &more));
    launch(kernel, COUNT, 32);
    CHECK(!clEnqueueReadBuffer(queue, *buffers, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    printf("%d\n", found[5]);
    return 0;
}
