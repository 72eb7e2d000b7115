// An event that is one of two, or none, as conditions say.
kernel void event_choice(global const int *data, global int *result, local int *tile, int which) {
    const int items = get_local_size(0);
    const int item = get_local_id(0);
    tile[item + items * 2] = item;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t first = async_work_group_copy(tile, data + get_group_id(0) * items, items, 0);
    event_t second = async_work_group_copy(tile + items, data, items, 0);
    event_t awaited, other;
    if (which > 3) {
        awaited = first;
        other = second;
    } else {
        awaited = second;
        other = first;
    }
    wait_group_events(1, &awaited);
    wait_group_events(1, &other);
    event_t maybe = 0;
    if (which > 2)
        maybe = async_work_group_copy(tile + items * 2, data + items, items, 0);
    if (which > 5)
        maybe = async_work_group_copy(tile + items * 3, data, items, maybe);
    if (which > 2)
        wait_group_events(1, &maybe);
    result[get_global_id(0)] = tile[items - 1 - item] + tile[items + item] * 3 + tile[items * 2 + item] * 5;
}
