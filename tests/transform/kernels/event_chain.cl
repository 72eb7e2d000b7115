// Copies chained by one event, which starts as none and is an argument of a function.
event_t fetch(local int *to, global const int *from, int items, event_t before) {
    return async_work_group_copy(to, from, items, before);
}

kernel void event_chain(global const int *data, global int *result, local int *tile) {
    const int items = get_local_size(0);
    event_t copied = 0;
    for (int part = 0; part < 3; part++)
        copied = fetch(tile + part * items, data + (get_group_id(0) * 3 + part) * items, items, copied);
    wait_group_events(1, &copied);
    int sum = 0;
    for (int part = 0; part < 3; part++)
        sum = sum * 3 + tile[part * items + items - 1 - get_local_id(0)];
    result[get_global_id(0)] = sum;
}
