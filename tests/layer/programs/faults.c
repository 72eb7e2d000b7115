/* The recorder where something goes wrong: each case in a process of its own, above a driver that does nothing. */
#define malloc limited_malloc
#define calloc limited_calloc
#define realloc limited_realloc
#define write cut_write
#include "recorder.c"
#undef malloc
#undef calloc
#undef realloc
#undef write
#include "process.h"
#include "driver.h"

void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
long write(int file, const void *bytes, size_t size);
long lseek(int file, long offset, int from);
int fork(void);
int waitpid(int process, int *state, int options);
void _exit(int code);

enum { LARGE = 4096, FROM_END = 2, RUNNING = 1 };

static int allocations_left = 1 << 30, most_written = 1 << 30, state_of_events, questions;

void *limited_malloc(size_t size)
{
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

void *limited_calloc(size_t count, size_t size)
{
    return allocations_left-- > 0 ? calloc(count, size) : NULL;
}

void *limited_realloc(void *memory, size_t size)
{
    return allocations_left-- > 0 ? realloc(memory, size) : NULL;
}

/* Of contents, which are larger than the log's records, so many bytes at once. */
long cut_write(int file, const void *bytes, size_t size)
{
    return write(file, bytes, size >= 1000 && most_written < (long)size ? (size_t)most_written : size);
}

static cl_int an_event_info(cl_event event, cl_event_info name, size_t size, void *value, size_t *size_ret)
{
    questions++;
    cl_int status = an_info(event, name, size, value, size_ret);
    if (name == CL_EVENT_COMMAND_EXECUTION_STATUS)
        *(cl_int *)value = state_of_events;
    return status;
}

static void(CL_CALLBACK *last_callback)(cl_event, cl_int, void *);
static void *last_data;

static cl_int a_callback(cl_event event, cl_int state, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
    (void)event, (void)state;
    last_callback = notify;
    last_data = data;
    return CL_SUCCESS;
}

static cl_command_queue queue;
static cl_program program;
static cl_kernel kernel;

static void make_objects(void)
{
    const char *source = "kernel void k(global int *values) { }";
    queue = clCreateCommandQueue(NULL, NULL, 0, NULL);
    program = clCreateProgramWithSource(NULL, 1, &source, NULL, NULL);
    clBuildProgram(program, 0, NULL, "-DA", NULL, NULL);
    kernel = clCreateKernel(program, "k", NULL);
    cl_mem buffer = clCreateBuffer(NULL, 0, LARGE, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
}

static cl_int launch(size_t size)
{
    return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
}

static int is_wanted(void)
{
    return found(kernel, KERNEL)->kernel.last_class->tries > 0;
}

static void use_everything(void)
{
    make_objects();
    cl_mem other = clCreateBuffer(NULL, 0, LARGE, NULL, NULL);
    size_t region[] = {0, 8};
    clCreateSubBuffer(other, 0, 0x1220, region, NULL);
    clSetKernelArgSVMPointer(kernel, 1, clSVMAlloc(NULL, 0, 64, 0));
    for (int i = 2; i < 40; i++)
        clSetKernelArg(kernel, i, sizeof i, &i);
    for (int i = 1; i < 700; i++) {
        clSetKernelArg(kernel, 2, sizeof i, &i);
        launch(64 * i);
    }
    cl_kernel clone = clCloneKernel(kernel, NULL);
    kernel = clone;
    launch(64);
    for (int i = 0; i < 200; i++)
        clCreateBuffer(NULL, 0, LARGE, NULL, NULL);
    clLinkProgram(NULL, 0, NULL, NULL, 1, &program, NULL, NULL, NULL);
    clReleaseKernel(clone);
    clReleaseProgram(program);
    clFinish(queue);
}

static void no_memory(void)
{
    for (int left = 0; left < 60; left++) {
        int child = fork(), state = -1;
        if (!child) {
            *is_on = 1;
            allocations_left = left;
            use_everything();
            _exit(IS_ON != 0);
        }
        CHECK(waitpid(child, &state, 0) == child && !state);
    }
    use_everything();
    CHECK(IS_ON);
}

static void a_launch_that_fails(void)
{
    make_objects();
    uint64_t left = *here.left;
    launches_fail = 1;
    CHECK(launch(64) == CL_INVALID_VALUE && is_wanted() && *here.left == left && here.counts->launches == 0);
    launches_fail = 0;
    CHECK(!launch(64) && !is_wanted() && *here.left == left - LARGE && here.counts->launches == 1);
}

static void CL_CALLBACK launch_in_callback(cl_event event, cl_int state, void *data)
{
    (void)event, (void)state;
    *(cl_int *)data = launch(64);
}

static void a_launch_in_a_callback(void)
{
    make_objects();
    cl_int status = -1;
    CHECK(!clSetEventCallback(NULL, CL_COMPLETE, launch_in_callback, &status) && last_callback != launch_in_callback);
    last_callback(NULL, CL_COMPLETE, last_data);
    CHECK(!status && is_wanted() && here.counts->launches == 1);
    CHECK(!launch(64) && !is_wanted());
}

static void launches_that_do_not_end(void)
{
    make_objects();
    *here.left = here.left[1] = 0;
    state_of_events = RUNNING;
    for (int i = 0; i < 5000; i++)
        CHECK(!launch(64));
    CHECK(pending.count > 500);
    questions = 0;
    clFinish(queue);
    CHECK(questions == MOST_UNENDED);
    state_of_events = CL_COMPLETE;
    clFinish(queue);
    CHECK(pending.count == 0 && here.counts->timed == ALL_TIMED + (5000 - ALL_TIMED + TIMED_OF - 1) / TIMED_OF);
}

static void what_is_before_does_not_end(void)
{
    make_objects();
    state_of_events = RUNNING;
    here.patience = 1000000;
    for (int i = 1; i <= MOST_TRIES; i++) {
        here.patience = 1000000;
        CHECK(!launch(64) && is_wanted() == (i < MOST_TRIES));
        CHECK(here.patience == SOON / 100);
    }
}

static void too_much_text(void)
{
    make_objects();
    here.text = MOST_TEXT - 10;
    uint32_t units = here.units;
    for (int i = 0; i < 3; i++) {
        const char *source[] = {"kernel void k() { }", i ? "// another" : ""};
        cl_program large = clCreateProgramWithSource(NULL, 2, source, NULL, NULL);
        clBuildProgram(large, 0, NULL, "-DA", NULL, NULL);
        kernel = clCreateKernel(large, "k", NULL);
        CHECK(found(kernel, KERNEL)->kernel.is_left_alone && here.units == units + 1 && !launch(64));
    }
    CHECK(here.counts->launches == 3);
}

static struct Passed passed_pointer(const void *pointer)
{
    CHECK(!clSetKernelArgSVMPointer(kernel, 0, pointer));
    return passed(found(kernel, KERNEL)->kernel.arguments);
}

static void ranges_of_shared_memory(void)
{
    make_objects();
    char *first = clSVMAlloc(NULL, 0, 64, 0), *second = clSVMAlloc(NULL, 0, 48, 0);
    struct Passed inside = passed_pointer(first + 24), other = passed_pointer(second);
    CHECK(inside.form == SHARED_MEMORY && inside.origin == 24 && inside.size == 40 && inside.whole);
    CHECK(other.origin == 0 && other.size == 48 && other.whole && other.whole != inside.whole);
    CHECK(passed_pointer(second + 47).size == 1 && !passed_pointer(second + 48).whole);
    clSVMFree(NULL, first);
    CHECK(!passed_pointer(first + 24).whole && passed_pointer(second).whole == other.whole);
    char *many[500];
    for (size_t i = 0; i < LENGTH(many); i++)
        many[i] = clSVMAlloc(NULL, 0, 64, 0);
    for (size_t i = 0; i < LENGTH(many); i += 2)
        clSVMFree(NULL, many[i]);
    for (size_t i = 0; i < LENGTH(many); i++)
        CHECK(passed_pointer(many[i] + 60).size == (i % 2 ? 4 : 0));
}

static void writes_that_are_cut(void)
{
    char path[sizeof here.start + 32];
    make_objects();
    most_written = 7;
    CHECK(!launch(64) && !is_wanted() && IS_ON);
    snprintf(path, sizeof path, "%s-0.content", here.start);
    CHECK(lseek(open(path, 0), 0, FROM_END) == LARGE);
    most_written = 0; /* as on a full disk */
    uint64_t left = *here.left;
    CHECK(!launch(128) && !is_wanted() && IS_ON && *here.left == left);
    snprintf(path, sizeof path, "%s-1.content", here.start);
    CHECK(open(path, 0) < 0);
}

int main(void)
{
    void *target[LENGTH(next)];
    void (*const cases[])(void) = {no_memory, a_launch_that_fails, a_launch_in_a_callback, launches_that_do_not_end,
                                   what_is_before_does_not_end, too_much_text, ranges_of_shared_memory, writes_that_are_cut};
    cl_uint count;
    const cl_icd_dispatch *table;
    memory_size = LARGE;
    variant_arguments = 40;
    fill_table(target, LENGTH(target));
    target[PLACE_clGetEventInfo] = (void *)an_event_info;
    target[PLACE_clSetEventCallback] = (void *)a_callback;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        int child = fork(), state = -1;
        if (!child) {
            CHECK(!clInitLayer(LENGTH(target), (const cl_icd_dispatch *)target, &count, &table) && IS_ON);
            here.left[0] = here.left[1] = 1 << 20;
            cases[i]();
            exit(0);
        }
        CHECK(waitpid(child, &state, 0) == child && !state);
    }
    printf("done\n");
    return 0;
}
