/* Launches that follow each other, and what the host and another queue do in between. */
#include "host.h"

static const char *const source =
    "kernel void scale(int n, int k, global const int *a, global int *t)\n"
    "{ int i = get_global_id(0); if (i < n) t[i] = k * a[i]; }\n"
    "kernel void add(int n, global const int *in, global const int *b, global int *c)\n"
    "{ int i = get_global_id(0); if (i >= n) return; c[i] = in[i] + b[i]; }\n"
    "kernel void blur(int n, global const int *t, global int *c)\n"
    "{ int i = get_global_id(0); if (i + 1 < n) c[i] = t[i] + t[i + 1]; }\n";

static cl_kernel scale, add, blur;
static const int n = COUNT, k = 3;

static void set(cl_kernel kernel, int count, const cl_mem *buffers)
{
    CHECK(!clSetKernelArg(kernel, 0, sizeof n, &n));
    if (kernel == scale)
        CHECK(!clSetKernelArg(kernel, 1, sizeof k, &k));
    for (int i = 0; i < count; i++)
        CHECK(!clSetKernelArg(kernel, i + 1 + (kernel == scale), sizeof *buffers, &buffers[i]));
}

static void run(cl_kernel kernel, int count, cl_mem a, cl_mem b, cl_mem c)
{
    set(kernel, count, (cl_mem[]){a, b, c});
    launch(kernel, COUNT, 64);
}

int main(void)
{
    open_device();
    cl_program program = built(source, "-DUNUSED=1");
    scale = clCreateKernel(program, "scale", NULL);
    add = clCreateKernel(program, "add", NULL);
    blur = clCreateKernel(program, "blur", NULL);
    cl_mem a = numbered(CL_MEM_READ_WRITE), b = numbered(CL_MEM_READ_WRITE), c = numbered(CL_MEM_READ_WRITE);
    cl_mem t = numbered(CL_MEM_READ_WRITE), u = numbered(CL_MEM_READ_WRITE), v = numbered(CL_MEM_READ_WRITE);
    int found[COUNT] = {0};
    for (int i = 0; i < 3; i++) {
        CHECK(!clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
        run(scale, 2, a, t, NULL);
        run(add, 3, t, b, c);
        CHECK(!clEnqueueReadBuffer(queue, c, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    }
    /* The host reads it in between, */
    run(scale, 2, a, u, NULL);
    CHECK(!clEnqueueCopyBuffer(queue, u, v, 0, 0, sizeof found, 0, NULL, NULL));
    run(add, 3, u, b, c);
    CHECK(!clFinish(queue));
    /* another queue writes it, */
    cl_command_queue first = queue, second = clCreateCommandQueue(context, device, 0, NULL);
    run(scale, 2, a, v, NULL);
    queue = second;
    run(scale, 2, b, v, NULL);
    queue = first;
    run(add, 3, v, b, c);
    CHECK(!clFinish(second) && !clFinish(first));
    /* and what reads neighbours is refused. */
    for (int i = 0; i < 2; i++) {
        run(scale, 2, a, u, NULL);
        run(blur, 2, u, c, NULL);
        CHECK(clEnqueueMapBuffer(queue, c, CL_TRUE, CL_MAP_READ, 0, sizeof found, 0, NULL, NULL, NULL));
    }
    /* An image of a buffer's bytes is a part of it. */
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc whole = {CL_MEM_OBJECT_IMAGE1D_BUFFER, COUNT / 4, 0, 0, 0, 0, 0, 0, 0, c};
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &whole, NULL, NULL);
    size_t origin[3] = {0}, region[] = {COUNT / 4, 1, 1};
    CHECK(!clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, found, 0, NULL, NULL));
    CHECK(!clReleaseMemObject(a));
    printf("right\n");
    return 0;
}
