/* Every kind of argument; and what the program sees of its objects is as it made them. */
#include "host.h"

static const char *const source =
    "kernel void combine(global int *out, global const int *first, global const int *second, global const int *same,\n"
    "                    global const int *none, local int *tile, long more)\n"
    "{\n"
    "    int item = get_global_id(0), own = get_local_id(0);\n"
    "    tile[own] = first[item] + second[item];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[item] += tile[own] + (none ? 1000000 : (int)more) + same[item] * SCALE;\n"
    "}\n"
    "kernel void filtered(read_only image2d_t from, sampler_t how, write_only image2d_t to)\n"
    "{\n"
    "    int2 place = (int2)(get_global_id(0), get_global_id(1));\n"
    "    write_imagef(to, place, 2 * read_imagef(from, how, place - 1));\n"
    "}\n"
    "kernel void moved(global int *to, global const int *from)\n"
    "{\n"
    "    to[get_global_id(0)] = from[get_global_id(0)] + 1;\n"
    "}\n";

static void buffers(cl_program program)
{
    cl_mem out = numbered(CL_MEM_READ_WRITE), same = numbered(CL_MEM_HOST_NO_ACCESS);
    cl_mem whole = numbered(CL_MEM_HOST_WRITE_ONLY);
    cl_buffer_region halves[] = {{0, 2 * COUNT}, {2 * COUNT, 2 * COUNT}};
    cl_mem first = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &halves[0], NULL);
    cl_mem second = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &halves[1], NULL);
    cl_kernel kernel = clCreateKernel(program, "combine", NULL);
    CHECK(out && same && whole && first && second && kernel);
    long more = 7;
    CHECK(!clSetKernelArg(kernel, 0, sizeof out, &out) && !clSetKernelArg(kernel, 1, sizeof first, &first));
    CHECK(!clSetKernelArg(kernel, 2, sizeof second, &second) && !clSetKernelArg(kernel, 3, sizeof same, &same));
    CHECK(!clSetKernelArg(kernel, 4, sizeof out, NULL) && !clSetKernelArg(kernel, 5, 64 * sizeof(int), NULL));
    CHECK(!clSetKernelArg(kernel, 6, sizeof more, &more));
    launch(kernel, COUNT / 2, 64);
    launch(kernel, COUNT / 2, 64);
    int found[COUNT];
    CHECK(!clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    CHECK(found[1] == 1 + 2 * (1 + 513 + 7 + 3));
    CHECK(clEnqueueReadBuffer(queue, same, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL) == CL_INVALID_OPERATION);
    cl_mem_flags flags;
    CHECK(!clGetMemObjectInfo(same, CL_MEM_FLAGS, sizeof flags, &flags, NULL) && flags & CL_MEM_HOST_NO_ACCESS);
    CHECK(!clGetMemObjectInfo(second, CL_MEM_FLAGS, sizeof flags, &flags, NULL) && flags & CL_MEM_HOST_WRITE_ONLY);
    CHECK(!clGetMemObjectInfo(out, CL_MEM_FLAGS, sizeof flags, &flags, NULL) && !(flags & CL_MEM_HOST_NO_ACCESS));
}

static void images(cl_program program)
{
    enum { WIDTH = 32, HEIGHT = 16 };
    float pixels[HEIGHT][WIDTH][4];
    for (int i = 0; i < HEIGHT * WIDTH * 4; i++)
        (&pixels[0][0][0])[i] = i;
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_mem_flags flags = CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_NO_ACCESS;
    cl_mem from = clCreateImage2D(context, flags, &format, WIDTH, HEIGHT, 0, pixels, NULL);
    cl_mem to = clCreateImage2D(context, CL_MEM_READ_WRITE, &format, WIDTH, HEIGHT, 0, NULL, NULL);
    cl_sampler how = clCreateSampler(context, 0, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, NULL);
    cl_kernel kernel = clCreateKernel(program, "filtered", NULL);
    CHECK(!clSetKernelArg(kernel, 0, sizeof from, &from) && !clSetKernelArg(kernel, 1, sizeof how, &how));
    CHECK(!clSetKernelArg(kernel, 2, sizeof to, &to));
    size_t size[] = {WIDTH, HEIGHT}, origin[3] = {0}, region[] = {WIDTH, HEIGHT, 1};
    CHECK(!clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL));
    CHECK(!clEnqueueReadImage(queue, to, CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL));
    CHECK(pixels[1][2][3] == 2 * 7);
}

static void shared_memory(cl_program program)
{
    int *from = clSVMAlloc(context, CL_MEM_READ_WRITE, 2 * COUNT * sizeof *from, 0);
    int *to = clSVMAlloc(context, CL_MEM_READ_WRITE, COUNT * sizeof *to, 0);
    CHECK(from && to);
    CHECK(!clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, from, 2 * COUNT * sizeof *from, 0, NULL, NULL));
    for (int i = 0; i < 2 * COUNT; i++)
        from[i] = i;
    CHECK(!clEnqueueSVMUnmap(queue, from, 0, NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "moved", NULL);
    CHECK(!clSetKernelArgSVMPointer(kernel, 0, to) && !clSetKernelArgSVMPointer(kernel, 1, from + COUNT));
    launch(kernel, COUNT, 0);
    CHECK(!clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, to, COUNT * sizeof *to, 0, NULL, NULL));
    CHECK(to[5] == COUNT + 6);
    CHECK(!clEnqueueSVMUnmap(queue, to, 0, NULL, NULL));
    clFinish(queue);
    clSVMFree(context, from);
    clSVMFree(context, to);
}

static void queues(cl_program program)
{
    cl_command_queue_properties properties = ~0ul;
    CHECK(!clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) && !properties);
    cl_kernel kernel = clCreateKernel(program, "moved", NULL);
    cl_mem to = numbered(CL_MEM_READ_WRITE), from = numbered(CL_MEM_READ_WRITE);
    CHECK(!clSetKernelArg(kernel, 0, sizeof to, &to) && !clSetKernelArg(kernel, 1, sizeof from, &from));
    cl_command_queue timed = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL), both[] = {queue, timed};
    size_t global = COUNT;
    for (int i = 0; i < 2; i++) {
        cl_event event;
        cl_ulong start = 0;
        CHECK(!clEnqueueNDRangeKernel(both[i], kernel, 1, NULL, &global, NULL, 0, NULL, &event));
        CHECK(!clWaitForEvents(1, &event));
        cl_int status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
        CHECK(status == (i ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE));
        clReleaseEvent(event);
    }
    cl_queue_properties given[] = {CL_QUEUE_PROPERTIES, 0, 0}, told[8];
    size_t size = 0;
    cl_command_queue third = clCreateCommandQueueWithProperties(context, device, given, NULL);
    CHECK(third);
    CHECK(!clGetCommandQueueInfo(third, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) && !properties);
    if (!clGetCommandQueueInfo(third, CL_QUEUE_PROPERTIES_ARRAY, sizeof told, told, &size))
        CHECK(size == sizeof given && !memcmp(told, given, size));
}

int main(void)
{
    open_device();
    cl_program program = built(source, "-DSCALE=3");
    buffers(program);
    images(program);
    shared_memory(program);
    queues(program);
    printf("right\n");
    return 0;
}
