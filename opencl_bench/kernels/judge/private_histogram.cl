/*
 * Histograms of sixteen classes, one per work-item, for another kernel to add up.
 *
 * Kind: histograms; written for the second judge.
 * Threads: 1-D, a work-item takes several measured values, which stand as far apart as there are work-items; the
 * counters are private.
 */
#define CLASSES 16

kernel void private_histogram(global const float *values, global uint *counts, uint value_count, float lowest,
                              float per_class)
{
    uint item = get_global_id(0);
    uint items = get_global_size(0);
    uint own[CLASSES];
    for (uint k = 0; k < CLASSES; ++k)
        own[k] = 0;

    for (uint i = item; i < value_count; i += items) {
        int found = (int)((values[i] - lowest) * per_class);
        own[clamp(found, 0, CLASSES - 1)]++;
    }
    for (uint k = 0; k < CLASSES; ++k)
        counts[k * items + item] = own[k];
}
