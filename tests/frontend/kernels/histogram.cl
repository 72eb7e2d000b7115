// Histogram of 8-bit values: one private histogram per work-group in local memory, merged by global atomics.
#define BINS 256

kernel void histogram(global const uchar *values, global uint *counts, uint size) {
    local uint group_counts[BINS];
    const uint item = get_local_id(0);
    for (uint bin = item; bin < BINS; bin += get_local_size(0)) {
        group_counts[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < size; i += get_global_size(0)) {
        atomic_inc(&group_counts[values[i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < BINS; bin += get_local_size(0)) {
        if (group_counts[bin] != 0) {
            atomic_add(&counts[bin], group_counts[bin]);
        }
    }
}
