/* What programs that use OpenCL have in common: a device of the platform that PLATFORM names. */
#include "opencl.h"
#include "process.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_command_queue_properties, cl_int *);
cl_command_queue clCreateCommandQueueWithProperties(cl_context, cl_device_id, const cl_queue_properties *, cl_int *);
cl_int clReleaseCommandQueue(cl_command_queue);
cl_int clSetEventCallback(cl_event, cl_int, void(CL_CALLBACK *)(cl_event, cl_int, void *), void *);
cl_event clCreateUserEvent(cl_context, cl_int *);
cl_int clGetEventProfilingInfo(cl_event, cl_profiling_info, size_t, void *, size_t *);
cl_int clWaitForEvents(cl_uint, const cl_event *);
cl_int clFinish(cl_command_queue);
cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,
                           cl_event *);
cl_mem clCreateBuffer(cl_context, cl_mem_flags, size_t, void *, cl_int *);
cl_mem clCreateSubBuffer(cl_mem, cl_mem_flags, cl_buffer_create_type, const void *, cl_int *);
cl_mem clCreateImage(cl_context, cl_mem_flags, const cl_image_format *, const cl_image_desc *, void *, cl_int *);
cl_mem clCreateImage2D(cl_context, cl_mem_flags, const cl_image_format *, size_t, size_t, size_t, void *, cl_int *);
void *clSVMAlloc(cl_context, cl_svm_mem_flags, size_t, cl_uint);
void clSVMFree(cl_context, void *);
cl_sampler clCreateSampler(cl_context, cl_bool, cl_addressing_mode, cl_filter_mode, cl_int *);
cl_program clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_program clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **,
                                     cl_int *, cl_int *);
cl_int clRetainProgram(cl_program);
cl_int clReleaseProgram(cl_program);
cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *, void(CL_CALLBACK *)(cl_program, void *),
                      void *);
cl_int clCompileProgram(cl_program, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *,
                        const char **, void(CL_CALLBACK *)(cl_program, void *), void *);
cl_program clLinkProgram(cl_context, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *,
                         void(CL_CALLBACK *)(cl_program, void *), void *, cl_int *);
cl_kernel clCreateKernel(cl_program, const char *, cl_int *);
cl_int clCreateKernelsInProgram(cl_program, cl_uint, cl_kernel *, cl_uint *);
cl_kernel clCloneKernel(cl_kernel, cl_int *);
cl_int clRetainKernel(cl_kernel);
cl_int clReleaseKernel(cl_kernel);
cl_int clSetKernelArgSVMPointer(cl_kernel, cl_uint, const void *);
void *clGetExtensionFunctionAddress(const char *);
void *clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char *);
cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
cl_int clGetDeviceIDs(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *);
cl_context clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
                           void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *);
cl_int clRetainContext(cl_context);
cl_int clReleaseContext(cl_context);
cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *);
void *clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *,
                         cl_event *, cl_int *);
cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,
                            cl_event *);
cl_int clSetUserEventStatus(cl_event, cl_int);
cl_int clGetProgramInfo(cl_program, cl_uint, size_t, void *, size_t *);
cl_int clEnqueueSVMMap(cl_command_queue, cl_bool, cl_bitfield, void *, size_t, cl_uint, const cl_event *, cl_event *);
cl_int clEnqueueSVMUnmap(cl_command_queue, void *, cl_uint, const cl_event *, cl_event *);

#define CL_DEVICE_TYPE_ALL 0xFFFFFFFF
#define CL_INVALID_OPERATION (-59)
#define CL_MEM_READ_WRITE (1 << 0)
#define CL_BUFFER_CREATE_TYPE_REGION 0x1220
#define CL_MEM_COPY_HOST_PTR (1 << 5)
#define CL_PROGRAM_BINARY_SIZES 0x1165
#define CL_PROGRAM_BINARIES 0x1166
#define CL_MEM_OBJECT_IMAGE1D_BUFFER 0x10F6
#define CL_RGBA 0x10B5
#define CL_FLOAT 0x10DE
#define CL_ADDRESS_CLAMP_TO_EDGE 0x1131
#define CL_FILTER_NEAREST 0x1140
#define CL_MAP_READ 1
#define CL_MAP_WRITE 2

struct _cl_image_format {
    cl_uint image_channel_order, image_channel_data_type;
};

struct _cl_image_desc {
    cl_mem_object_type type;
    size_t width, height, depth, layers, row, slice;
    cl_uint levels, samples;
    cl_mem buffer;
};

typedef struct {
    size_t origin, size;
} cl_buffer_region;

enum { COUNT = 1024 };

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

/* Read the file that a variable of the environment names; its size. */
static size_t read_file(const char *name, void *to, size_t most)
{
    long size = read(open(getenv(name), 0), to, most);
    CHECK(size > 10 && size < (long)most);
    return size;
}

static void open_device(void)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    char name[256];
    CHECK(!clGetPlatformIDs(16, platforms, &count));
    for (cl_uint i = 0; i < count; i++) {
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, getenv("PLATFORM")))
            CHECK(!clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    }
    CHECK(device);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    CHECK(queue);
}

static cl_program built(const char *source, const char *options)
{
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    CHECK(!clBuildProgram(program, 1, &device, options, NULL, NULL));
    return program;
}

static cl_mem numbered(cl_mem_flags flags)
{
    int numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    cl_mem buffer = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, NULL);
    CHECK(buffer);
    return buffer;
}

static void launch(cl_kernel kernel, size_t global, size_t local)
{
    CHECK(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL));
}
