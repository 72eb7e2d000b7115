/* A layer under the OpenCL loader (OPENCL_LAYERS) that launches coarsened kernels in the place of a program's own.
 *
 *     program ─▶ loader ─▶ functions of this file ─▶ `next`: the loader's own, which calls the driver
 *                                  ▲
 *          SHELF/HASH.shelf: for one text of a program, its build options and a device, rows that `shelf.py` wrote
 *
 * Beside a kernel of which there are rows stand its variants, made of the driver's binaries that the file has. They get
 * the same arguments. A launch runs the variant of the first row that holds for its sizes and arguments; where none does,
 * or anything fails, it is the program's own call, untouched.
 */
#define LAYER_NAME "coarsen"
#include "opencl.h"
#include "support.h"
#include "layer.h"
#include "shelf.h"

enum { MOST_COUNTS = 1 << 14, MOST_SPARES = 16, NO_ROW = 1u << 31 };

struct Count {
    uint64_t unit;
    uint32_t row, unused;
    uint64_t launches;
};

/* A file that was read; it stays. */
struct Unit {
    struct Unit *after;
    uint64_t hash;
    const struct Header *header;
    struct Count *counts; /* of its rows, then of launches that none took by the first row of their kernel; or NULL */
};

static struct {
    const char *shelf;
    struct Unit *units;
    struct Count *counts; /* the first has the nanoseconds that the layer took before launches; or NULL */
    uint32_t count;
    size_t kernels;  /* that have variants */
    size_t releases; /* of memory objects: only after one another one can have the same handle */
} here;

/* What a program's variants are made of. */
struct Variants {
    int users; /* programs, kernels, threads that make kernels, and the context as long as the program has it */
    const struct Unit *unit;
    cl_device_id device;
    cl_context context;
    int is_shared; /* its context's memory may be that of another interface */
    struct Built {
        struct Built *after;
        const struct Row *row; /* the first with this binary */
        cl_program program;    /* NULL where it can't be built */
    } *built;
    struct Spare *spares;
    struct Variants *after; /* of the same context */
};

struct Variant {
    const struct Row *row; /* the first with this binary */
    cl_kernel kernel;
    cl_uint argument_count;
    int is_off; /* an argument can't be set, or it can't be launched */
};

struct Choice {
    const struct Row *row;
    struct Count *count;
    uint32_t variant;
};

/* What is known of memory: nothing, that there is none, its size alone, or also that no other object has it. */
enum Knowledge { UNKNOWN, NULL_POINTER, SIZE, PLACE };

struct Argument {
    enum Knowledge knowledge;
    int is_set, is_looked_at; /* is_looked_at: some row asks what memory it is */
    size_t size;      /* of memory, or of local memory */
    cl_mem whole, memory;
    size_t releases; /* when this was found out */
};

struct Kernel {
    const struct Header *header;
    struct Variants *of;
    cl_device_id device;
    uint32_t choice_count, variant_count, argument_count, unset_count;
    struct Choice *choices;
    struct Variant *variants;
    struct Argument *arguments;
    struct Count *not_taken;
    int is_shared, points_elsewhere;
    int is_busy; /* a thread launches a variant with added arguments */
};

/* What a kernel had that was released, for the next one of its name: some programs make one for each launch. */
struct Spare {
    struct Spare *after;
    struct Kernel kernel;
};

static void free_kernel(struct Kernel *kernel)
{
    free(kernel->choices);
    free(kernel->variants);
    free(kernel->arguments);
}

#include "objects.h"
#include "programs.h"

/* --- The shelf. --- */

static int is_of(const struct Header *header, const char *source, size_t size, const char *options, const char *device)
{
    return header->source_size == size && !memcmp(text_of(header, header->source), source, size) &&
           !strcmp(text_of(header, header->options), options) && !strcmp(text_of(header, header->device), device);
}

/* What is remembered of a text, its options and a device; NULL if nothing is. With the lock. */
static const struct Unit *unit_of(const char *source, size_t size, const char *options, const char *device)
{
    uint64_t hash = hash_of(HASH_START, source, size + 1);
    hash = hash_of(hash, options, strlen(options) + 1);
    hash = hash_of(hash, device, strlen(device) + 1);
    for (const struct Unit *each = here.units; each; each = each->after)
        if (each->hash == hash)
            return is_of(each->header, source, size, options, device) ? each : NULL;
    char path[4096];
    size_t file_size;
    if (snprintf(path, sizeof path, "%s/%016lx.shelf", here.shelf, hash) >= (int)sizeof path)
        return NULL;
    struct Header *header = read_own(path, &file_size);
    struct Unit *unit = header && is_valid(header, file_size) ? calloc(1, sizeof *unit) : NULL;
    if (!unit) {
        free(header);
        return NULL;
    }
    *unit = (struct Unit){here.units, hash, header, NULL};
    here.units = unit;
    uint32_t count = 2 * header->row_count;
    if (here.counts && count <= MOST_COUNTS - here.count) {
        unit->counts = here.counts + here.count;
        here.count += count;
        for (uint32_t i = 0; i < count; i++)
            unit->counts[i] =
                (struct Count){hash, i < header->row_count ? i : (i - header->row_count) | NO_ROW, 0, 0};
    }
    return is_of(header, source, size, options, device) ? unit : NULL;
}

static void count_launch(struct Count *count)
{
    if (count)
        __atomic_fetch_add(&count->launches, 1, __ATOMIC_RELAXED);
}

static uint64_t now(void)
{
    struct timespec time = {0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* --- Programs. --- */

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,
                                     const unsigned char **binaries, cl_int *states, cl_int *error)
{
    cl_program program = NEXT(clCreateProgramWithBinary)(context, count, devices, sizes, binaries, states, error);
    char *copy = program && IS_ON && count == 1 ? copied(binaries[0], sizes[0]) : NULL;
    return copy ? with_program(program, NONE, copy, sizes[0]) : program;
}

static void release_kernels(const struct Variant *variants, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (variants[i].kernel)
            NEXT(clReleaseKernel)(variants[i].kernel);
}

static void release_variants(struct Variants *variants)
{
    lock();
    int is_used = !variants || --variants->users;
    unlock();
    if (is_used)
        return;
    for (struct Spare *each = variants->spares, *after; each; each = after) {
        after = each->after;
        release_kernels(each->kernel.variants, each->kernel.variant_count);
        free_kernel(&each->kernel);
        free(each);
    }
    for (struct Built *each = variants->built, *after; each; each = after) {
        after = each->after;
        if (each->program)
            NEXT(clReleaseProgram)(each->program);
        free(each);
    }
    free(variants);
}

/* --- Contexts. --- */

/* Count that a program gets or gives up a context. Returns the first of the variants that are kept for it where it has given
 * it up in whole: they would keep it alive. */
static struct Variants *counted(cl_context context, int change)
{
    struct Variants *kept = NULL;
    if (!context || !OWNS_OBJECTS)
        return NULL;
    lock();
    struct Object *object = found(context, CONTEXT);
    if (!object && change > 0 && IS_ON)
        made(context, CONTEXT);
    else if (object && !(object->references += change)) {
        kept = object->kept;
        forget(context);
    }
    unlock();
    return kept;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *error)
{
    cl_context context = NEXT(clCreateContext)(properties, count, devices, notify, data, error);
    counted(context, 1);
    return context;
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                   void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                                   cl_int *error)
{
    cl_context context = NEXT(clCreateContextFromType)(properties, type, notify, data, error);
    counted(context, 1);
    return context;
}

cl_int clRetainContext(cl_context context)
{
    cl_int status = NEXT(clRetainContext)(context);
    if (!status)
        counted(context, 1);
    return status;
}

cl_int clReleaseContext(cl_context context)
{
    for (struct Variants *each = counted(context, -1), *after; each; each = after) {
        after = each->after;
        release_variants(each);
    }
    return NEXT(clReleaseContext)(context);
}

/* What a file of the shelf says of its device. */
static void describe(cl_device_id device, char *text, size_t size)
{
    char texts[4][1024] = {"", "", "", ""};
    cl_platform_id platform = NULL;
    NEXT(clGetDeviceInfo)(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    NEXT(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof *texts - 1, texts[0], NULL);
    NEXT(clGetPlatformInfo)(platform, CL_PLATFORM_NAME, sizeof *texts - 1, texts[1], NULL);
    NEXT(clGetDeviceInfo)(device, CL_DRIVER_VERSION, sizeof *texts - 1, texts[2], NULL);
    NEXT(clGetPlatformInfo)(platform, CL_PLATFORM_VERSION, sizeof *texts - 1, texts[3], NULL);
    snprintf(text, size, "%s\n%s\n%s\n%s", texts[0], texts[1], texts[2], texts[3]);
}

/* Whether the memory of a context may be that of another interface: it has properties beside its platform. */
static int shares_memory(cl_context context)
{
    cl_context_properties properties[64] = {0};
    size_t size; /* PoCL 3.1 writes it even where it is not asked for */
    if (NEXT(clGetContextInfo)(context, CL_CONTEXT_PROPERTIES, sizeof properties - sizeof *properties, properties, &size))
        return 1;
    for (size_t i = 0; properties[i]; i += 2)
        if (properties[i] != CL_CONTEXT_PLATFORM)
            return 1;
    return 0;
}

/* Variants with one more user, those of an earlier program with the same text where there are any: some programs make one
 * for each launch. NULL where there is no memory. With the lock. */
static struct Variants *shared_variants(const struct Variants *looked_up)
{
    struct Object *context = looked_up->unit ? found(looked_up->context, CONTEXT) : NULL;
    struct Variants *variants = context ? context->kept : NULL;
    while (variants && (variants->unit != looked_up->unit || variants->device != looked_up->device))
        variants = variants->after;
    if (!variants && (variants = allocated(malloc(sizeof *variants)))) {
        *variants = *looked_up;
        if (context) {
            variants->after = context->kept;
            variants->users++;
            context->kept = variants;
        }
    }
    if (variants)
        variants->users++;
    return variants;
}

/* Look for a program on the shelf, when its first kernel is made. Returns what is known, for `release_variants`, whose unit
 * is NULL where nothing is remembered; NULL where it is left alone. */
static struct Variants *variants_of(cl_program program)
{
    lock();
    struct Object *object = found(program, PROGRAM);
    int is_known = object && object->program.problem == NONE && object->program.source && object->program.options;
    struct Variants *variants = is_known ? object->program.variants : NULL, looked_up = {0};
    if (variants)
        variants->users++;
    unlock();
    if (!is_known || variants)
        return variants;
    cl_uint device_count = 0;
    char device[4200] = "";
    if (NEXT(clGetProgramInfo)(program, CL_PROGRAM_NUM_DEVICES, sizeof device_count, &device_count, NULL) ||
        NEXT(clGetProgramInfo)(program, CL_PROGRAM_CONTEXT, sizeof looked_up.context, &looked_up.context, NULL) ||
        device_count != 1 ||
        NEXT(clGetProgramInfo)(program, CL_PROGRAM_DEVICES, sizeof looked_up.device, &looked_up.device, NULL))
        device_count = 0;
    else
        describe(looked_up.device, device, sizeof device);
    looked_up.is_shared = device_count && shares_memory(looked_up.context);
    int before = set_cancelling(PTHREAD_CANCEL_DISABLE);
    lock();
    object = found(program, PROGRAM);
    if (object && !object->program.variants && object->program.source && object->program.options) {
        if (device_count)
            looked_up.unit = unit_of(object->program.source, object->program.size, object->program.options, device);
        object->program.variants = shared_variants(&looked_up);
    }
    if ((variants = object ? object->program.variants : NULL))
        variants->users++;
    unlock();
    set_cancelling(before);
    return variants;
}

static int have_same_code(const struct Header *header, const struct Row *one, const struct Row *other)
{
    return one->binary == other->binary && one->binary_size == other->binary_size &&
           !strcmp(text_of(header, one->build_options), text_of(header, other->build_options));
}

static cl_program build(const struct Variants *variants, const struct Row *row)
{
    const struct Header *header = variants->unit->header;
    const unsigned char *binary = (const unsigned char *)text_of(header, row->binary);
    size_t size = row->binary_size;
    cl_int state = CL_SUCCESS;
    cl_program program =
        NEXT(clCreateProgramWithBinary)(variants->context, 1, &variants->device, &size, &binary, &state, NULL);
    if (!program)
        return NULL;
    if (!state)
        state = NEXT(clBuildProgram)(program, 1, &variants->device, text_of(header, row->build_options), NULL, NULL);
    if (!state)
        return program;
    NEXT(clReleaseProgram)(program);
    return NULL;
}

/* The program of a row's binary, built once for each of the user's programs. */
static cl_program program_of(struct Variants *variants, const struct Row *row)
{
    cl_program program = NULL;
    for (int tries = 0; tries < 2; tries++) {
        lock();
        struct Built *built = variants->built;
        while (built && !have_same_code(variants->unit->header, built->row, row))
            built = built->after;
        if (!built && tries && (built = allocated(malloc(sizeof *built)))) {
            *built = (struct Built){variants->built, row, program};
            variants->built = built;
            program = NULL;
        }
        unlock();
        if (tries && program)
            NEXT(clReleaseProgram)(program); /* Another thread was faster. */
        if (built)
            return built->program;
        program = build(variants, row);
    }
    return NULL;
}

/* --- Kernels. --- */

/* The place of a row's variant among those of a kernel, where it is made if it is not there. */
static uint32_t variant_of(struct Kernel *kernel, struct Variants *variants, const struct Row *row, const char *name)
{
    uint32_t place = 0;
    while (place < kernel->variant_count &&
           !have_same_code(variants->unit->header, kernel->variants[place].row, row))
        place++;
    if (place == kernel->variant_count) {
        cl_program program = program_of(variants, row);
        cl_kernel variant = program ? NEXT(clCreateKernel)(program, name, NULL) : NULL;
        kernel->variants[kernel->variant_count++] =
            (struct Variant){row, variant, variant ? argument_count_of(variant) : 0, !variant};
    }
    return place;
}

static void note_looked_at(const struct Header *header, const struct Row *row, struct Argument *arguments)
{
    const uint32_t *apart = numbers_of(header, row->apart), *memory = numbers_of(header, row->memory);
    for (uint32_t i = 0; i < 2 * row->apart_count; i++)
        arguments[apart[i]].is_looked_at = 1;
    for (uint32_t i = 0; row->objects_below && i < row->memory_count; i++)
        arguments[memory[i]].is_looked_at = 1;
}

static void keep_kernel(cl_kernel handle, const struct Kernel *kernel)
{
    lock();
    kernel->of->users++;
    made(handle, KERNEL)->kernel = *kernel;
    unlock();
    __atomic_fetch_add(&here.kernels, 1, __ATOMIC_RELAXED);
}

/* Make the variants of a kernel that is remembered; of those that can't be made there are no rows. */
static void add_variants(cl_kernel handle, struct Variants *variants, const char *name)
{
    const struct Unit *unit = variants->unit;
    const struct Header *header = unit->header;
    struct Kernel kernel = {.header = header, .of = variants, .device = variants->device};
    kernel.is_shared = variants->is_shared;
    kernel.argument_count = kernel.unset_count = argument_count_of(handle);
    if (kernel.argument_count > MOST_ARGUMENTS)
        return;
    kernel.choices = calloc(header->row_count + 1, sizeof *kernel.choices);
    kernel.variants = calloc(header->row_count + 1, sizeof *kernel.variants);
    kernel.arguments = calloc(kernel.argument_count + 1, sizeof *kernel.arguments);
    for (uint32_t i = 0; kernel.choices && kernel.variants && kernel.arguments && i < header->row_count; i++) {
        const struct Row *row = &rows_of(header)[i];
        if (row->argument_count != kernel.argument_count || strcmp(text_of(header, row->kernel), name))
            continue;
        uint32_t variant = variant_of(&kernel, variants, row, name);
        if (!kernel.not_taken && unit->counts)
            kernel.not_taken = &unit->counts[header->row_count + i];
        if (kernel.variants[variant].is_off ||
            kernel.variants[variant].argument_count != row->argument_count + row->added_count)
            continue;
        note_looked_at(header, row, kernel.arguments);
        kernel.choices[kernel.choice_count++] =
            (struct Choice){row, unit->counts ? &unit->counts[i] : NULL, variant};
    }
    if (kernel.choice_count) {
        keep_kernel(handle, &kernel);
        return;
    }
    release_kernels(kernel.variants, kernel.variant_count);
    free_kernel(&kernel);
}

static const char *name_of(const struct Kernel *kernel)
{
    return text_of(kernel->header, kernel->choices->row->kernel);
}

/* Give a kernel what an earlier one of its name had, all arguments unset. Returns 0 where there is none. */
static int is_reused(cl_kernel handle, struct Variants *variants, const char *name)
{
    lock();
    struct Spare **place = &variants->spares, *spare;
    while ((spare = *place) && strcmp(name_of(&spare->kernel), name))
        place = &spare->after;
    if (spare)
        *place = spare->after;
    unlock();
    if (!spare)
        return 0;
    spare->kernel.unset_count = spare->kernel.argument_count;
    for (uint32_t i = 0; i < spare->kernel.argument_count; i++)
        spare->kernel.arguments[i].is_set = 0;
    keep_kernel(handle, &spare->kernel);
    free(spare);
    return 1;
}

/* Keep what a kernel had that is released, but no memory, and not of many with one name: nobody takes those of clones. */
static void give_back(struct Kernel *kernel)
{
    __atomic_fetch_sub(&here.kernels, 1, __ATOMIC_RELAXED);
    const struct Row *row = kernel->choices->row;
    struct Variants *variants = kernel->of;
    int is_whole = !kernel->points_elsewhere;
    for (uint32_t i = 0; i < kernel->variant_count; i++) {
        is_whole &= !kernel->variants[i].is_off;
        for (uint32_t j = 0; is_whole && j < row->memory_count; j++)
            NEXT(clSetKernelArg)(kernel->variants[i].kernel, numbers_of(kernel->header, row->memory)[j], sizeof(cl_mem), NULL);
    }
    struct Spare *spare = is_whole ? malloc(sizeof *spare) : NULL;
    int count = 0;
    lock();
    for (struct Spare *each = variants->spares; spare && each; each = each->after)
        count += !strcmp(name_of(&each->kernel), name_of(kernel));
    if (spare && count < MOST_SPARES) {
        *spare = (struct Spare){variants->spares, *kernel};
        variants->spares = spare;
        *kernel = (struct Kernel){0};
        spare = NULL;
    }
    unlock();
    free(spare);
    release_kernels(kernel->variants, kernel->variant_count);
    release_variants(variants);
}

static void add_kernel(cl_kernel kernel, cl_program program, const char *name)
{
    /* A driver's callback must not wait for builds. */
    if (callbacks)
        return;
    uint64_t start = here.counts ? now() : 0;
    struct Variants *variants = variants_of(program);
    if (variants && variants->unit && !is_reused(kernel, variants, name))
        add_variants(kernel, variants, name);
    release_variants(variants);
    if (here.counts)
        __atomic_fetch_add(&here.counts->launches, now() - start, __ATOMIC_RELAXED);
}

/* What is known of a kernel that has variants; NULL for any other. It stays while the program may use the kernel. */
static struct Kernel *known_kernel(cl_kernel handle)
{
    if (!__atomic_load_n(&here.kernels, __ATOMIC_RELAXED) || !IS_ON)
        return NULL;
    lock();
    struct Object *object = found(handle, KERNEL);
    unlock();
    return object ? &object->kernel : NULL;
}

/* A copy of so many bytes; NULL where there is no memory. */
static void *clone_of(const void *data, size_t count, size_t size)
{
    void *copy = malloc(count * size + 1);
    return copy ? memcpy(copy, data, count * size) : NULL;
}

cl_kernel clCloneKernel(cl_kernel handle, cl_int *error)
{
    cl_kernel clone = NEXT(clCloneKernel)(handle, error);
    struct Kernel *of = clone ? known_kernel(handle) : NULL;
    if (!of)
        return clone;
    struct Kernel kernel = *of;
    kernel.is_busy = 0;
    kernel.choices = clone_of(of->choices, of->choice_count, sizeof *of->choices);
    kernel.variants = clone_of(of->variants, of->variant_count, sizeof *of->variants);
    kernel.arguments = clone_of(of->arguments, of->argument_count, sizeof *of->arguments);
    if (!kernel.choices || !kernel.variants || !kernel.arguments) {
        free_kernel(&kernel);
        return clone;
    }
    for (uint32_t i = 0; i < kernel.variant_count; i++) {
        struct Variant *variant = &kernel.variants[i];
        variant->kernel = variant->is_off ? NULL : NEXT(clCloneKernel)(variant->kernel, NULL);
        variant->is_off = !variant->kernel;
    }
    keep_kernel(clone, &kernel);
    return clone;
}

/* --- Arguments. --- */

cl_int clReleaseMemObject(cl_mem memory)
{
    __atomic_fetch_add(&here.releases, 1, __ATOMIC_RELEASE);
    return NEXT(clReleaseMemObject)(memory);
}

/* Whether a buffer was made with properties, as those of memory from outside are; before OpenCL 3.0 there are none. */
static int has_properties(cl_mem memory)
{
    size_t size = 0;
    return !NEXT(clGetMemObjectInfo)(memory, CL_MEM_PROPERTIES, 0, NULL, &size) && size > sizeof(cl_ulong);
}

/* Note what is known of the memory that an argument leads to, where some row asks, or the size of local memory. */
static void note_argument(struct Kernel *kernel, cl_uint index, size_t size, const void *value)
{
    if (index >= kernel->argument_count)
        return;
    struct Argument *argument = &kernel->arguments[index];
    cl_mem memory = NULL, whole = NULL;
    size_t releases = __atomic_load_n(&here.releases, __ATOMIC_ACQUIRE);
    if (value && size == sizeof memory)
        memcpy(&memory, value, sizeof memory);
    kernel->unset_count -= !argument->is_set;
    argument->is_set = 1;
    if (memory && argument->memory == memory && argument->releases == releases)
        return;
    *argument = (struct Argument){UNKNOWN, 1, argument->is_looked_at, value ? 0 : size, NULL, NULL, 0};
    if (!argument->is_looked_at || (value && size != sizeof memory))
        return;
    if (!memory) {
        argument->knowledge = NULL_POINTER;
        return;
    }
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0, of_whole = 0;
    size_t whole_size = 0;
    if (NEXT(clGetMemObjectInfo)(memory, CL_MEM_TYPE, sizeof type, &type, NULL) ||
        NEXT(clGetMemObjectInfo)(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL) ||
        NEXT(clGetMemObjectInfo)(memory, CL_MEM_SIZE, sizeof size, &size, NULL) ||
        NEXT(clGetMemObjectInfo)(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL))
        return;
    if (whole && (NEXT(clGetMemObjectInfo)(whole, CL_MEM_FLAGS, sizeof of_whole, &of_whole, NULL) ||
                  NEXT(clGetMemObjectInfo)(whole, CL_MEM_SIZE, sizeof whole_size, &whole_size, NULL)))
        return;
    int is_plain = type == CL_MEM_OBJECT_BUFFER && !((flags | of_whole) & CL_MEM_USE_HOST_PTR) && !kernel->is_shared &&
                   !has_properties(memory) && !(whole && has_properties(whole));
    argument->knowledge = is_plain ? PLACE : SIZE;
    argument->size = size > whole_size ? size : whole_size;
    argument->whole = whole ? whole : memory;
    argument->memory = memory;
    argument->releases = releases;
}

/* Do to each variant what was done to the kernel. */
#define EACH_VARIANT(kernel, set)                                                                                    \
    for (uint32_t i = 0; i < (kernel)->variant_count; i++) {                                                         \
        cl_kernel variant = (kernel)->variants[i].kernel;                                                            \
        (kernel)->variants[i].is_off |= (kernel)->variants[i].is_off || (set);                                       \
    }

cl_int clSetKernelArg(cl_kernel handle, cl_uint index, size_t size, const void *value)
{
    cl_int status = NEXT(clSetKernelArg)(handle, index, size, value);
    struct Kernel *kernel = status ? NULL : known_kernel(handle);
    if (kernel) {
        EACH_VARIANT(kernel, NEXT(clSetKernelArg)(variant, index, size, value) != CL_SUCCESS)
        note_argument(kernel, index, size, value);
    }
    return status;
}

cl_int clSetKernelArgSVMPointer(cl_kernel handle, cl_uint index, const void *pointer)
{
    cl_int status = NEXT(clSetKernelArgSVMPointer)(handle, index, pointer);
    struct Kernel *kernel = status ? NULL : known_kernel(handle);
    if (kernel) {
        EACH_VARIANT(kernel, NEXT(clSetKernelArgSVMPointer)(variant, index, pointer) != CL_SUCCESS)
        note_argument(kernel, index, 0, pointer);
    }
    return status;
}

cl_int clSetKernelExecInfo(cl_kernel handle, cl_kernel_exec_info name, size_t size, const void *value)
{
    cl_int status = NEXT(clSetKernelExecInfo)(handle, name, size, value);
    struct Kernel *kernel = status ? NULL : known_kernel(handle);
    if (kernel) {
        EACH_VARIANT(kernel, NEXT(clSetKernelExecInfo)(variant, name, size, value) != CL_SUCCESS)
        kernel->points_elsewhere = 1;
    }
    return status;
}

/* --- Launches. --- */

/* Whether what a row says of the memory that is passed surely holds. */
static int holds(const struct Kernel *kernel, const struct Row *row)
{
    if (kernel->points_elsewhere && (row->apart_count || row->objects_below))
        return 0;
    const uint32_t *apart = numbers_of(kernel->header, row->apart), *memory = numbers_of(kernel->header, row->memory);
    for (uint32_t i = 0; i < row->apart_count; i++) {
        const struct Argument *one = &kernel->arguments[apart[2 * i]], *other = &kernel->arguments[apart[2 * i + 1]];
        int is_null = one->knowledge == NULL_POINTER || other->knowledge == NULL_POINTER;
        if (one->knowledge == UNKNOWN || other->knowledge == UNKNOWN ||
            (!is_null && (one->knowledge != PLACE || other->knowledge != PLACE || one->whole == other->whole)))
            return 0;
    }
    for (uint32_t i = 0; row->objects_below && i < row->memory_count; i++) {
        const struct Argument *argument = &kernel->arguments[memory[i]];
        if (argument->knowledge == UNKNOWN || argument->size >= row->objects_below)
            return 0;
    }
    return 1;
}

struct Launch {
    cl_command_queue queue;
    cl_uint dimensions;
    const size_t *offset, *global, *local;
    cl_uint event_count;
    const cl_event *events;
    cl_event *event;
};

/* Set what a row adds to the kernel's own arguments. Returns 0 where that fails. */
static int set_added(const struct Kernel *kernel, const struct Row *row, cl_kernel variant, const struct Launch *launch)
{
    const uint32_t *added = numbers_of(kernel->header, row->added);
    cl_int status = CL_SUCCESS;
    for (uint32_t i = 0; !status && i < row->added_count; i++, added += 2) {
        cl_uint index = row->argument_count + i;
        cl_ulong size = added[0] == GLOBAL_SIZE && added[1] < launch->dimensions ? launch->global[added[1]] : 1;
        if (added[0] == GLOBAL_SIZE)
            status = NEXT(clSetKernelArg)(variant, index, sizeof size, &size);
        else
            status = NEXT(clSetKernelArg)(variant, index, kernel->arguments[added[1]].size, NULL);
    }
    return !status;
}

/* Launch a variant. Returns 0 where that can't be done. */
static int is_launched(struct Kernel *kernel, const struct Choice *choice, const size_t *global, const size_t *local,
                       const struct Launch *launch)
{
    struct Variant *variant = &kernel->variants[choice->variant];
    const struct Row *row = choice->row;
    /* A thread that sets other sizes meanwhile leaves them to this one. */
    if (row->added_count && __atomic_exchange_n(&kernel->is_busy, 1, __ATOMIC_ACQUIRE))
        return 0;
    int is_done = set_added(kernel, row, variant->kernel, launch) &&
                  !NEXT(clEnqueueNDRangeKernel)(launch->queue, variant->kernel, launch->dimensions, launch->offset, global,
                                                row->has_new_local ? local : NULL, launch->event_count, launch->events,
                                                launch->event);
    if (row->added_count)
        __atomic_store_n(&kernel->is_busy, 0, __ATOMIC_RELEASE);
    return is_done;
}

/* The first row that holds for a launch, and the sizes of its variant; NULL where none does. */
static const struct Choice *chosen(const struct Kernel *kernel, const struct Launch *launch, size_t *global, size_t *local)
{
    cl_device_id device = NULL;
    /* A variant may have an argument from before where this kernel has none. */
    for (uint32_t i = 0; !kernel->unset_count && i < kernel->choice_count; i++) {
        const struct Choice *choice = &kernel->choices[i];
        if (kernel->variants[choice->variant].is_off ||
            !coarsen_divided(choice->row, launch->dimensions, launch->offset, launch->global, launch->local, global, local) ||
            !holds(kernel, choice->row))
            continue;
        int is_here = !NEXT(clGetCommandQueueInfo)(launch->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) &&
                      device == kernel->device;
        return is_here ? choice : NULL;
    }
    return NULL;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel handle, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint event_count, const cl_event *events,
                              cl_event *event)
{
    struct Kernel *kernel = known_kernel(handle);
    struct Variant *failed = NULL;
    if (kernel) {
        const struct Launch launch = {queue, dimensions, offset, global, local, event_count, events, event};
        size_t new_global[DIMENSIONS], new_local[DIMENSIONS];
        const struct Choice *choice = chosen(kernel, &launch, new_global, new_local);
        if (choice && is_launched(kernel, choice, new_global, new_local, &launch)) {
            count_launch(choice->count);
            return CL_SUCCESS;
        }
        failed = choice && !choice->row->added_count ? &kernel->variants[choice->variant] : NULL;
        count_launch(kernel->not_taken);
    }
    cl_int status =
        NEXT(clEnqueueNDRangeKernel)(queue, handle, dimensions, offset, global, local, event_count, events, event);
    if (failed && !status)
        failed->is_off = 1; /* It can't be launched where the program's own can. */
    return status;
}

/* What sets arguments beside the functions above is not seen: nothing is substituted any more. */
static void *extension(const char *name, void *function);

void *clGetExtensionFunctionAddress(const char *name)
{
    return extension(name, NEXT(clGetExtensionFunctionAddress)(name));
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    return extension(name, NEXT(clGetExtensionFunctionAddressForPlatform)(platform, name));
}

/* --- The table. --- */

static const struct Replaced replaced[] = {
    REPLACED(clCreateProgramWithSource), REPLACED(clCreateProgramWithBinary), REPLACED(clRetainProgram),
    REPLACED(clReleaseProgram), REPLACED(clBuildProgram), REPLACED(clCompileProgram), REPLACED(clLinkProgram),
    REPLACED(clCreateKernel), REPLACED(clCreateKernelsInProgram), REPLACED(clCloneKernel), REPLACED(clRetainKernel),
    REPLACED(clReleaseKernel), REPLACED(clSetKernelArg), REPLACED(clSetKernelArgSVMPointer),
    REPLACED(clSetKernelExecInfo), REPLACED(clReleaseMemObject), REPLACED(clEnqueueNDRangeKernel),
    REPLACED(clSetEventCallback), REPLACED(clCreateContext), REPLACED(clCreateContextFromType),
    REPLACED(clRetainContext), REPLACED(clReleaseContext),
    REPLACED(clGetExtensionFunctionAddress), REPLACED(clGetExtensionFunctionAddressForPlatform),
};

static void *extension(const char *name, void *function)
{
    int is_unseen = function && IS_ON && (!strncmp(name, "clSetKernelArg", strlen("clSetKernelArg")) ||
                                          !strncmp(name, "clImportMemory", strlen("clImportMemory")));
    for (size_t i = 0; function && IS_ON && i < LENGTH(replaced); i++)
        is_unseen |= !strcmp(name, replaced[i].name);
    if (is_unseen)
        *is_on = 0;
    return function;
}

static void add_functions(void **own, size_t known)
{
    put_functions(own, known, replaced, LENGTH(replaced));
}

static void start(void)
{
    const char *shelf = getenv("COARSEN_SHELF"), *counts = getenv("COARSEN_COUNTS");
    char path[4096];
    if (!shelf || !(here.shelf = copied_text(shelf)))
        return;
    if (counts && snprintf(path, sizeof path, "%s-%d", counts, getpid()) < (int)sizeof path)
        here.counts = mapped(path, MOST_COUNTS * sizeof *here.counts);
    here.count = 1;
    turn_on();
}
