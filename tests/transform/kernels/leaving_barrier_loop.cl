// A guard and a loop by the local id between barriers, as in reductions with an odd number of elements.
kernel void leaving_barrier_loop(global const int *data, global int *result, local int *tile, int width) {
    const int item = get_local_id(0);
    const int items = get_local_size(0);
    for (int row = 0; row < 3; ++row) {
        int sum = 0;
        for (int i = item; i < width; i += items) sum += data[(i * (row + 1)) % 96];
        tile[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == row) {
            int total = 0;
            for (int i = 0; i < items; ++i) total += tile[i] * (i + 1);
            result[get_group_id(0) * 3 + row] = total;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
