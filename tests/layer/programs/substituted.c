/* Launches of each kind under the layer that substitutes, each with how it is expected to run: as it is written, or
 * coarsened, by which its numbers are greater by MARK. Without a shelf all run as they are written. SOURCE is the file of
 * the kernels, BINARY that of their binary. */
#include "host.h"
#include <pthread.h>
#include <sched.h>

enum { MARK = 1000000, SIZE = 4096, THREADS = 4, ROUNDS = 50 };
#define CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE (1 << 0)

static char source[1 << 14];
static cl_mem out, in;
static int is_wrong;

static cl_mem room(cl_mem_flags flags, void *host)
{
    cl_mem buffer = clCreateBuffer(context, flags, SIZE * sizeof(int), host, NULL);
    CHECK(buffer);
    return buffer;
}

static cl_program compiled(const char *text, const char *options)
{
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    CHECK(!clCompileProgram(program, 1, &device, options, 0, NULL, NULL, NULL, NULL));
    return program;
}

static void set(cl_kernel kernel, cl_mem to, cl_mem from, int more)
{
    CHECK(!clSetKernelArg(kernel, 0, sizeof to, &to) && !clSetKernelArg(kernel, 1, sizeof from, &from));
    CHECK(!clSetKernelArg(kernel, 2, sizeof more, &more));
}

static cl_kernel kernel_of(cl_program program, const char *name, int more)
{
    cl_kernel kernel = clCreateKernel(program, name, NULL);
    CHECK(kernel);
    set(kernel, out, in, more);
    return kernel;
}

enum Way { OWN, COARSENED, WRONG };

static void see(enum Way expected, const char *name, enum Way found)
{
    const char *words[] = {"as it is written", "coarsened", "with wrong numbers"};
    expected = getenv("COARSEN_SHELF") ? expected : OWN;
    if (found == expected)
        return;
    printf("%s: ran %s, expected %s\n", name, words[found], words[expected]);
    is_wrong = 1;
}

/* How a launch ran: by the numbers in `to` from `offset` on, of which nothing else may have changed. */
static enum Way way(cl_mem to, size_t offset, size_t count, int more)
{
    static int found[SIZE];
    CHECK(!clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    int mark = found[offset] - (int)offset - more;
    for (size_t i = 0; i < SIZE; i++)
        if (found[i] != (i < offset || i >= offset + count ? -1 : (int)i + more + mark))
            return WRONG;
    return mark == MARK ? COARSENED : mark ? WRONG : OWN;
}

static void clear(cl_command_queue on, cl_mem buffer)
{
    static int none[SIZE];
    for (int i = 0; i < SIZE; i++)
        none[i] = -1;
    CHECK(!clEnqueueWriteBuffer(on, buffer, CL_TRUE, 0, sizeof none, none, 0, NULL, NULL));
}

/* Launch, and see whether it runs as expected. */
static void expect(enum Way expected, const char *name, cl_kernel kernel, size_t offset, size_t global, size_t local, int more)
{
    clear(queue, out);
    CHECK(!clEnqueueNDRangeKernel(queue, kernel, 1, offset ? &offset : NULL, &global, local ? &local : NULL, 0, NULL, NULL));
    see(expected, name, way(out, offset, global, more));
}

static void sizes(cl_kernel kernel)
{
    expect(COARSENED, "local", kernel, 0, 1024, 32, 3);
    expect(COARSENED, "again", kernel, 0, 1024, 32, 3);
    expect(COARSENED, "offset", kernel, 64, 512, 32, 3);
    expect(OWN, "other-local", kernel, 0, 1024, 64, 3);
    expect(OWN, "unit", kernel, 0, 96, 32, 3);
    expect(OWN, "divisor", kernel, 0, 640, 32, 3);
    expect(OWN, "most", kernel, 0, 2048, 32, 3);
    expect(OWN, "least", kernel, 0, 32, 32, 3);
    expect(COARSENED, "open", kernel, 0, 100, 0, 3);
    expect(OWN, "open-outside", kernel, 0, 512, 0, 3);
    expect(COARSENED, "exact", kernel, 0, 99, 0, 3);
}

static void arguments(cl_kernel kernel)
{
    int more = 7;
    cl_buffer_region halves[] = {{0, SIZE}, {2 * SIZE, 2 * SIZE}};
    cl_mem none = NULL, whole = room(CL_MEM_READ_WRITE, NULL);
    clear(queue, whole);
    CHECK(!clSetKernelArg(kernel, 2, sizeof more, &more));
    expect(COARSENED, "kept", kernel, 0, 1024, 32, 7);
    CHECK(!clSetKernelArg(kernel, 1, sizeof none, &none));
    expect(COARSENED, "null", kernel, 0, 1024, 32, 7);
    CHECK(!clSetKernelArg(kernel, 1, sizeof none, NULL));
    expect(COARSENED, "nothing", kernel, 0, 1024, 32, 7);
    set(kernel, out, out, more);
    expect(OWN, "same", kernel, 0, 1024, 32, 7);
    cl_mem first = clCreateSubBuffer(out, 0, CL_BUFFER_CREATE_TYPE_REGION, &halves[1], NULL);
    CHECK(first);
    set(kernel, out, first, more);
    expect(OWN, "part", kernel, 0, 1024, 32, 7);
    cl_mem other = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &halves[0], NULL);
    set(kernel, out, other, more);
    expect(COARSENED, "part-of-another", kernel, 0, 1024, 32, 7);
    static int host[SIZE];
    cl_mem on_host = room(CL_MEM_USE_HOST_PTR, host);
    set(kernel, out, on_host, more);
    expect(OWN, "host", kernel, 0, 1024, 32, 7);
    int *shared = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE * sizeof *shared, 0);
    if (shared) {
        CHECK(!clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, shared, SIZE * sizeof *shared, 0, NULL, NULL));
        for (int i = 0; i < SIZE; i++)
            shared[i] = -1;
        CHECK(!clEnqueueSVMUnmap(queue, shared, 0, NULL, NULL) && !clSetKernelArgSVMPointer(kernel, 1, shared));
        expect(OWN, "shared", kernel, 0, 1024, 32, 7);
    }
    set(kernel, out, in, 3);
    expect(COARSENED, "plain", kernel, 0, 1024, 32, 3);
    CHECK(clSetKernelArg(kernel, 1, 1, &more));
    expect(COARSENED, "refused", kernel, 0, 1024, 32, 3);
    clReleaseMemObject(first);
    clReleaseMemObject(other);
    clReleaseMemObject(whole);
    clReleaseMemObject(on_host);
}

static void handles(cl_program program, cl_program unknown)
{
    cl_kernel kernel = kernel_of(program, "moved", 3), clone = clCloneKernel(kernel, NULL);
    if (clone) {
        int more = 5;
        CHECK(!clSetKernelArg(clone, 2, sizeof more, &more));
        expect(COARSENED, "cloned", clone, 0, 1024, 32, 5);
        expect(COARSENED, "original", kernel, 0, 1024, 32, 3);
        CHECK(!clReleaseKernel(kernel));
        expect(COARSENED, "clone-alone", clone, 0, 1024, 32, 5);
        CHECK(!clReleaseKernel(clone));
        kernel = kernel_of(program, "moved", 3);
    }
    CHECK(!clRetainKernel(kernel) && !clReleaseKernel(kernel));
    expect(COARSENED, "retained", kernel, 0, 1024, 32, 3);
    CHECK(!clReleaseKernel(kernel));
    for (int i = 0; i < 20; i++) {
        cl_kernel used = kernel_of(i % 2 ? program : unknown, "moved", 3);
        clear(queue, out);
        launch(used, 1024, 32);
        see(i % 2 ? COARSENED : OWN, "used-again", way(out, 0, 1024, 3));
        CHECK(!clReleaseKernel(used));
    }
    cl_kernel all[16];
    cl_uint count = 0;
    char name[64];
    CHECK(!clCreateKernelsInProgram(program, 16, all, &count));
    for (cl_uint i = 0; i < count; i++) {
        CHECK(!clGetKernelInfo(all[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
        if (strstr(name, "moved")) {
            set(all[i], out, in, 3);
            expect(COARSENED, "all-at-once", all[i], 0, 1024, 32, 3);
        }
        clReleaseKernel(all[i]);
    }
}

static void programs(void)
{
    cl_program linked, one = compiled(source, ""), other = compiled("kernel void more(void) { }", "");
    CHECK((linked = clLinkProgram(context, 1, &device, NULL, 1, &one, NULL, NULL, NULL)));
    expect(COARSENED, "linked", kernel_of(linked, "moved", 3), 0, 1024, 32, 3);
    cl_program both[] = {one, other};
    CHECK((linked = clLinkProgram(context, 1, &device, NULL, 2, both, NULL, NULL, NULL)));
    expect(OWN, "linked-from-two", kernel_of(linked, "moved", 3), 0, 1024, 32, 3);
    linked = clLinkProgram(context, 1, &device, "-cl-finite-math-only", 1, &one, NULL, NULL, NULL);
    if (linked)
        expect(OWN, "linked-with-options", kernel_of(linked, "moved", 3), 0, 1024, 32, 3);
    expect(OWN, "other-options", kernel_of(built(source, "-DOTHER"), "moved", 3), 0, 1024, 32, 3);
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    CHECK(clBuildProgram(program, 1, &device, "-DFAIL", NULL, NULL));
    CHECK(!clCreateKernel(program, "moved", NULL));
    cl_kernel kernel;
    /* Intel's runtime builds no program a second time after that. */
    if (!clBuildProgram(program, 1, &device, "", NULL, NULL))
        expect(COARSENED, "second-build", kernel_of(program, "moved", 3), 0, 1024, 32, 3);
    for (int i = 0; i < 3; i++) {
        program = built(source, "");
        kernel = kernel_of(program, "moved", 3);
        CHECK(!clReleaseProgram(program));
        expect(COARSENED, "a-program-for-each-launch", kernel, 0, 1024, 32, 3);
        CHECK(!clReleaseKernel(kernel));
    }
    program = built(source, "");
    kernel = kernel_of(program, "moved", 3);
    CHECK(!clReleaseKernel(kernel));
    if (!clBuildProgram(program, 1, &device, "-DOTHER", NULL, NULL))
        expect(OWN, "built-anew", kernel_of(program, "moved", 3), 0, 1024, 32, 3);
    const char *parts[] = {source, source + 10};
    size_t lengths[] = {10, strlen(source) - 10 + 1}; /* with the end of the text, as many programs have it */
    program = clCreateProgramWithSource(context, 2, parts, lengths, NULL);
    CHECK(!clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    kernel = kernel_of(program, "moved", 3);
    CHECK(!clReleaseProgram(program));
    expect(COARSENED, "program-released", kernel, 0, 1024, 32, 3);

    static unsigned char binary[1 << 22];
    const unsigned char *given = binary;
    size_t size = read_file("BINARY", binary, sizeof binary);
    program = clCreateProgramWithBinary(context, 1, &device, &size, &given, NULL, NULL);
    CHECK(program && !clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    expect(COARSENED, "binary", kernel_of(program, "moved", 3), 0, 1024, 32, 3);
}

/* A context for each launch, which the program gives up afterwards, or before it launches the kernel. */
static void contexts(void)
{
    cl_context own_context = context;
    cl_command_queue own_queue = queue;
    cl_mem own_out = out, own_in = in;
    for (int i = 0; i < 3; i++) {
        context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
        queue = clCreateCommandQueue(context, device, 0, NULL);
        out = room(CL_MEM_READ_WRITE, NULL);
        in = room(CL_MEM_READ_WRITE, NULL);
        clear(queue, in);
        cl_program program = built(source, "");
        cl_kernel kernel = kernel_of(program, "moved", 3);
        CHECK(!i || !clReleaseContext(context));
        expect(COARSENED, "another-context", kernel, 0, 1024, 32, 3);
        CHECK(!clReleaseKernel(kernel) && !clReleaseProgram(program) && !clReleaseMemObject(out) && !clReleaseMemObject(in));
        CHECK(!clReleaseCommandQueue(queue) && (i || !clReleaseContext(context)));
    }
    context = own_context;
    queue = own_queue;
    out = own_out;
    in = own_in;
}

static void queues(cl_kernel kernel)
{
    cl_command_queue_properties properties = CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    cl_command_queue other = clCreateCommandQueue(context, device, properties, NULL);
    CHECK(other);
    size_t global = 1024, local = 32;
    cl_event gate = clCreateUserEvent(context, NULL), first, second;
    cl_mem last = room(CL_MEM_READ_WRITE, NULL);
    clear(queue, out);
    clear(queue, last);
    CHECK(!clEnqueueNDRangeKernel(other, kernel, 1, NULL, &global, &local, 1, &gate, &first));
    cl_kernel then = clCloneKernel(kernel, NULL);
    if (!then)
        then = kernel;
    set(then, last, out, 3);
    CHECK(!clEnqueueNDRangeKernel(other, then, 1, NULL, &global, &local, 1, &first, &second));
    CHECK(!clSetUserEventStatus(gate, CL_COMPLETE) && !clWaitForEvents(1, &second));
    cl_ulong start = 0, end = 0, start_of_second = 0;
    CHECK(!clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    CHECK(!clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    CHECK(!clGetEventProfilingInfo(second, CL_PROFILING_COMMAND_START, sizeof end, &start_of_second, NULL));
    CHECK(start && start <= end && end <= start_of_second);
    see(COARSENED, "events", way(out, 0, 1024, 3));
    static int found[SIZE];
    CHECK(!clEnqueueReadBuffer(queue, last, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    see(COARSENED, "waiting", found[5] == 5 + 3 + 3 + 2 * MARK ? COARSENED : found[5] == 5 + 3 + 3 ? OWN : WRONG);
    /* What the program does wrong is its own error. */
    cl_context another = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue elsewhere = clCreateCommandQueue(another, device, 0, NULL);
    CHECK(elsewhere && clEnqueueNDRangeKernel(elsewhere, kernel, 1, NULL, &global, &local, 0, NULL, NULL) == -34);
    expect(COARSENED, "after-an-error", kernel, 0, 1024, 32, 3);
    clReleaseCommandQueue(other);
}

static void added(cl_program program)
{
    cl_kernel kernel = kernel_of(program, "added", 3);
    CHECK(!clSetKernelArg(kernel, 3, 32 * sizeof(int), NULL));
    expect(COARSENED, "added", kernel, 0, 1024, 32, 3);
    CHECK(!clSetKernelArg(kernel, 3, 64 * sizeof(int), NULL));
    expect(COARSENED, "added-larger", kernel, 0, 512, 64, 3);
    expect(COARSENED, "below", kernel_of(program, "below", 3), 0, 1024, 32, 3);
    kernel = kernel_of(program, "below", 3);
    cl_mem large = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * SIZE * sizeof(int), NULL, NULL);
    cl_buffer_region half = {0, SIZE};
    clear(queue, large);
    set(kernel, out, large, 3);
    expect(OWN, "too-large", kernel, 0, 1024, 32, 3);
    set(kernel, out, clCreateSubBuffer(large, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, NULL), 3);
    expect(OWN, "part-of-too-large", kernel, 0, 1024, 32, 3);
    expect(OWN, "not-built", kernel_of(program, "broken", 3), 0, 1024, 32, 3);
    expect(OWN, "other-arguments", kernel_of(program, "fewer", 3), 0, 1024, 32, 3);
}

struct Work {
    cl_program program;
    cl_kernel kernel; /* NULL: each thread has its own */
    size_t global;
};

static void *repeated(void *given)
{
    struct Work *work = given;
    cl_mem to = room(CL_MEM_READ_WRITE, NULL);
    cl_command_queue on = clCreateCommandQueue(context, device, 0, NULL);
    size_t local = 32;
    for (int i = 0; i < ROUNDS; i++) {
        cl_kernel kernel = work->kernel ? work->kernel : clCreateKernel(work->program, "moved", NULL);
        if (!work->kernel)
            set(kernel, to, in, 3);
        CHECK(!clEnqueueNDRangeKernel(on, kernel, 1, NULL, &work->global, &local, 0, NULL, NULL));
        if (!work->kernel)
            CHECK(!clReleaseKernel(kernel));
    }
    CHECK(!clFinish(on));
    if (!work->kernel) {
        static __thread int found[SIZE];
        CHECK(!clEnqueueReadBuffer(on, to, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
        see(COARSENED, "threads", found[9] == 9 + 3 + MARK ? COARSENED : found[9] == 9 + 3 ? OWN : WRONG);
    }
    clReleaseMemObject(to);
    return NULL;
}

static void threads(cl_program program)
{
    cl_kernel shared = kernel_of(program, "added", 3);
    CHECK(!clSetKernelArg(shared, 3, 32 * sizeof(int), NULL));
    struct Work work[THREADS];
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        unsigned long running[THREADS];
        clear(queue, out);
        for (int i = 0; i < THREADS; i++) {
            work[i] = (struct Work){program, is_shared ? shared : NULL, is_shared ? 512 + 512 * (i % 2) : 1024};
            CHECK(!pthread_create(&running[i], NULL, repeated, &work[i]));
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(running[i], NULL);
    }
    /* A variant with another launch's size says so by a wrong number; some may have run as they are written. */
    int found[1024];
    CHECK(!clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    for (int i = 0; i < 1024; i++)
        CHECK(found[i] == i + 3 || found[i] == i + 3 + MARK);
}

static void CL_CALLBACK build_ended(cl_program program, void *done)
{
    cl_kernel kernel = kernel_of(program, "moved", 3);
    *(cl_kernel volatile *)done = kernel;
}

static void callbacks(void)
{
    static cl_kernel volatile kernel;
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    CHECK(!clBuildProgram(program, 1, &device, "", build_ended, (void *)&kernel));
    while (!kernel)
        sched_yield();
    expect(OWN, "made-in-a-callback", kernel, 0, 1024, 32, 3);
}

int main(void)
{
    open_device();
    read_file("SOURCE", source, sizeof source - 1);
    out = room(CL_MEM_READ_WRITE, NULL);
    in = room(CL_MEM_READ_WRITE, NULL);
    clear(queue, in);
    cl_program program = built(source, NULL), unknown = built(source, "-DUNKNOWN");
    cl_kernel kernel = kernel_of(program, "moved", 3);
    sizes(kernel);
    arguments(kernel);
    handles(program, unknown);
    programs();
    contexts();
    queues(kernel);
    added(program);
    threads(program);
    callbacks();
    expect(COARSENED, "at-the-end", kernel, 0, 1024, 32, 3);
    if (clGetExtensionFunctionAddressForPlatform(NULL, "clSetKernelArgMemPointerINTEL") ||
        clGetExtensionFunctionAddress("clSetKernelArgMemPointerINTEL"))
        expect(OWN, "set-unseen", kernel, 0, 1024, 32, 3);
    printf("done\n");
    return is_wrong;
}
