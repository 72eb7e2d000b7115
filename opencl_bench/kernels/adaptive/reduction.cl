/*
 * The sum of whole numbers, which wraps around.
 *
 * Origin: the task of reduction in G-ADAPT (Liu, Zhang, Shen, 2009) and of NVIDIA's SDK, oclReduction; written anew.
 * A work-group takes EACH elements for each of its work-items, neighbours side by side, and adds up in local memory.
 * IMPL 0: the sums of the groups are added by reduction_finish, in one work-group.
 * IMPL 1: each group adds its sum to the result, which reduction_zero has cleared, by an atomic operation.
 * Threads: 1-D, guarded; the local size is a power of two. Local memory: an int per work-item.
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef EACH
#define EACH 8
#endif

void add_in_group(local int *sums, int own)
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

kernel void reduction(global const int *elements, uint n, global int *result, global int *parts, local int *sums)
{
    uint first = get_group_id(0) * get_local_size(0) * EACH + get_local_id(0);
    int own = 0;
    for (uint turn = 0; turn < EACH; ++turn) {
        uint place = first + turn * get_local_size(0);
        if (place < n)
            own += elements[place];
    }
    add_in_group(sums, own);
    if (get_local_id(0) == 0) {
#if IMPL == 0
        parts[get_group_id(0)] = sums[0];
#else
        atomic_add(result, sums[0]);
#endif
    }
}

/* Threads: 1-D, one work-group. */
kernel void reduction_finish(global const int *parts, uint count, global int *result, local int *sums)
{
    int own = 0;
    for (uint place = get_local_id(0); place < count; place += get_local_size(0))
        own += parts[place];
    add_in_group(sums, own);
    if (get_local_id(0) == 0)
        result[0] = sums[0];
}

/* Threads: one work-item. */
kernel void reduction_zero(global int *result)
{
    result[0] = 0;
}
