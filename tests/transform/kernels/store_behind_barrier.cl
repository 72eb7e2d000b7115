// As tail_behind_barrier, without a loop of its own.
kernel void store_behind_barrier(global const int *data, global int *result, int count) {
    local int tile[48];
    int item = get_local_id(0), place = get_global_id(0);
    if ((int)(get_group_id(0) * get_local_size(0)) >= count)
        return;
    tile[item] = place < count ? data[place] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (place >= count)
        return;
    result[place] = tile[get_local_size(0) - 1 - item] + tile[item] * 3;
}
