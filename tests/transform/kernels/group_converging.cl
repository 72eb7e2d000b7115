// A loop that each group leaves when its own work has settled: which turn that is differs from group to group.
kernel void group_converging(global const int *data, global int *result, local int *tile) {
    local int changed;
    const int item = get_local_id(0), items = get_local_size(0);
    int turns = 0;
    tile[item] = data[get_global_id(0)];
    while (turns < 20) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int neighbour = tile[(item + 1) % items];
        if (item == 0)
            changed = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (neighbour > tile[item]) {
            tile[item] = neighbour;
            changed = 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!changed)
            break;
        turns++;
    }
    result[get_global_id(0)] = tile[item] * 100 + turns;
}
