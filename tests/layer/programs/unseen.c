/* A launch that waits for what the program does later, and a program made from a binary. */
#include "host.h"

int main(void)
{
    open_device();
    cl_program program = built("kernel void late(global int *values) { values[get_global_id(0)] += 1; }", NULL);
    cl_kernel kernel = clCreateKernel(program, "late", NULL);
    cl_mem buffer = numbered(CL_MEM_READ_WRITE);
    CHECK(!clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    cl_event gate = clCreateUserEvent(context, NULL);
    size_t global = COUNT;
    CHECK(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate, NULL));
    CHECK(!clSetUserEventStatus(gate, CL_COMPLETE));
    CHECK(!clFinish(queue));

    size_t size = 0;
    CHECK(!clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) && size);
    static unsigned char binary[1 << 24], *binaries[] = {binary};
    CHECK(size <= sizeof binary);
    CHECK(!clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL));
    const unsigned char *given = binary;
    cl_program other = clCreateProgramWithBinary(context, 1, &device, &size, &given, NULL, NULL);
    CHECK(other && !clBuildProgram(other, 1, &device, NULL, NULL, NULL));
    kernel = clCreateKernel(other, "late", NULL);
    CHECK(!clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    launch(kernel, COUNT / 4, 16);
    int found[COUNT];
    CHECK(!clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    CHECK(found[1] == 3 && found[COUNT - 1] == COUNT);
    printf("right\n");
    return 0;
}
