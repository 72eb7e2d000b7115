// The group that comes last, whichever it is, adds up what all have left.
kernel void group_last_one(
    global const int *data, volatile global int *sums, volatile global int *finished, global int *total) {
    local int sum, is_last;
    const int item = get_local_id(0);
    if (item == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, data[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        sums[get_group_id(0)] = sum;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        is_last = atomic_inc(finished) == (int)get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_last && item == 0) {
        int all = 0;
        for (int group = 0; group < (int)get_num_groups(0); group++)
            all += sums[group];
        *total = all;
    }
}
