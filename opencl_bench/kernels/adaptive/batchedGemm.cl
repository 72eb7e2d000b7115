/*
 * Products of many pairs of small n × n matrices, all row-major.
 *
 * Origin: written for this suite.
 * IMPL 0: a work-group for PACK products; of each product its share of the work-items take elements in turn. With
 *         STAGE 1 the matrices are copied into local memory first.
 * IMPL 1: a work-item for each product.
 * IMPL 2: a work-item for each element of all products.
 * Threads: 1-D, guarded. Local memory: two matrices for each of PACK products (IMPL 0, STAGE 1).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef PACK
#define PACK 1
#endif
#ifndef STAGE
#define STAGE 0
#endif

kernel void batchedGemm(global const float *left, global const float *right, uint batch, uint n,
                        global float *products, local float *staged)
{
    uint elements = n * n;
#if IMPL == 0
    uint items = get_local_size(0) / PACK;
    uint product = get_group_id(0) * PACK + get_local_id(0) / items;
    uint item = get_local_id(0) % items;
    uint end = product < batch ? elements : 0;
#if STAGE == 1
    local float *a = staged + get_local_id(0) / items * 2 * elements;
    local float *b = a + elements;
    for (uint element = item; element < end; element += items) {
        a[element] = left[product * elements + element];
        b[element] = right[product * elements + element];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    global const float *a = left + product * elements;
    global const float *b = right + product * elements;
#endif
    for (uint element = item; element < end; element += items) {
        float sum = 0.0f;
        for (uint k = 0; k < n; ++k)
            sum += a[element / n * n + k] * b[k * n + element % n];
        products[product * elements + element] = sum;
    }
#elif IMPL == 1
    uint product = get_global_id(0);
    if (product < batch) {
        global const float *a = left + product * elements;
        global const float *b = right + product * elements;
        for (uint row = 0; row < n; ++row)
            for (uint column = 0; column < n; ++column) {
                float sum = 0.0f;
                for (uint k = 0; k < n; ++k)
                    sum += a[row * n + k] * b[k * n + column];
                products[product * elements + row * n + column] = sum;
            }
    }
#else
    uint place = get_global_id(0);
    if (place < batch * elements) {
        uint start = place / elements * elements;
        uint element = place - start;
        float sum = 0.0f;
        for (uint k = 0; k < n; ++k)
            sum += left[start + element / n * n + k] * right[start + k * n + element % n];
        products[place] = sum;
    }
#endif
}
