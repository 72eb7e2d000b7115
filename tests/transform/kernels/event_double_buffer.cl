// The next part of the data is copied while this one is worked on, by an array of events and by two of them in turn.
kernel void event_double_buffer(global const int *data, global int *result, local int *tile, int parts) {
    const int items = get_local_size(0);
    const int item = get_local_id(0);
    global const int *own = data + get_group_id(0) * items;
    event_t copied[2];
    copied[0] = async_work_group_copy(tile, own, items, 0);
    int sum = 0;
    for (int part = 0; part < parts; part++) {
        if (part + 1 < parts)
            copied[(part + 1) & 1] = async_work_group_copy(tile + ((part + 1) & 1) * items, data + part, items, 0);
        wait_group_events(1, &copied[part & 1]);
        sum = sum * 3 + tile[(part & 1) * items + items - 1 - item];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    event_t now = async_work_group_copy(tile, own, items, 0);
    event_t next = now;
    for (int part = 0; part < parts; part++) {
        if (part + 1 < parts)
            next = async_work_group_copy(tile + ((part + 1) & 1) * items, data + part, items, 0);
        wait_group_events(1, &now);
        sum = sum * 5 + tile[(part & 1) * items + item];
        barrier(CLK_LOCAL_MEM_FENCE);
        now = next;
    }
    result[get_global_id(0)] = sum;
}
