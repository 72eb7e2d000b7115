// Whole groups leave, the others meet at a barrier, and then some of their work-items leave: with a loop after that.
kernel void tail_behind_barrier(global const int *data, global int *result, int count) {
    local int tile[48];
    int item = get_local_id(0), place = get_global_id(0);
    if ((int)(get_group_id(0) * get_local_size(0)) >= count)
        return;
    tile[item] = place < count ? data[place] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (place >= count)
        return;
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += tile[(item + i * 5) % get_local_size(0)] * (i + 1);
    result[place] = sum;
}
