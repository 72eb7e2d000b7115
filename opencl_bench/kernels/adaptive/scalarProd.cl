/*
 * Scalar products of pairs of vectors, all of one length.
 *
 * Origin: the task of scalarProd in G-ADAPT (Liu, Zhang, Shen, 2009) and of NVIDIA's SDK, scalarProd; written anew.
 * IMPL 0: a work-group for a pair, at most GROUPS of them, which take further pairs in turn (GROUPS 0: one for each).
 * IMPL 1: a work-item for a pair.
 * IMPL 2: a work-group for one of SPLIT parts of a pair; scalarProd_finish adds the parts.
 * UNROLL: rounds of the loop over elements that are written out (IMPL 0).
 * Threads: 1-D, guarded; the local size is a power of two. Local memory: a float per work-item (IMPL 0 and 2).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef GROUPS
#define GROUPS 128
#endif
#ifndef SPLIT
#define SPLIT 4
#endif
#ifndef UNROLL
#define UNROLL 1
#endif

void add_in_group(local float *sums, float own)
{
    uint item = get_local_id(0);
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (item < half_size)
            sums[item] += sums[item + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void scalarProd(global const float *left, global const float *right, uint pairs, uint elements,
                       global float *products, global float *parts, local float *sums)
{
    uint item = get_local_id(0);
#if IMPL == 0
    for (uint pair = get_group_id(0); pair < pairs; pair += get_num_groups(0)) {
        float own = 0.0f;
#pragma unroll UNROLL
        for (uint place = item; place < elements; place += get_local_size(0))
            own += left[pair * elements + place] * right[pair * elements + place];
        add_in_group(sums, own);
        if (item == 0)
            products[pair] = sums[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#elif IMPL == 1
    uint pair = get_global_id(0);
    if (pair < pairs) {
        float sum = 0.0f;
        for (uint place = 0; place < elements; ++place)
            sum += left[pair * elements + place] * right[pair * elements + place];
        products[pair] = sum;
    }
#else
    uint pair = get_group_id(0) / SPLIT;
    uint each = (elements + SPLIT - 1) / SPLIT;
    uint start = get_group_id(0) % SPLIT * each;
    uint end = min(elements, start + each);
    float own = 0.0f;
    for (uint place = start + item; place < end; place += get_local_size(0))
        own += left[pair * elements + place] * right[pair * elements + place];
    add_in_group(sums, own);
    if (item == 0)
        parts[get_group_id(0)] = sums[0];
#endif
}

/* Threads: 1-D, a work-item per pair, guarded. */
kernel void scalarProd_finish(global const float *parts, uint pairs, global float *products)
{
    uint pair = get_global_id(0);
    if (pair < pairs) {
        float sum = 0.0f;
        for (uint part = 0; part < SPLIT; ++part)
            sum += parts[pair * SPLIT + part];
        products[pair] = sum;
    }
}
