// Two ways lead into a block: one that all groups take, and change local memory on, and one that some take.
kernel void group_counted_on_the_way(global const int *in, global int *out, int n, local int *tile) {
    const int x = get_global_id(0), item = get_local_id(0);
    tile[item] = in[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 3;
    if (n > 5 ? (tile[item] += in[1], true) : (in[get_group_id(0)] > 300)) {
        sum = in[x] + 5;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[x] = sum + tile[(item + 3) % get_local_size(0)];
}
