/*
 * Elements of a table in the order of indices.
 *
 * Origin: written for this suite.
 * IMPL 0: a work-item has EACH indices that stand a work-group apart.
 * IMPL 1: a work-item has EACH indices side by side.
 * IMPL 2: as 0, but the group's indices are read into local memory first, and each work-item then has EACH side by
 *         side; the results go through local memory as well.
 * Threads: 1-D, guarded. Local memory: EACH ints for each work-item (IMPL 2).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef EACH
#define EACH 1
#endif

kernel void gather(global const float *table, global const int *indices, uint n, global float *output,
                   local int *staged)
{
    uint item = get_local_id(0);
    uint items = get_local_size(0);
    uint first = get_group_id(0) * items * EACH;
#if IMPL == 2
    for (uint turn = 0; turn < EACH; ++turn)
        if (first + turn * items + item < n)
            staged[turn * items + item] = indices[first + turn * items + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint turn = 0; turn < EACH; ++turn) {
        uint place = item * EACH + turn;
        if (first + place < n)
            staged[place] = as_int(table[staged[place]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint turn = 0; turn < EACH; ++turn)
        if (first + turn * items + item < n)
            output[first + turn * items + item] = as_float(staged[turn * items + item]);
#else
    for (uint turn = 0; turn < EACH; ++turn) {
        uint place = first + (IMPL == 0 ? turn * items + item : item * EACH + turn);
        if (place < n)
            output[place] = table[indices[place]];
    }
#endif
}
