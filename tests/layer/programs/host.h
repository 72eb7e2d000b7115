/* What programs that use OpenCL have in common: a device of the platform that PLATFORM names. */
#include "opencl.h"
#include "process.h"

char *getenv(const char *name);
char *strstr(const char *text, const char *part);
size_t strlen(const char *text);
int memcmp(const void *one, const void *other, size_t size);
int open(const char *path, int flags, ...);
long read(int file, void *bytes, size_t size);

cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
cl_int clGetDeviceIDs(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *);
cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,
                            cl_event *);
cl_int clSetUserEventStatus(cl_event, cl_int);
cl_int clGetProgramInfo(cl_program, cl_uint, size_t, void *, size_t *);
cl_int clEnqueueSVMMap(cl_command_queue, cl_bool, cl_bitfield, void *, size_t, cl_uint, const cl_event *, cl_event *);
cl_int clEnqueueSVMUnmap(cl_command_queue, void *, cl_uint, const cl_event *, cl_event *);

#define CL_DEVICE_TYPE_ALL 0xFFFFFFFF
#define CL_MEM_READ_WRITE (1 << 0)
#define CL_MEM_COPY_HOST_PTR (1 << 5)
#define CL_PROGRAM_BINARY_SIZES 0x1165
#define CL_PROGRAM_BINARIES 0x1166
#define CL_RGBA 0x10B5
#define CL_FLOAT 0x10DE
#define CL_ADDRESS_CLAMP_TO_EDGE 0x1131
#define CL_FILTER_NEAREST 0x1140
#define CL_MAP_READ 1
#define CL_MAP_WRITE 2

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
