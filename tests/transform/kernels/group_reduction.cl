// A tree of sums in local memory, each step after a barrier; the first work-item writes what comes out.
kernel void group_reduction(global const int *data, global int *result) {
    local int sums[4];
    const uint item = get_local_id(0);
    sums[item] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 2)
        sums[item] += sums[item + 2];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        result[get_group_id(0)] = sums[0] + sums[1];
}
