// Barriers under a condition and in a loop that are the same for all.
kernel void barrier_uniform_control(global int *data, int rounds, int exchange, local int *tile) {
    const int item = get_local_id(0);
    const int items = get_local_size(0);
    tile[item] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (exchange) {
        int neighbour = tile[(item + 1) % items];
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[item] = neighbour;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int round = 0; round < rounds; ++round) {
        int other = tile[(item + (1 << round)) % items];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item & 1) {
            tile[item] += other * round;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[get_global_id(0)] = tile[item];
}
