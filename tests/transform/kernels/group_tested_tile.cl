// A loop that goes on for as long as what the group has put into local memory says so.
kernel void group_tested_tile(global const int *data, global int *result, local int *tile) {
    const int id = get_global_id(0);
    const int item = get_local_id(0);
    int sum = data[id];
    int i = 0;
    tile[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    while (tile[0] % 7 != 3 && i < 9) {
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = sum * 3 + tile[item];
        if (id < 43) sum ^= 5;
        tile[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        ++i;
    }
    result[id] = sum + i;
}
