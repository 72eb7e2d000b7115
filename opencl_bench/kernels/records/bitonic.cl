/*
 * A bitonic sort of records by four fields of 64, 16, 8 and 32 bits: 15 bytes of data in 16.
 *
 * Kind: sorting networks of records, after the benchmark BitonicSort of Weber et al. (PMBS 2015).
 * Threads: 1-D, one work-item for each pair. The number of records need not be a power of two: every comparison puts
 * the lesser record first, and those with a place beyond the end are left out. For that, the first step of a run
 * compares mirrored places.
 */
typedef struct {
    ulong key;
    uint number;
    ushort group;
    uchar flag;
} Record;

static int comes_after(const Record *first, const Record *second)
{
    if (first->key != second->key)
        return first->key > second->key;
    if (first->group != second->group)
        return first->group > second->group;
    if (first->flag != second->flag)
        return first->flag > second->flag;
    return first->number > second->number;
}

/* One step on all records: pairs that are `distance` apart, or, if mirrored, in runs of 2 * distance. */
kernel void bitonic_global(global Record *records, uint count, uint distance, uint mirrored)
{
    uint pair = get_global_id(0);
    uint low = 2 * pair - (pair & (distance - 1));
    uint high = mirrored ? low ^ (2 * distance - 1) : low + distance;
    if (high < count) {
        Record first = records[low], second = records[high];
        if (comes_after(&first, &second)) {
            records[low] = second;
            records[high] = first;
        }
    }
}

/* All steps of the runs from `first_run` to `last_run` that stay in a block of two records for each work-item. */
kernel void bitonic_local(global Record *records, uint count, uint first_run, uint last_run, local Record *tile)
{
    uint lane = get_local_id(0), lanes = get_local_size(0), block = 2 * lanes;
    uint start = get_group_id(0) * block;
    for (uint at = lane; at < block; at += lanes)
        if (start + at < count)
            tile[at] = records[start + at];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint run = first_run; run <= last_run; run *= 2) {
        for (uint distance = min(run, block) / 2; distance > 0; distance /= 2) {
            uint low = 2 * lane - (lane & (distance - 1));
            uint high = 2 * distance == run ? low ^ (run - 1) : low + distance;
            if (start + high < count) {
                Record first = tile[low], second = tile[high];
                if (comes_after(&first, &second)) {
                    tile[low] = second;
                    tile[high] = first;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }

    for (uint at = lane; at < block; at += lanes)
        if (start + at < count)
            records[start + at] = tile[at];
}
