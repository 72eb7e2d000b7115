// Conditions that look different for each work-item and are the same for a group: its barriers depend on them.
kernel void barrier_group_uniform(global int *data, local int *tile) {
    const int item = get_local_id(0);
    const int items = get_local_size(0);
    const int group = get_global_id(0) / items;
    tile[item] = data[get_global_id(0)];
    if (group % 2 == 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        data[get_global_id(0)] = tile[items - 1 - item] + group;
    }
    for (int step = item; step < 3 * items + item; step += items) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int next = tile[(item + step) % items];
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[item] = next + step;
    }
    data[get_global_id(0)] += tile[item];
}
