/* What makes a library a layer: the loader asks for its version, hands over the functions below, and takes its own.
 *
 *     a layer defines before    LAYER_NAME
 *     and after                 start, add_functions
 */

static void *next[256];

#define NEXT(function) ((__typeof__(&function))next[PLACE_##function])

/* Begin, by `turn_on`, where the environment says so. */
static void start(void);
/* Put own functions into a table of so many places. */
static void add_functions(void **own, size_t known);

struct Replaced {
    unsigned place;
    void *function;
    const char *name;
};

#define REPLACED(name) {PLACE_##name, (void *)name, #name}

static void put_functions(void **own, size_t known, const struct Replaced *replaced, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (replaced[i].place < known)
            own[replaced[i].place] = replaced[i].function;
}

static cl_int answer(const void *data, size_t data_size, size_t size, void *value, size_t *size_ret)
{
    if (value && size < data_size)
        return CL_INVALID_VALUE;
    if (value && data_size)
        memcpy(value, data, data_size);
    if (size_ret)
        *size_ret = data_size;
    return CL_SUCCESS;
}

static int is_initialised;

/* Loaders of OpenCL 3.0's first years take layers of version 1.0 alone, later ones of 2.0 alone, which has no more than
 * `clDeinitLayer`. Each asks once; so the library is listed twice, and answers each in turn, until one has taken it. */
__attribute__((visibility("default"))) cl_int clGetLayerInfo(cl_layer_info name, size_t size, void *value,
                                                             size_t *size_ret)
{
    static const char own_name[] = LAYER_NAME;
    static unsigned asked;
    if (name == CL_LAYER_API_VERSION && !is_initialised) {
        const cl_uint version = asked % 2 ? CL_LAYER_API_VERSION_200 : CL_LAYER_API_VERSION_100;
        asked += value != NULL;
        return answer(&version, sizeof version, size, value, size_ret);
    }
    return name == CL_LAYER_NAME ? answer(own_name, sizeof own_name, size, value, size_ret) : CL_INVALID_VALUE;
}

__attribute__((visibility("default"))) cl_int clInitLayer(cl_uint count, const cl_icd_dispatch *target,
                                                          cl_uint *count_ret, const cl_icd_dispatch **table)
{
    static void *own[LENGTH(next)];
    if (is_initialised)
        return CL_INVALID_VALUE;
    is_initialised = 1;
    size_t known = count < LENGTH(next) ? count : LENGTH(next);
    memcpy(next, target, known * sizeof *next);
    memcpy(own, target, known * sizeof *own);
    /* A loader of OpenCL 2.1 at least. */
    if (next[PLACE_clCloneKernel])
        start();
    if (IS_ON)
        add_functions(own, known);
    *count_ret = known;
    *table = (const cl_icd_dispatch *)own;
    return CL_SUCCESS;
}

__attribute__((visibility("default"))) cl_int clDeinitLayer(void)
{
    return CL_SUCCESS;
}
