/*
 * One step of a bitonic sort of integers.
 *
 * Kind: sorting networks; written for the second judge.
 * Threads: 1-D, one work-item per element; of two that are compared, the lower one does it. The host launches
 * log2(n) * (log2(n) + 1) / 2 steps.
 */
kernel void bitonic_step(global int *keys, uint distance, uint run)
{
    uint low = get_global_id(0);
    uint high = low ^ distance;
    if (high > low) {
        int first = keys[low];
        int second = keys[high];
        int ascending = (low & run) == 0;
        if ((first > second) == ascending) {
            keys[low] = second;
            keys[high] = first;
        }
    }
}
