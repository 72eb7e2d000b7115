// Copies by the whole work-group, with events.
kernel void group_copy(global const int *data, global int *result, local int *tile) {
    const int items = get_local_size(0);
    const int start = get_group_id(0) * items;
    event_t copied = async_work_group_copy(tile, data + start, items, 0);
    wait_group_events(1, &copied);
    const int item = get_local_id(0);
    const int value = tile[items - 1 - item];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[item] = value * 2 + item;
    barrier(CLK_LOCAL_MEM_FENCE);
    copied = async_work_group_copy(result + start, tile, items, 0);
    wait_group_events(1, &copied);
}
