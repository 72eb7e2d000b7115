/*
 * Sum of uint4 elements, one partial sum per work-group.
 *
 * Origin: AMD APP SDK, Reduction; written anew.
 * Threads: 1-D, one work-item per two elements, no guard. The local size must be a power of two.
 * Local memory: one uint4 per work-item, halved in a loop with a barrier.
 */
kernel void reduce(global const uint4 *input, global uint4 *group_sums, local uint4 *partial_sums)
{
    uint item = get_local_id(0);
    uint first = 2 * get_global_id(0);
    partial_sums[item] = input[first] + input[first + 1];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint active = get_local_size(0) >> 1; active > 0; active >>= 1) {
        if (item < active)
            partial_sums[item] += partial_sums[item + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (item == 0)
        group_sums[get_group_id(0)] = partial_sums[0];
}
