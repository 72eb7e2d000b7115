/* A file of the shelf: for one text of a program, its build options and a device, the variants of its kernels, and rows that
 * say which launches they are for. `shelf.py` writes it.
 *
 *     header, rows, then what these name by offsets from the file's start: texts, binaries, lists of 32-bit numbers
 *
 * It is little-endian, as the machines that this runs on. Nothing of a file is believed before `is_valid` has looked at it.
 */

enum { DIMENSIONS = 3, MOST_ROWS = 4096, MOST_ARGUMENTS = 1024, MOST_BYTES = 1 << 30 };

struct Header {
    char magic[8];
    uint64_t size, check; /* `check`: of the bytes after it */
    uint32_t source, source_size, options, device, row_count, unused;
};

struct Row {
    uint32_t kernel, build_options; /* texts */
    uint64_t binary, binary_size;
    uint32_t argument_count, dimensions, has_local, has_new_local, is_exact, unused;
    /* For each dimension: the global sizes that it is for, the largest power of two up to 2^15 that divides them (0: any),
     * and the local size. */
    uint64_t least[DIMENSIONS], most[DIMENSIONS], unit[DIMENSIONS], divisor[DIMENSIONS], local[DIMENSIONS];
    uint64_t factor[DIMENSIONS]; /* where it is exact, the new global size */
    uint64_t new_local[DIMENSIONS];
    uint64_t objects_below;                /* bytes; 0: memory of any size */
    uint32_t apart, apart_count;           /* pairs of arguments that must not lead to the same memory */
    uint32_t added, added_count;           /* pairs of a meaning and a number: arguments after the kernel's own */
    uint32_t memory, memory_count;         /* arguments that are memory objects */
    uint64_t saved;
};

enum Meaning { GLOBAL_SIZE, LIKE_LOCAL_MEMORY };

_Static_assert(sizeof(struct Header) == 48 && sizeof(struct Row) == 256, "as shelf.py writes them");

/* Whether a row is for a launch of these sizes; and the sizes that its variant is launched with. A test drives it beside
 * `coarsen.runtime`, which decides the same. */
__attribute__((visibility("default"))) int coarsen_divided(const struct Row *row, cl_uint dimensions, const size_t *offset,
                                                           const size_t *global, const size_t *local, size_t *new_global,
                                                           size_t *new_local)
{
    (void)offset; /* A coarsened kernel takes any. */
    if (dimensions != row->dimensions || !global || !local != !row->has_local)
        return 0;
    for (cl_uint i = 0; i < dimensions; i++) {
        uint64_t size = global[i], power = size & -size, factor = row->is_exact ? 1 : row->factor[i];
        if (size < row->least[i] || size > row->most[i] || !size || size % row->unit[i] || size % factor)
            return 0;
        if (row->divisor[i] && row->divisor[i] != (power < 1 << 15 ? power : 1 << 15))
            return 0;
        /* Work-groups that are not whole are left to the driver. */
        if (local && (local[i] != row->local[i] || !local[i] || size % local[i]))
            return 0;
        new_global[i] = row->is_exact ? row->factor[i] : size / factor;
        new_local[i] = row->new_local[i];
        if (row->has_new_local && (!new_local[i] || new_global[i] % new_local[i]))
            return 0;
    }
    return 1;
}

static uint64_t hash_of(uint64_t hash, const char *data, size_t size)
{
    for (; size; data++, size--)
        hash = (hash ^ (uint8_t)*data) * 0x100000001B3u;
    return hash;
}

#define HASH_START 0xCBF29CE484222325u

static const char *text_of(const struct Header *header, uint32_t offset)
{
    return (const char *)header + offset;
}

static const struct Row *rows_of(const struct Header *header)
{
    return (const struct Row *)(header + 1);
}

static const uint32_t *numbers_of(const struct Header *header, uint32_t offset)
{
    return (const uint32_t *)text_of(header, offset);
}

static int is_text(const struct Header *header, uint32_t offset)
{
    return offset < header->size && memchr(text_of(header, offset), 0, header->size - offset);
}

/* Whether `count` groups of numbers are inside of a file; in each group the last `checked` ones have to be below `most`. */
static int are_numbers(const struct Header *header, uint32_t offset, uint64_t count, int group, int checked, uint32_t most)
{
    if (!count)
        return 1;
    if (offset % sizeof(uint32_t) || count > MOST_ROWS || offset > header->size ||
        count * group * sizeof(uint32_t) > header->size - offset)
        return 0;
    for (uint64_t i = 0; i < count * group; i++)
        if ((int)(i % group) >= group - checked && numbers_of(header, offset)[i] >= most)
            return 0;
    return 1;
}

static int is_valid_row(const struct Header *header, const struct Row *row)
{
    int is_valid = is_text(header, row->kernel) && is_text(header, row->build_options) && row->binary_size &&
                   row->binary_size <= header->size && row->binary <= header->size - row->binary_size &&
                   row->argument_count <= MOST_ARGUMENTS && row->dimensions >= 1 && row->dimensions <= DIMENSIONS &&
                   are_numbers(header, row->apart, row->apart_count, 2, 2, row->argument_count) &&
                   are_numbers(header, row->added, row->added_count, 2, 0, 0) &&
                   are_numbers(header, row->memory, row->memory_count, 1, 1, row->argument_count);
    for (uint32_t i = 0; is_valid && i < row->dimensions; i++)
        is_valid = row->unit[i] && row->factor[i];
    for (uint32_t i = 0; is_valid && i < row->added_count; i++) {
        const uint32_t *added = numbers_of(header, row->added) + 2 * i;
        is_valid = added[0] == GLOBAL_SIZE ? added[1] < DIMENSIONS
                                           : added[0] == LIKE_LOCAL_MEMORY && added[1] < row->argument_count;
    }
    return is_valid;
}

static int is_valid(const struct Header *header, size_t size)
{
    const size_t checked = __builtin_offsetof(struct Header, source);
    if (size < sizeof *header || memcmp(header->magic, "coarsen1", sizeof header->magic) || header->size != size ||
        header->check != hash_of(HASH_START, text_of(header, checked), size - checked) || header->row_count > MOST_ROWS ||
        header->row_count * sizeof(struct Row) > size - sizeof *header || !is_text(header, header->options) ||
        !is_text(header, header->device) || header->source > size || header->source_size > size - header->source)
        return 0;
    for (uint32_t i = 0; i < header->row_count; i++)
        if (!is_valid_row(header, &rows_of(header)[i]))
            return 0;
    return 1;
}

/* The bytes of a file that nobody else can have written; NULL if there is none. They are read rather than mapped, since
 * a mapped file that is cut ends the process. */
static void *read_own(const char *path, size_t *size)
{
    struct statx state;
    int file = open(path, O_NONBLOCK | O_CLOEXEC);
    char *data = NULL;
    if (file >= 0 && !statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &state) && state.stx_uid == geteuid() &&
        S_ISREG(state.stx_mode) && !(state.stx_mode & (S_IWGRP | S_IWOTH)) && state.stx_size < MOST_BYTES)
        data = malloc(state.stx_size + 1);
    size_t done = 0;
    for (long now = 1; data && now > 0 && done < state.stx_size; done += now > 0 ? now : 0)
        now = read(file, data + done, state.stx_size - done);
    if (file >= 0)
        close(file);
    *size = done;
    return data;
}
