// Barriers under a test of the group, beside tests of the work-item that are no part of it.
kernel void group_guarded(
    global const int *data, global int *result, const int groups, const int limit, local int *tile) {
    const int item = get_local_id(0), items = get_local_size(0);
    const int own = get_global_id(0);
    if (get_group_id(0) < groups) {
        int value = 0;
        tile[item] = data[own];
        if (own < limit)
            value = data[own] * 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        value += tile[items - 1 - item];
        if (own % 3 == 1)
            value -= 5;
        else if (item > 1)
            value += tile[0];
        if (get_group_id(0) % 2 == 0) {
            barrier(CLK_LOCAL_MEM_FENCE);
            tile[item] = value;
            barrier(CLK_LOCAL_MEM_FENCE);
            value += tile[(item + 1) % items] + own;
        }
        result[own] = value;
    }
}
