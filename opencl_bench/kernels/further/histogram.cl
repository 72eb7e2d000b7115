/*
 * A histogram of bytes: each work-group counts in local memory, and adds its counts to those of all.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 1-D; each work-item counts values that are as far apart as there are work-items. Atomic additions to
 * addresses that data decide, between two barriers.
 */
#define BINS 256

kernel void histogram(global const uchar *values, global uint *counts, uint value_count)
{
    local uint own_counts[BINS];
    uint lane = get_local_id(0);
    for (uint bin = lane; bin < BINS; bin += get_local_size(0))
        own_counts[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint index = get_global_id(0); index < value_count; index += get_global_size(0))
        atomic_inc(&own_counts[values[index]]);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint bin = lane; bin < BINS; bin += get_local_size(0))
        atomic_add(&counts[bin], own_counts[bin]);
}
