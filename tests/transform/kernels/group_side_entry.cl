// A branch of the group's own that is entered from the side: what is copied for each group takes in the barrier.
kernel void group_side_entry(global const int *data, global int *result, const int limit, local int *tile) {
    const int item = get_local_id(0), items = get_local_size(0), own = get_global_id(0);
    int value = data[own];
    tile[item] = value;
    if (limit > 400)
        goto inside;
    barrier(CLK_LOCAL_MEM_FENCE);
    value += tile[items - 1 - item];
    if (data[own] > limit) {
    inside:
        value = value * 2 + item;
    }
    result[own] = value;
}
