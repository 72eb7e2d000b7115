/*
 * Counts, for every axis, in which of 32 bins the bounds of primitives start and end: what the surface area
 * heuristic of a k-d tree is computed from.
 *
 * Kind: construction of k-d trees, after the benchmark KD-Tree of Weber et al. (PMBS 2015).
 * Threads: 1-D, one work-item for each primitive, guarded. LOCAL_COUNTERS: 1 counts in local memory first, 0 by atomic
 * operations on global memory alone.
 */
#ifndef LOCAL_COUNTERS
#define LOCAL_COUNTERS 1
#endif
#define BINS 32

typedef struct {
    float low_x, low_y, low_z;
    float high_x, high_y, high_z;
    uint primitive;
    uchar level;
} Bounds;

typedef struct {
    float low;
    float bins_per_unit;
} Axis;

typedef struct {
    uint starts;
    uint ends;
} Bin;

static uint bin_of(float place, float low, float bins_per_unit)
{
    return clamp((int)((place - low) * bins_per_unit), 0, BINS - 1);
}

kernel void kd_bin(global const Bounds *bounds, uint count, uint level, constant Axis *axes, global Bin *bins)
{
#if LOCAL_COUNTERS
    local Bin counters[3 * BINS];
    for (uint at = get_local_id(0); at < 3 * BINS; at += get_local_size(0)) {
        counters[at].starts = 0;
        counters[at].ends = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define COUNTED counters
#else
#define COUNTED bins
#endif

    uint item = get_global_id(0);
    if (item < count && bounds[item].level == level) {
        float low[3] = {bounds[item].low_x, bounds[item].low_y, bounds[item].low_z};
        float high[3] = {bounds[item].high_x, bounds[item].high_y, bounds[item].high_z};
        for (uint axis = 0; axis < 3; axis++) {
            float from = axes[axis].low, scale = axes[axis].bins_per_unit;
            atomic_inc(&COUNTED[axis * BINS + bin_of(low[axis], from, scale)].starts);
            atomic_inc(&COUNTED[axis * BINS + bin_of(high[axis], from, scale)].ends);
        }
    }

#if LOCAL_COUNTERS
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = get_local_id(0); at < 3 * BINS; at += get_local_size(0)) {
        if (counters[at].starts)
            atomic_add(&bins[at].starts, counters[at].starts);
        if (counters[at].ends)
            atomic_add(&bins[at].ends, counters[at].ends);
    }
#endif
}
