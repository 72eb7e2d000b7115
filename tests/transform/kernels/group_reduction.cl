// A tree of sums in local memory, each step behind a barrier, and a second round of it under a test of the group.
kernel void group_reduction(global const int *data, global int *result, const int groups) {
    local int sums[4];
    const uint item = get_local_id(0);
    sums[item] = data[get_global_id(0)];
    for (uint half_size = 2; half_size; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            sums[item] += sums[item + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) < groups) {
        const int sum = sums[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] = sum * (item + 1);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    result[get_global_id(0)] = sums[3 - item];
}
