/* Damaged files of the shelf: every length, and every byte changed, with a check that is right and one that is not. None
 * may be read beyond its end, behind which there is no memory. UNIT is a file that is whole. */
#include "substitute.c"
#include "process.h"
#include "driver.h"

int mprotect(void *place, size_t size, int protection);
int chmod(const char *path, unsigned mode);
int fork(void);
int waitpid(int process, int *state, int options);
void _exit(int code);

enum { MOST = 1 << 14 };

static char *end; /* of the memory that there is */
static int taken;

/* What the layer does with a file, for kernels of each name. */
static void launch_all(const struct Header *header)
{
    struct Unit unit = {.header = header};
    struct Variants *variants = calloc(1, sizeof *variants);
    *variants = (struct Variants){.users = 1, .unit = &unit};
    cl_kernel kernel = clCreateKernel(NULL, "k", NULL);
    const char *const names[] = {"k", "l", "other"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        add_variants(kernel, variants, names[i]);
        int buffers[2];
        for (int j = 0; j < 3; j++) {
            cl_mem buffer = (cl_mem)&buffers[j];
            CHECK(!clSetKernelArg(kernel, j, j == 2 ? 4 : sizeof buffer, j == 2 ? NULL : &buffer));
        }
        const size_t global[] = {64, 8, 8}, local[] = {8, 8, 8};
        for (cl_uint dimensions = 1; dimensions <= 3; dimensions++)
            for (int has_local = 0; has_local < 2; has_local++) {
                CHECK(!clEnqueueNDRangeKernel(NULL, kernel, dimensions, NULL, global, has_local ? local : NULL, 0, NULL, NULL));
                taken += launched != kernel;
                CHECK(launched == kernel ? launched_size == 64 : launched_size > 0);
            }
        cl_kernel clone = clCloneKernel(kernel, NULL);
        clReleaseKernel(clone);
        lock();
        struct Object *object = found(kernel, KERNEL);
        unlock();
        if (object) {
            clReleaseKernel(kernel);
            kernel = clCreateKernel(NULL, "k", NULL);
        }
    }
    clReleaseKernel(kernel);
    release_variants(variants);
}

/* Returns whether a file's content is valid. */
static int use(const char *content, size_t size)
{
    struct Header *header = (struct Header *)(end - (size + 7) / 8 * 8);
    memcpy(header, content, size);
    if (!is_valid(header, size))
        return 0;
    for (variant_arguments = 3; variant_arguments <= 5; variant_arguments += 2)
        launch_all(header);
    variant_arguments = 3;
    return 1;
}

/* A kernel of a program with this text, as a program gets it; NULL where nothing is remembered of it. */
static cl_kernel kernel_by_path(const char *text)
{
    cl_program program = clCreateProgramWithSource(NULL, 1, &text, NULL, NULL);
    CHECK(!clBuildProgram(program, 0, NULL, "-DA", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", NULL);
    CHECK(!clReleaseProgram(program));
    return known_kernel(kernel) ? kernel : NULL;
}

/* Whether a launch with so many different buffers is. */
static int is_coarsened(cl_kernel kernel, int count)
{
    CHECK(!clSetKernelArg(kernel, 2, sizeof count, &count));
    static int buffers[2];
    for (int i = 0; i < 2; i++) {
        cl_mem buffer = (cl_mem)&buffers[i % count];
        CHECK(!clSetKernelArg(kernel, i, sizeof buffer, &buffer));
    }
    const size_t global = 64, local = 8;
    CHECK(!clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    return launched != kernel;
}

static void correct(char *content, size_t size)
{
    struct Header *header = (struct Header *)content;
    header->size = size;
    header->check = hash_of(HASH_START, content + 24, size - 24);
}

int main(void)
{
    static char whole[MOST], changed[MOST] __attribute__((aligned(8)));
    size_t size = read(open(getenv("UNIT"), 0), whole, MOST), valid = 0;
    CHECK(size > 500 && size < MOST);
    char *memory = mmap(NULL, 2 * MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end = memory + MOST;
    CHECK(!mprotect(end, MOST, 0));
    void *target[LENGTH(next)];
    fill_table(target, LENGTH(target));
    cl_uint count;
    const cl_icd_dispatch *table;
    CHECK(!clInitLayer(LENGTH(target), (const cl_icd_dispatch *)target, &count, &table) && table);
    CHECK(clInitLayer(LENGTH(target), (const cl_icd_dispatch *)target, &count, &table));
    CHECK(IS_ON && use(whole, size) && taken == 3);
    for (size_t length = 0; length < size; length++) {
        memcpy(changed, whole, size);
        CHECK(!use(changed, length));
        if (length >= sizeof(struct Header)) {
            correct(changed, length);
            valid += use(changed, length);
        }
    }
    for (size_t i = 0; i < size; i++) {
        const char values[] = {0, -1, whole[i] ^ 1, whole[i] ^ 8, whole[i] ^ 0x80, whole[i] + 1};
        for (size_t j = 0; j < LENGTH(values); j++) {
            memcpy(changed, whole, size);
            changed[i] = values[j];
            CHECK(values[j] == whole[i] || !use(changed, size));
            correct(changed, size);
            valid += use(changed, size);
        }
    }
    CHECK(valid > size);
    /* Texts that nothing ends. */
    for (size_t i = 1; i <= 8; i++) {
        memcpy(changed, whole, size);
        memcpy(changed + size, "unended", 8);
        ((struct Row *)(changed + sizeof(struct Header)))->kernel = size + 8 - i;
        correct(changed, size + 7);
        CHECK(!use(changed, size + 7));
    }

    CHECK(use(whole, size));
    CHECK(!kernel_by_path("another text") && !kernel_by_path(""));
    device_count = 2;
    CHECK(!kernel_by_path("text"));
    device_count = 1;
    CHECK(!chmod(getenv("UNIT"), 0660) && !kernel_by_path("text")); /* Others could have written it. */
    CHECK(!chmod(getenv("UNIT"), 0600));
    cl_kernel own = kernel_by_path("text");
    CHECK(known_kernel(own) && is_coarsened(own, 2));
    device_of_queue = own;
    CHECK(!is_coarsened(own, 2));
    device_of_queue = NULL;
    CHECK(is_coarsened(own, 2) && !is_coarsened(own, 1));
    /* A handle that is used again after a release is asked about again. */
    CHECK(is_coarsened(own, 2));
    memory_size = 5;
    CHECK(is_coarsened(own, 2) && !clReleaseMemObject(NULL) && !is_coarsened(own, 2));
    memory_size = 4;
    CHECK(!is_coarsened(own, 2) && !clReleaseMemObject(NULL) && is_coarsened(own, 2));
    /* A kernel for each launch has the variants of the last one, but none of its arguments. */
    const char *text = "text";
    cl_program program = clCreateProgramWithSource(NULL, 1, &text, NULL, NULL);
    CHECK(!clBuildProgram(program, 0, NULL, "-DA", NULL, NULL));
    for (int i = 0; i < 4; i++) {
        int made = kernels_made;
        cl_kernel each = clCreateKernel(program, "k", NULL);
        CHECK(kernels_made == made + (i ? 1 : 2) && known_kernel(each));
        cl_mem buffer = (cl_mem)&buffer;
        CHECK(!clSetKernelArg(each, 0, sizeof buffer, &buffer) && !clSetKernelArg(each, 2, 4, &made));
        const size_t global = 64, local = 8;
        CHECK(!clEnqueueNDRangeKernel(NULL, each, 1, NULL, &global, &local, 0, NULL, NULL) && launched == each);
        CHECK(is_coarsened(each, 2) && !clReleaseKernel(each));
    }
    /* Of what clones leave, and of many kernels that live at the same time, little is kept. */
    cl_kernel many[100] = {clCreateKernel(program, "k", NULL)};
    int before = objects_left;
    for (int i = 0; i < 300; i++)
        CHECK(!clReleaseKernel(clCloneKernel(many[0], NULL)));
    for (size_t i = 1; i < LENGTH(many); i++)
        many[i] = clCreateKernel(program, "k", NULL);
    for (size_t i = 1; i < LENGTH(many); i++)
        CHECK(!clReleaseKernel(many[i]));
    CHECK(objects_left > before && objects_left <= before + MOST_SPARES && !clReleaseKernel(many[0]));
    CHECK(!clReleaseProgram(program));
    /* A program for each launch has the variants of the last one, as long as there is their context. */
    cl_context context = clCreateContext(NULL, 0, NULL, NULL, NULL, NULL);
    int loaded = binaries_loaded;
    before = objects_left;
    context_of_programs = context;
    CHECK(!clRetainContext(context) && !clReleaseContext(context));
    for (int i = 0; i < 4; i++) {
        cl_kernel each = kernel_by_path("text");
        CHECK(is_coarsened(each, 2) && binaries_loaded == loaded + 1 && !clReleaseKernel(each));
    }
    cl_kernel last = kernel_by_path("text");
    CHECK(objects_left > before && !clReleaseContext(context));
    CHECK(is_coarsened(last, 2) && !clReleaseKernel(last) && objects_left == before);
    CHECK((last = kernel_by_path("text")) && binaries_loaded == loaded + 2 && !clReleaseKernel(last));
    CHECK(objects_left == before);
    context_of_programs = NULL;
    context_property = 0x2008; /* of OpenGL */
    cl_kernel shared = kernel_by_path("text");
    CHECK(known_kernel(shared) && !is_coarsened(shared, 2));
    int child = fork(), state = -1;
    if (!child)
        _exit(known_kernel(own) || IS_ON);
    CHECK(waitpid(child, &state, 0) == child && !state);
    CHECK(extension("clGetUnknown", NULL) == NULL && IS_ON);
    CHECK(extension("clCreateFromGLBuffer", (void *)main) && IS_ON);
    CHECK(extension("clSetKernelArgDevicePointerEXT", (void *)main) == (void *)main && !IS_ON && !known_kernel(own));
    before = objects_left;
    CHECK(!clReleaseKernel(own) && objects_left < before - 1);
    printf("done\n");
    return 0;
}
