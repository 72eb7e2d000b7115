/*
 * How often each of `bins` keys comes.
 *
 * Origin: the task of NVIDIA's SDK, oclHistogram, which merges the histograms of work-groups; written anew.
 * IMPL 0: each work-group counts in local memory; histogram_merge adds up what the groups found.
 * IMPL 1: as 0, but the groups add their counts to the result, which histogram_zero has cleared.
 * IMPL 2: each work-item counts in the result, which histogram_zero has cleared.
 * COPIES: histograms of a work-group, of which neighbours use different ones (IMPL 0 and 1).
 * GROUPS: work-groups at most, which the launch alone depends on; work-items stride through the keys.
 * Threads: 1-D. Local memory: COPIES ints for each bin (IMPL 0 and 1).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef COPIES
#define COPIES 1
#endif
#ifndef GROUPS
#define GROUPS 240
#endif

kernel void histogram(global const int *keys, uint n, uint bins, global int *counts, global int *parts,
                      local int *copies)
{
#if IMPL == 2
    for (uint place = get_global_id(0); place < n; place += get_global_size(0))
        atomic_inc(counts + keys[place]);
#else
    uint item = get_local_id(0);
    for (uint place = item; place < bins * COPIES; place += get_local_size(0))
        copies[place] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *own = copies + item % COPIES * bins;
    for (uint place = get_global_id(0); place < n; place += get_global_size(0))
        atomic_inc(own + keys[place]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < bins; bin += get_local_size(0)) {
        int sum = 0;
        for (uint copy = 0; copy < COPIES; ++copy)
            sum += copies[copy * bins + bin];
#if IMPL == 0
        parts[get_group_id(0) * bins + bin] = sum;
#else
        if (sum > 0)
            atomic_add(counts + bin, sum);
#endif
    }
#endif
}

/* Threads: 1-D, a work-item per bin, guarded. */
kernel void histogram_merge(global const int *parts, uint groups, uint bins, global int *counts)
{
    uint bin = get_global_id(0);
    if (bin < bins) {
        int sum = 0;
        for (uint part = 0; part < groups; ++part)
            sum += parts[part * bins + bin];
        counts[bin] = sum;
    }
}

/* Threads: 1-D, a work-item per bin, guarded. */
kernel void histogram_zero(global int *counts, uint bins)
{
    if (get_global_id(0) < bins)
        counts[get_global_id(0)] = 0;
}
