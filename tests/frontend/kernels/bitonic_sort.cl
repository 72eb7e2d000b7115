// Bitonic sort of one block of keys and values per work-group, in static local memory.
#ifndef BLOCK
#define BLOCK 64
#endif

kernel void bitonic_sort(global uint *keys, global uint *values) {
    local uint key[BLOCK];
    local uint value[BLOCK];
    const uint item = get_local_id(0);
    const uint start = get_group_id(0) * BLOCK;
    key[item] = keys[start + item];
    value[item] = values[start + item];
    for (uint size = 2; size <= BLOCK; size <<= 1) {
        for (uint distance = size >> 1; distance > 0; distance >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint partner = item ^ distance;
            if (partner > item) {
                const bool ascending = (item & size) == 0;
                if ((key[item] > key[partner]) == ascending) {
                    const uint kept_key = key[item], kept_value = value[item];
                    key[item] = key[partner];
                    value[item] = value[partner];
                    key[partner] = kept_key;
                    value[partner] = kept_value;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[start + item] = key[item];
    values[start + item] = value[item];
}
