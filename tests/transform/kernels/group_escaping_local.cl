// Pointers to local memory that are kept in private memory and found again by an index.
kernel void group_escaping_local(global const int *data, global int *result, local int *tile) {
    local int other[4];
    const int item = get_local_id(0), items = get_local_size(0);
    local int *kept[2];
    kept[0] = tile;
    kept[1] = other;
    const int which = data[get_global_id(0)] & 1;
    kept[which][item] = data[get_global_id(0)];
    kept[1 - which][item] = item;
    barrier(CLK_LOCAL_MEM_FENCE);
    result[get_global_id(0)] = kept[item & 1][items - 1 - item] + kept[which][item];
}
