// A demanded work-group size, static local memory of two dimensions.
kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void required_size(global const float *data, global float *result) {
    local float tile[4][17];
    const int x = get_local_id(0), y = get_local_id(1);
    const int index = get_global_id(1) * get_global_size(0) + get_global_id(0);
    tile[y][x] = data[index];
    barrier(CLK_LOCAL_MEM_FENCE);
    result[index] = tile[3 - y][15 - x] + tile[y][x] * 0.5f;
}
