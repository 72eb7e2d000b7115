/* Images made of buffers, a launch that waits for what the program does later, and a program made from a binary. */
#include "host.h"

/* Images made of buffers; PoCL 3.1 crashes where such a one is copied. */
static void images_of_buffers(void)
{
    cl_program program = built("kernel void unwrapped(read_only image1d_buffer_t from, global float *to)\n"
                               "{ int i = get_global_id(0); to[i] = read_imagef(from, i).y; }", NULL);
    const cl_mem_flags access[] = {CL_MEM_READ_WRITE, CL_MEM_HOST_WRITE_ONLY};
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_kernel kernel = clCreateKernel(program, "unwrapped", NULL);
    cl_mem to = numbered(CL_MEM_READ_WRITE);
    for (int i = 0; i < 2; i++) {
        cl_image_desc all = {CL_MEM_OBJECT_IMAGE1D_BUFFER, COUNT / 4, 0, 0, 0, 0, 0, 0, 0, numbered(access[i])};
        cl_mem from = clCreateImage(context, 0, &format, &all, NULL, NULL);
        CHECK(!clSetKernelArg(kernel, 0, sizeof from, &from) && !clSetKernelArg(kernel, 1, sizeof to, &to));
        launch(kernel, COUNT / 8 << i, 0);
    }
    int found[COUNT];
    CHECK(!clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL) && found[2] == 4 * 2 + 1);
}

int main(void)
{
    open_device();
    images_of_buffers();
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
