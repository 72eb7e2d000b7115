// Copies by the whole group: one that is the same for all groups, one that is not, waited for together.
kernel void group_copies_mixed(global const int *data, global const int *table, global int *result) {
    local int same[4], tile[4];
    const int item = get_local_id(0), items = get_local_size(0);
    event_t copied[2];
    copied[0] = async_work_group_copy(same, table, 4, 0);
    copied[1] = async_work_group_copy(tile, data + get_group_id(0) * items, items, 0);
    wait_group_events(2, copied);
    int value = same[3 - item] * tile[items - 1 - item];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) % 3 == 1) {
        copied[0] = async_work_group_copy(tile, table, 4, 0);
        wait_group_events(1, copied);
        value += tile[item];
    }
    prefetch(data + get_group_id(0), 1);
    result[get_global_id(0)] = value;
}
