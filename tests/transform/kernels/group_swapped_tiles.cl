// A loop with barriers whose number of turns is the group's own; two tiles change places in each.
kernel void group_swapped_tiles(global const int *data, global int *result, local int *tile) {
    const int id = get_global_id(0);
    const int item = get_local_id(0);
    local int other[4];
    local int *now = tile;
    local int *next = other;
    int sum = 0;
    for (int i = 0; i < data[get_group_id(0)] % 4 + 1; ++i) {
        now[item] = data[id] + i;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += now[item ^ 1];
        barrier(CLK_LOCAL_MEM_FENCE);
        local int *before = now;
        now = next;
        next = before;
    }
    result[id] = sum;
}
